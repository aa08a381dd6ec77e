/** What a revision changed, place by place: what it took away and what it brought. */
import { useState } from "react";
import type { ContextChange } from "../api/types";
import { plainText } from "../ui/plain-text";
import { Value } from "./Value";
import { differenceOf } from "./json";

const AT_ONCE = 20;

const WORDS: Record<ContextChange["kind"], string> = {
  added: "added",
  removed: "removed",
  united: "items changed",
  merged: "merged",
  overwritten: "changed",
};

export function Changes({ changes }: { changes: ContextChange[] }) {
  const [shown, setShown] = useState(AT_ONCE);
  const more = changes.length - shown;
  return (
    <>
      <ul className="changes">
        {changes.slice(0, shown).map((change, index) => (
          <ChangeLine key={index} change={change} />
        ))}
      </ul>
      {more > 0 && (
        <button type="button" className="link-button" onClick={() => setShown(shown + 10 * AT_ONCE)}>
          Show {Math.min(more, 10 * AT_ONCE).toLocaleString()} more of {more.toLocaleString()}
        </button>
      )}
    </>
  );
}

function ChangeLine({ change }: { change: ContextChange }) {
  const { gone, come, ofItems } = differenceOf(change);
  return (
    <li className="change" data-kind={change.kind}>
      <p className="change-place">
        <code>{plainText(change.pointer) || "/"}</code> <span className="change-kind">{WORDS[change.kind]}</span>
      </p>
      {gone && (
        <div className="change-value" data-side="gone">
          <span className="visually-hidden">{ofItems ? "Items gone: " : "Before: "}</span>
          <Value value={gone.value} level={1} />
        </div>
      )}
      {come && (
        <div className="change-value" data-side="come">
          <span className="visually-hidden">{ofItems ? "New items: " : "Now: "}</span>
          <Value value={come.value} level={1} />
        </div>
      )}
    </li>
  );
}
