/** How much of a sprint's budget is used, against its thresholds; the same in words beside it. */
import type { Sprint } from "../api/types";
import { levelWords, percent, tokens } from "./wording";

const NAMES = ["inform", "warn", "stop"] as const;

export function Budget({ sprint }: { sprint: Sprint }) {
  const { token_budget: budget, tokens_used: used, burn_thresholds: thresholds, level } = sprint;
  // The bar ends where the stop is, or the budget, or the use: whichever is furthest.
  const end = Math.max(budget, budget * thresholds.stop, used);
  const at = (many: number) => `${(many / end) * 100}%`;
  return (
    <div className="budget">
      <div
        className="budget-bar"
        role="meter"
        aria-label="Budget used"
        aria-valuemin={0}
        aria-valuemax={Math.round(end)}
        aria-valuenow={used}
        aria-valuetext={`${tokens(used)} of ${tokens(budget)} tokens, ${percent(used / budget)}`}
      >
        <span className="budget-used" data-level={level} style={{ width: at(used) }} />
        {NAMES.map((name) => (
          <span key={name} className="budget-mark" data-of={name} style={{ insetInlineStart: at(budget * thresholds[name]) }} />
        ))}
      </div>
      <p className="budget-words">
        <strong>{percent(used / budget)}</strong> used: {tokens(used)} of {tokens(budget)} tokens.{" "}
        {sprint.state !== "planned" && levelWords(level, sprint.held)}
      </p>
      <p className="card-hint">
        Told at {percent(thresholds.inform)}, warned at {percent(thresholds.warn)}, nothing new from{" "}
        {percent(thresholds.stop)} on.
      </p>
    </div>
  );
}
