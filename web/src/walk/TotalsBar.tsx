/** How far the walk is and what came of it, kept below everything. */
import type { Walk, WalkTotals } from "../api/types";
import { useWords } from "../ui/Age";
import { formatSeconds } from "../ui/time";
import { toGo } from "./agenda";
import { decisionsOf, figuresOf } from "./wording";

interface Props {
  /** With what is on its way. */
  totals: WalkTotals;
  status: Walk["status"];
  /** When the walk was read, on this page's clock. */
  readAt: number;
}

export function TotalsBar({ totals, status, readAt }: Props) {
  const { items } = totals;
  const done = items - toGo(totals);
  const words = decisionsOf(totals);
  const taken = useWords((now) =>
    formatSeconds(totals.seconds + (status === "active" ? Math.max(0, (now - readAt) / 1_000) : 0)),
  );
  return (
    <footer className="walk-totals" role="group" aria-label="Totals">
      <div
        className="walk-progress"
        role="progressbar"
        aria-label="Gone through"
        aria-valuemin={0}
        aria-valuemax={items}
        aria-valuenow={done}
      >
        <span style={{ transform: `scaleX(${items === 0 ? 1 : done / items})` }} />
      </div>
      <dl>
        {figuresOf(totals).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
        <div>
          <dt>time</dt>
          <dd>{taken}</dd>
        </div>
      </dl>
      {words !== "" && <p className="walk-kinds">{words}</p>}
    </footer>
  );
}
