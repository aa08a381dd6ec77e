/** A part of the inbox that is out of the way until it is wanted. */
import type { ReactNode } from "react";
import { Icon } from "../ui/Icon";

export function Fold({ title, count, children }: { title: string; count: number; children: ReactNode }) {
  if (count === 0) return null;
  return (
    <details className="fold">
      <summary>
        <Icon name="chevron" size={12} />
        <h2>{title}</h2>
        <span className="count">{count}</span>
      </summary>
      <ul className="rows">{children}</ul>
    </details>
  );
}
