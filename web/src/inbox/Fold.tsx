/** A part of the inbox that is out of the way until it is wanted. */
import type { ReactNode } from "react";
import { Icon } from "../ui/Icon";

interface Props {
  title: string;
  count: number;
  /** Why it matters although it is put away: it stands open then. */
  note?: string;
  children: ReactNode;
}

export function Fold({ title, count, note = "", children }: Props) {
  if (count === 0) return null;
  return (
    <details className="fold" open={note !== "" || undefined}>
      <summary>
        <Icon name="chevron" size={12} />
        <h2>{title}</h2>
        <span className="count">{count}</span>
        {note !== "" && <span className="fold-note">{note}</span>}
      </summary>
      <ul className="rows">{children}</ul>
    </details>
  );
}
