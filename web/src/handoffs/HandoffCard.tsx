/** One handoff in a list: what became of it, what its agent says for the person, and over what it was refused. */
import type { Handoff } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { Words } from "../ui/Words";
import { Mark } from "./Mark";
import { openOnEnter } from "./open-on-enter";
import { refusedOver, saidBy, shortId, STATES, statusOf, whyRefused } from "./wording";

/** More than the fold shows of it. */
const MOST_SHOWN = 600;

interface Props {
  handoff: Handoff;
  /** What its dispatch is for, where that is known and not said already. */
  goal?: string | undefined;
  /** Not in a list of one dispatch's handoffs, where it goes without saying. */
  withDispatch?: boolean;
}

export function HandoffCard({ handoff, goal, withDispatch = true }: Props) {
  const { id, dispatch_id: dispatchId, session_id: sessionId } = handoff;
  const open = linkToOne("handoff", id);
  const why = whyRefused(handoff);
  return (
    <li className="slot">
      <article
        className="card"
        tabIndex={-1}
        aria-labelledby={`handoff-${id}`}
        data-card-id={id}
        data-handoff-state={handoff.state}
        onKeyDown={openOnEnter}
      >
        <header className="card-head">
          <Mark look={STATES[handoff.state]} />
          <span className="plan-status">{statusOf(handoff.plan_status)}</span>
          {sessionId !== null && (
            <a className="session" title={plainText(sessionId)} {...linkToOne("session", sessionId)}>
              {sessionName(sessionId)}
            </a>
          )}
          {handoff.turn !== null && <span>turn {handoff.turn}</span>}
          <span className="age">
            <Age since={handoff.created_at} ago />
          </span>
        </header>
        <h3 id={`handoff-${id}`} className="words handoff-said" dir="auto" data-empty={handoff.summary === "" || undefined}>
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            <Words text={saidBy(handoff).slice(0, MOST_SHOWN)} />
          </a>
        </h3>
        {why !== null && (
          <p className="mark" data-tone="bad">
            <span>
              {why}
              {refusedOver(handoff) !== "" && (
                <>
                  : <span className="refused-over">{refusedOver(handoff)}</span>
                </>
              )}
            </span>
          </p>
        )}
        {withDispatch && dispatchId !== null && (
          <p className="card-hint handoff-for" dir="auto">
            <Icon name="brief" size={14} />
            <a {...linkToOne("dispatch", dispatchId)}>
              {goal === undefined ? `Dispatch ${shortId(dispatchId)}` : firstLine(goal)}
            </a>
          </p>
        )}
      </article>
    </li>
  );
}
