/** What the parts of a plot are, each beside the way it is drawn. */
import { useId } from "react";
import { Fillings, fillingOf, type Part } from "./Fillings";
import { Mark } from "./Lines";

export interface Entry {
  part: Part;
  name: string;
  /** Lines without marks are drawn so here too. */
  marked?: boolean;
}

export function Legend({ kind, entries }: { kind: "bars" | "lines"; entries: readonly Entry[] }) {
  const id = useId();
  return (
    <ul className="plot-legend">
      {entries.map(({ part, name, marked = true }) => (
        <li key={part}>
          {kind === "bars" ? (
            <svg width="12" height="12" aria-hidden="true">
              <Fillings id={`${id}-${part}`} />
              <rect {...fillingOf(`${id}-${part}`, part)} x="0.5" y="0.5" width="11" height="11" />
            </svg>
          ) : (
            <svg width="26" height="12" aria-hidden="true" className="plot-line" data-part={part}>
              <polyline points="0,6 26,6" />
              {marked && <Mark part={part} at={[13, 6]} />}
            </svg>
          )}
          {name}
        </li>
      ))}
    </ul>
  );
}
