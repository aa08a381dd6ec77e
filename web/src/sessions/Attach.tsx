/** The command with which a person looks at an agent in its terminal, to be copied. */
import { useRef, useState } from "react";
import { announce } from "../ui/announce";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

export function Attach({ command }: { command: string }) {
  const words = useRef<HTMLElement>(null);
  const [told, setTold] = useState("Copy");

  async function copy(): Promise<void> {
    const done = await copied(command);
    if (!done && words.current) getSelection()?.selectAllChildren(words.current);
    const next = done ? "Copied" : "Selected: press Ctrl C";
    setTold(next);
    announce(next);
  }

  return (
    <p className="attach">
      <code ref={words} dir="ltr">
        {plainText(command)}
      </code>
      <button type="button" className="quiet" title="Look at it in your terminal" onClick={() => void copy()}>
        <Icon name="copy" /> {told}
        <span className="visually-hidden"> the command that attaches to its terminal</span>
      </button>
    </p>
  );
}

/** A LAN address over http is no secure context, and has no clipboard. */
async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
