/** A document as it was given, folded; laid out only when it is wanted, and no more of it than a window can bear. */
import { useState } from "react";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";

const MOST_SHOWN = 200_000;

export function Raw({ title, document, where }: { title: string; document: unknown; where: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="fold raw" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="chevron" size={12} />
        <h2>{title}</h2>
      </summary>
      {open && <RawText text={JSON.stringify(document, null, 2)} label={title} where={where} />}
    </details>
  );
}

function RawText({ text, label, where }: { text: string; label: string; where: string }) {
  return (
    <>
      <pre className="raw-text" tabIndex={0} role="region" aria-label={label} dir="ltr">
        {plainText(text.slice(0, MOST_SHOWN))}
      </pre>
      {text.length > MOST_SHOWN && (
        <p className="more">
          {(text.length - MOST_SHOWN).toLocaleString()} more characters are in the API: <code>{where}</code>
        </p>
      )}
    </>
  );
}
