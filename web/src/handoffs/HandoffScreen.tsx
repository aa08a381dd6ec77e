/** One handoff by its address: what its agent says, what was found, what came of it. */
import { useQuery } from "@tanstack/react-query";
import { dispatchQuery, handoffQuery } from "../api/handoff-queries";
import type { Handoff } from "../api/types";
import { linkTo, linkToOne } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { formatWhole } from "../ui/time";
import { Words } from "../ui/Words";
import { Applied, Asked, Told } from "./Consequences";
import { Findings } from "./Findings";
import { Mark } from "./Mark";
import { Raw } from "./Raw";
import { WorldChecks } from "./WorldChecks";
import { cameBy, saidBy, shortId, STATES, statusOf, whyRefused } from "./wording";

export function HandoffScreen({ id }: { id: string }) {
  const { data: handoff, isPending, isError, error, refetch } = useQuery(handoffQuery(id));
  useEscapeBack("handoffs");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("handoffs")}>Handoffs</a>
        </p>
        <h1 tabIndex={-1}>Handoff</h1>
        {handoff && (
          <p>
            It came {cameBy(handoff)} on {formatWhole(new Date(handoff.created_at))}
          </p>
        )}
      </header>
      {isPending && <Skeletons count={2} label="Reading the handoff" />}
      {isError && handoff === undefined && (
        <ReadError what="The handoff" home="handoffs" error={error} onRetry={() => void refetch()} />
      )}
      {handoff && <Whole handoff={handoff} />}
    </>
  );
}

function Whole({ handoff }: { handoff: Handoff }) {
  const dispatch = useQuery({
    ...dispatchQuery(handoff.dispatch_id ?? ""),
    enabled: handoff.dispatch_id !== null,
  }).data;
  return (
    <>
      <article className="card handoff" aria-labelledby="handoff-said" data-handoff-state={handoff.state}>
        <header className="card-head">
          <Mark look={STATES[handoff.state]} />
          <span className="plan-status">{statusOf(handoff.plan_status)}</span>
          <span className="age">
            <Age since={handoff.concluded_at ?? handoff.created_at} ago />
          </span>
        </header>
        <h2 id="handoff-said" className="words handoff-whole" dir="auto" data-empty={handoff.summary === "" || undefined}>
          <Words text={saidBy(handoff)} />
        </h2>
        <Refused handoff={handoff} />
        {handoff.escalation_id !== null && <Asked escalationId={handoff.escalation_id} />}
        <Facts handoff={handoff} goal={dispatch?.goal} />
      </article>
      <WorldChecks checks={handoff.checks} policy={dispatch?.policy} />
      <Findings findings={handoff.verdict.findings} />
      <Applied applied={handoff.applied} />
      <Told text={handoff.told} />
      {handoff.document !== null && (
        <Raw title="The envelope as it came" document={handoff.document} where={`/api/handoffs/${handoff.id}`} />
      )}
    </>
  );
}

function Refused({ handoff }: { handoff: Handoff }) {
  const why = whyRefused(handoff);
  if (why === null) return null;
  const { refusal } = handoff;
  const allowed = refusal?.allowed ?? [];
  return (
    <p className="mark" data-tone="bad">
      <Icon name="refused" />
      <span>
        {why}.{handoff.refused_by === "status" && refusal && ` ${plainText(refusal.message)}.`}
        {allowed.length > 0 && ` Allowed: ${plainText(allowed.join(", "))}.`} Nothing was changed by it.
      </span>
    </p>
  );
}

function Facts({ handoff, goal }: { handoff: Handoff; goal: string | undefined }) {
  const { dispatch_id: dispatchId, session_id: sessionId } = handoff;
  return (
    <dl className="facts">
      {dispatchId !== null && (
        <div>
          <dt>Dispatch</dt>
          <dd dir="auto">
            <a {...linkToOne("dispatch", dispatchId)}>{goal === undefined ? shortId(dispatchId) : firstLine(goal)}</a>
            {handoff.turn !== null && `, turn ${handoff.turn}`}
          </dd>
        </div>
      )}
      {sessionId !== null && (
        <div>
          <dt>Session</dt>
          <dd>
            <a {...linkToOne("session", sessionId)}>{sessionName(sessionId)}</a>
          </dd>
        </div>
      )}
      {handoff.agent_id !== null && (
        <div>
          <dt>Agent</dt>
          <dd>
            <code>{plainText(handoff.agent_id)}</code>
          </dd>
        </div>
      )}
    </dl>
  );
}
