/** How far a run is: its tasks by what has become of them, as a bar and in words. */
import type { TeamSummary } from "../api/types";
import { sharesInWords, sharesOf } from "./wording";

export function Shares({ run }: { run: Pick<TeamSummary, "states" | "tasks"> }) {
  const shares = sharesOf(run);
  return (
    <div className="shares-of">
      <div className="shares-bar" role="img" aria-label={`Tasks: ${sharesInWords(shares)}`}>
        {shares.map(({ name, many }) => (
          <span key={name} data-of={name} style={{ flexGrow: many }} />
        ))}
      </div>
      <p className="card-hint shares-words" aria-hidden="true">
        {shares.map(({ name, label, many }) => (
          <span key={name}>
            <span className="shares-key" data-of={name} />
            {many} {label}
          </span>
        ))}
      </p>
    </div>
  );
}
