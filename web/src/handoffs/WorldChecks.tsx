/** What was claimed beside what was found, what failed first. */
import type { Dispatch, WorldCheck } from "../api/types";
import { plainText } from "../ui/plain-text";
import { Mark } from "./Mark";
import { ANSWERS, nameOf, weightOf } from "./wording";

const RANK: Record<WorldCheck["verdict"], number> = { failed: 0, unknown: 1, ok: 2 };

export function WorldChecks({ checks, policy }: { checks: WorldCheck[]; policy: Dispatch["policy"] | undefined }) {
  if (checks.length === 0) return null;
  const sorted = checks.toSorted((a, b) => RANK[a.verdict] - RANK[b.verdict]);
  return (
    <section className="section" aria-labelledby="section-world">
      <h2 id="section-world" className="section-title">
        Compared with the world
        <span className="section-hint">{checks.length}</span>
      </h2>
      <div className="panel table-panel">
        <table className="world">
          <thead>
            <tr>
              <th scope="col">Check</th>
              <th scope="col">Claimed</th>
              <th scope="col">Found</th>
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((check, index) => (
              <WorldRow key={index} check={check} weight={weightOf(check, policy)} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function WorldRow({ check, weight }: { check: WorldCheck; weight: string | null }) {
  return (
    <tr data-verdict={check.verdict}>
      <th scope="row">
        {plainText(nameOf(check))}
        {weight !== null && <span className="world-weight">{weight}</span>}
      </th>
      <td data-label="Claimed" dir="auto">
        {plainText(check.claimed)}
      </td>
      <td data-label="Found" dir="auto">
        {plainText(check.found)}
        {check.note && <span className="world-note">{plainText(check.note)}</span>}
      </td>
      <td>
        <Mark look={ANSWERS[check.verdict]} />
      </td>
    </tr>
  );
}
