/**
 * A JSON value that can be read: a line each, what has parts opens and closes. What is closed is not in the document, and
 * of many parts the first are shown, so a megabyte costs no more than what one looks at. Agents' text stays text.
 */
import { useState } from "react";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { asLine, countOf, partsOf, titleOf } from "./json";

const AT_ONCE = 50;
/** Parts are open to begin with where there are few of them and they hold few, and not far down. */
const FEW = 12;

interface Props {
  value: unknown;
  level?: number;
}

/** A value without a name, as in a difference. */
export function Value({ value, level = 0 }: Props) {
  const line = asLine(value);
  return line === null ? <Parts value={value} level={level} /> : <Line line={line} value={value} />;
}

function Line({ line, value }: { line: string; value: unknown }) {
  return (
    <bdi className="json-line" data-type={value === null ? "null" : typeof value}>
      {plainText(line)}
    </bdi>
  );
}

function Parts({ value, level = 0 }: Props) {
  const [shown, setShown] = useState(AT_ONCE);
  const parts = partsOf(value) ?? [];
  const more = parts.length - shown;
  return (
    <>
      <ul className="json">
        {parts.slice(0, shown).map(([name, part]) => (
          <Named key={name} name={name} value={part} isOpen={level === 0 && parts.length <= FEW} level={level} />
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

function Named({ name, value, isOpen, level }: { name: string; value: unknown; isOpen: boolean; level: number }) {
  const line = asLine(value);
  const title = titleOf(value);
  const [open, setOpen] = useState(() => isOpen && (partsOf(value)?.length ?? 0) <= FEW);
  if (line !== null)
    return (
      <li className="json-one">
        <bdi className="json-name">{plainText(name)}</bdi> <Line line={line} value={value} />
      </li>
    );
  return (
    <li>
      <button type="button" className="json-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name="chevron" size={12} />
        <bdi className="json-name">{plainText(name)}</bdi>
        {title !== null && <bdi className="json-title">{plainText(title)}</bdi>}
        <span className="count">{countOf(value)}</span>
      </button>
      {open && <Parts value={value} level={level + 1} />}
    </li>
  );
}
