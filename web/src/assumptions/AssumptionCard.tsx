/** One decision an agent took alone: what it asked itself, what it chose, on which commit; and the operator's word against it. */
import { memo, useState, type KeyboardEvent } from "react";
import type { Assumption } from "../api/types";
import { deliveryOf, shortHash } from "../inbox/wording";
import { Age } from "../ui/Age";
import { From } from "../ui/From";
import { Icon } from "../ui/Icon";
import { isCommand } from "../ui/keys";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { OverturnBar } from "./OverturnBar";

export const AssumptionCard = memo(function AssumptionCard({ assumption }: { assumption: Assumption }) {
  const { id, overturned } = assumption;
  const [overturning, setOverturning] = useState(false);

  function onKeyDown(event: KeyboardEvent<HTMLElement>): void {
    if (overturned !== null || !isCommand(event) || event.repeat) return;
    if (event.key !== "r" && !(event.key === "Enter" && event.target === event.currentTarget)) return;
    event.preventDefault();
    setOverturning(true);
  }

  return (
    <li className="slot">
      <article
        className="card"
        tabIndex={-1}
        aria-labelledby={`assumption-${id}`}
        data-assumption-id={id}
        data-overturned={overturned !== null || undefined}
        onKeyDown={onKeyDown}
      >
        <header className="card-head">
          <From agentType={assumption.agent_type} sessionId={assumption.session_id} />
          {assumption.bead_id !== null && <span className="bead">{assumption.bead_id}</span>}
          {assumption.commit !== null && (
            <span className="commit" title={assumption.branch === null ? "Commit" : `Commit, on ${assumption.branch}`}>
              <Icon name="branch" size={14} />
              <code>{shortHash(assumption.commit)}</code>
            </span>
          )}
          <span className="age">
            <Age since={assumption.recorded_at} ago />
          </span>
        </header>
        <h2 id={`assumption-${id}`} className="assumption-question" dir="auto">
          <Words text={assumption.text} />
        </h2>
        <div className="assumption-line">
          <p className="assumption-chose" dir="auto">
            <span className="assumption-label">Chose</span>
            <span>
              <Words text={assumption.chose} />
            </span>
          </p>
          {overturned === null && !overturning && (
            <button
              type="button"
              className="quiet overturn"
              aria-keyshortcuts="r"
              aria-describedby={`assumption-${id}`}
              onClick={() => setOverturning(true)}
            >
              Overturn…
            </button>
          )}
        </div>
        {overturned !== null && (
          <p className="assumption-overturned" dir="auto">
            <span className="assumption-label">You</span>
            <span>
              {plainText(overturned.text)}
              <span
                className="assumption-delivery"
                data-tone={assumption.delivery === "undelivered" ? "warn" : undefined}
              >
                Overturned <Age since={overturned.at} ago />
                {deliveryOf(assumption) !== null && ` · ${deliveryOf(assumption)}`}
              </span>
            </span>
          </p>
        )}
        {overturning && <OverturnBar id={id} onLeave={() => setOverturning(false)} />}
      </article>
    </li>
  );
});
