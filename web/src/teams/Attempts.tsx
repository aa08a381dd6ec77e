/** Every attempt at a task, the newest first: how the gate judged it by dimension, what failed and the evidence, and its turn. */
import type { TeamAttempt } from "../api/types";
import { linkToOne } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { Icon } from "../ui/Icon";
import { plainText } from "../ui/plain-text";
import { formatSeconds, formatWhole } from "../ui/time";
import { Words } from "../ui/Words";
import { checksOf, gateOf, noteOf, points, type Check, type DimensionScore, type Gate } from "./gate";
import { outcomeOf } from "./wording";

export function Attempts({ attempts }: { attempts: TeamAttempt[] }) {
  if (attempts.length === 0) return <p className="card-hint">Nobody has begun it yet.</p>;
  const versions = new Set(attempts.map(({ version }) => version)).size;
  return (
    <ol className="attempts">
      {attempts.map((attempt, index) => (
        <li key={attempt.number}>
          <details className="attempt" open={index === 0}>
            <summary>
              <span className="attempt-name">
                Try {attempt.attempt}
                {versions > 1 && ` of version ${attempt.version}`}
              </span>
              <Mark look={outcomeOf(attempt.outcome, index === 0)} />
              <Score gate={gateOf(attempt.gate)} />
            </summary>
            <One attempt={attempt} />
          </details>
        </li>
      ))}
    </ol>
  );
}

function Score({ gate }: { gate: Gate | null }) {
  if (gate === null) return null;
  return (
    <span className="attempt-score">
      {points(gate.score)}
      <span className="visually-hidden"> of 100</span>
    </span>
  );
}

function One({ attempt }: { attempt: TeamAttempt }) {
  const gate = gateOf(attempt.gate);
  const checks = checksOf(attempt);
  const note = noteOf(attempt);
  const failed = checks.filter(({ passed }) => !passed);
  const passed = checks.filter(({ passed: is }) => is);
  return (
    <div className="attempt-body">
      {attempt.trouble !== null && (
        <p className="mark" data-tone="bad">
          <Icon name="warn" />
          <span dir="auto">{plainText(attempt.trouble)}</span>
        </p>
      )}
      {gate !== null && (
        <>
          <ul className="dimensions" aria-label="Scores by dimension">
            {gate.dimensions.map((one) => (
              <Dimension key={one.dimension} one={one} />
            ))}
          </ul>
          <p className="card-hint">{plainText(gate.reason)}</p>
        </>
      )}
      {failed.length > 0 && (
        <div>
          <h4>Checks that failed</h4>
          <Checks checks={failed} />
        </div>
      )}
      {note !== "" && (
        <div>
          <h4>{gate === null ? "The reviewer" : plainText(gate.reviewer === "builtin" ? "The built-in reviewer" : gate.reviewer)} says</h4>
          <blockquote className="review-note words" dir="auto">
            <Words text={note} />
          </blockquote>
        </div>
      )}
      {passed.length > 0 && (
        <details className="as-table">
          <summary>
            {passed.length} {passed.length === 1 ? "check" : "checks"} passed
          </summary>
          <Checks checks={passed} />
        </details>
      )}
      <p className="attempt-links">
        <a {...linkToOne("session", attempt.session_id)}>Session</a>
        <a {...linkToOne("dispatch", attempt.dispatch_id)}>Input envelope</a>
        {attempt.handoff_id !== null && <a {...linkToOne("handoff", attempt.handoff_id)}>Output envelope</a>}
        <span className="card-hint">
          {formatWhole(new Date(attempt.started_at))}
          {attempt.ended_at !== null &&
            `, took ${formatSeconds((Date.parse(attempt.ended_at) - Date.parse(attempt.started_at)) / 1_000)}`}
        </span>
      </p>
    </div>
  );
}

const levelOf = (score: number) => (score >= 80 ? "good" : score >= 60 ? "warn" : "bad");

function Dimension({ one }: { one: DimensionScore }) {
  return (
    <li className="dimension">
      <span className="dimension-name">{plainText(one.dimension)}</span>
      <span
        className="dimension-bar"
        role="meter"
        aria-label={one.dimension}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(one.score)}
      >
        <span data-level={levelOf(one.score)} style={{ width: `${Math.min(100, Math.max(0, one.score))}%` }} />
      </span>
      <span className="dimension-score">{points(one.score)}</span>
      <span className="dimension-why">
        {plainText(one.reason)}
        {one.failed.length > 0 && `; failed: ${plainText(one.failed.join(", "))}`}
      </span>
    </li>
  );
}

function Checks({ checks }: { checks: Check[] }) {
  return (
    <ul className="checks-of">
      {checks.map(({ dimension, name, passed, evidence }, index) => (
        <li key={index} data-passed={passed}>
          <Icon name={passed ? "check" : "close"} size={14} />
          <span>
            <span className="visually-hidden">{passed ? "Passed: " : "Failed: "}</span>
            <strong>{plainText(name)}</strong> <span className="glance-soft">{plainText(dimension)}</span>
            {evidence !== "" && (
              <span className="evidence" dir="auto">
                {plainText(evidence)}
              </span>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}
