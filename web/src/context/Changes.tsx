/** What a revision changed, place by place: what it took away and what it brought. */
import { useMemo, useState } from "react";
import type { ContextChange } from "../api/types";
import { plainText } from "../ui/plain-text";
import { Value } from "./Value";
import { differenceOf } from "./json";

const AT_ONCE = 20;
const ITEMS_AT_MOST = 30;

const WORDS: Record<ContextChange["kind"], string> = {
  added: "added",
  removed: "removed",
  united: "items changed",
  merged: "merged",
  overwritten: "changed",
};

export function Changes({ changes, unlisted }: { changes: ContextChange[]; unlisted: number }) {
  const [shown, setShown] = useState(AT_ONCE);
  const more = changes.length - shown;
  return (
    <>
      <ul className="changes">
        {changes.slice(0, shown).map((change, index) => (
          <ChangeLine key={index} change={change} all={changes} />
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className="link-button" onClick={() => setShown(shown + 10 * AT_ONCE)}>
          Show {Math.min(more, 10 * AT_ONCE).toLocaleString()} more of {more.toLocaleString()}
        </button>
      )}
      {unlisted > 0 && <p className="card-hint">{unlisted.toLocaleString()} more changes are not listed</p>}
    </>
  );
}

function ChangeLine({ change, all }: { change: ContextChange; all: ContextChange[] }) {
  const { gone, come, ofItems } = useMemo(() => differenceOf(change, all), [change, all]);
  return (
    <li className="change" data-kind={change.kind}>
      <p className="change-place">
        <code>{plainText(change.pointer) || "/"}</code> <span className="change-kind">{WORDS[change.kind]}</span>
      </p>
      <Side values={gone} side="gone" words={ofItems ? "Item gone: " : "Before: "} />
      <Side values={come} side="come" words={ofItems ? "New item: " : "Now: "} />
      {gone.length + come.length === 0 && <p className="card-hint">Too long to be listed</p>}
    </li>
  );
}

function Side({ values, side, words }: { values: unknown[]; side: "gone" | "come"; words: string }) {
  const more = values.length - ITEMS_AT_MOST;
  return (
    <>
      {values.slice(0, ITEMS_AT_MOST).map((value, index) => (
        <div key={index} className="change-value" data-side={side}>
          <span className="visually-hidden">{words}</span>
          <Value value={value} level={1} />
        </div>
      ))}
      {more > 0 && <p className="card-hint">and {more.toLocaleString()} more items</p>}
    </>
  );
}
