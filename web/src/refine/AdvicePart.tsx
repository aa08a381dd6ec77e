/** How far the PM is with the items that it was asked about, and what it says of all of them together. */
import type { Refinement } from "../api/refine-queries";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import type { Advice } from "./rows";
import { SaidOf } from "./SaidOf";

interface Props {
  consult: Refinement;
  advice: Advice;
  canApply: boolean;
  onPutAway: () => void;
}

export function AdvicePart({ consult, advice, canApply, onPutAway }: Props) {
  const { rest } = advice;
  const hasRest = rest.findings.length + rest.proposals.length > 0;
  return (
    <section className="panel refine-advice" aria-labelledby="refine-advice">
      <header>
        <h2 id="refine-advice">What the PM says</h2>
        <span className="card-hint" role="status">
          {statusWords(consult)}
        </span>
        <button type="button" className="quiet" onClick={onPutAway}>
          Put away
        </button>
      </header>
      {consult.error !== null && (
        <p className="mark" data-tone={consult.status === "failed" ? "bad" : "warn"}>
          <Icon name="warn" />
          <span>{plainText(consult.error)}</span>
        </p>
      )}
      {(advice.summary || advice.strategy) && (
        <p className="words" dir="auto">
          <Words text={advice.summary || advice.strategy} />
        </p>
      )}
      {hasRest && <SaidOf said={rest} consult={consult.id} applied={consult.applied_idx} canApply={canApply} />}
      {consult.line_errors.length > 0 && (
        <details>
          <summary>
            {consult.line_errors.length.toLocaleString()} {consult.line_errors.length === 1 ? "line" : "lines"} refused
          </summary>
          <ul className="refine-said">
            {consult.line_errors.slice(0, 50).map(({ index, rule, reason }) => (
              <li key={index} dir="auto">
                {plainText(`Line ${index}, ${rule}: ${reason}`)}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

const ENDS: Record<Refinement["status"], string> = {
  prepared: "only the prompt was made",
  running: "at work",
  completed: "finished",
  failed: "failed",
  timed_out: "took too long",
  cancelled: "cancelled",
  closed: "closed: nothing of it can be applied any more",
};

function statusWords({ status, line_count: lines, model }: Refinement): string {
  return [ENDS[status], `${lines} ${lines === 1 ? "line" : "lines"}`, model].filter(Boolean).map((word) => plainText(word!)).join(" · ");
}
