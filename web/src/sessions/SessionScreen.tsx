/** One session: what it is doing, what it shows, where it works, and everything it asked. */
import { useQuery } from "@tanstack/react-query";
import { dispatchQuery } from "../api/handoff-queries";
import { SESSION_LIMIT, sessionsQuery } from "../api/queries";
import { sessionQuery } from "../api/session-queries";
import type { Session } from "../api/types";
import { linkTo, linkToOne } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { Mark } from "../handoffs/Mark";
import { shortId } from "../handoffs/wording";
import { SessionHistory, showAsked } from "../history/SessionHistory";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { formatWhole } from "../ui/time";
import { Words } from "../ui/Words";
import { Controls } from "./Controls";
import { InputsPart } from "./InputsPart";
import { NeedsYou } from "./NeedsYou";
import { Shown } from "./Shown";
import { WorktreePart } from "./WorktreePart";
import { endingOf, isAlive, lookOf, saysOf, usageWords } from "./wording";

export function SessionScreen({ id }: { id: string }) {
  const { session, isUnknown } = useSession(id);
  useEscapeBack("sessions");
  return (
    <>
      <header className="screen-head">
        <p className="way-back">
          <a {...linkTo("sessions")}>Sessions</a>
        </p>
        <h1 tabIndex={-1} className="session-title">
          {sessionName(id)}
        </h1>
        {session ? <Now session={session} /> : <p>{isUnknown ? "Gemba knows no session of this name." : "Everything this session asked."}</p>}
      </header>
      {session?.run && (
        <>
          <article className="card session-now" aria-label="About this session">
            <About session={session} run={session.run} />
            <Controls session={session} />
          </article>
          <Shown session={session} />
          <WorktreePart session={session} />
          <InputsPart session={session} />
        </>
      )}
      <SessionHistory id={id} />
    </>
  );
}

/** As the list has it; asked for alone where it may be too old for the list. Not every name that is met is a session's. */
function useSession(id: string): { session: Session | undefined; isUnknown: boolean } {
  const list = useQuery(sessionsQuery).data?.sessions;
  const listed = list?.find((one) => one.id === id);
  const mayBeOlder = listed === undefined && (list?.length ?? 0) >= SESSION_LIMIT;
  const alone = useQuery({ ...sessionQuery(id), enabled: mayBeOlder });
  const session = listed ?? alone.data;
  return { session, isUnknown: list !== undefined && session === undefined && (!mayBeOlder || alone.isError) };
}

function Now({ session }: { session: Session }) {
  const says = saysOf(session);
  return (
    <p className="session-head">
      <Mark look={lookOf(session)} />
      <span>
        {plainText(session.agent_type)}, {session.mode} mode
        {session.role !== null && `, ${session.role}`}
      </span>
      {says !== null && <span>says: {says}</span>}
      <NeedsYou session={session} onAsked={showAsked} />
      <span>
        last heard <Age since={session.last_frame_at} ago />
      </span>
    </p>
  );
}

function About({ session, run }: { session: Session; run: NonNullable<Session["run"]> }) {
  const ending = endingOf(session);
  const name = sessionName(session.id);
  const facts: [name: string, value: React.ReactNode][] = [
    ["Session", name !== plainText(session.id) && <code>{plainText(session.id)}</code>],
    ["Folder", run.folder !== null && <code>{plainText(run.folder)}</code>],
    ["Branch", run.branch !== null && <code>{plainText(run.branch)}</code>],
    ["Task", session.bead_id !== null && plainText(session.bead_id)],
    ["Note", session.note !== null && plainText(session.note)],
    ["Dispatch", run.dispatch_id !== null && <ItsDispatch id={run.dispatch_id} />],
    ["Started", `${run.started_at === null ? "not yet" : formatWhole(new Date(run.started_at))}, by ${plainText(run.started_by)}`],
    ["Used", session.usage !== null && usageWords(session.usage)],
    ["Released", run.released_at !== null && releasedWords(run)],
    ["Ended", run.ended_at !== null && formatWhole(new Date(run.ended_at))],
  ];
  return (
    <>
      {run.title !== "" && (
        <h2 className="words handoff-whole" dir="auto">
          <Words text={run.title} />
        </h2>
      )}
      {ending !== null && (
        <p className="mark" data-tone={lookOf(session).tone === "bad" ? "bad" : undefined} dir="auto">
          <Icon name={isAlive(session) ? "pulse" : lookOf(session).icon} />
          <span>{plainText(ending)}.</span>
        </p>
      )}
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== false)
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </>
  );
}

/** By what is wanted, as soon as that is known. */
function ItsDispatch({ id }: { id: string }) {
  const goal = useQuery(dispatchQuery(id)).data?.goal;
  return <a {...linkToOne("dispatch", id)}>{goal === undefined ? shortId(id) : firstLine(goal)}</a>;
}

/** When its worktree went, and where the rest of it is. */
function releasedWords(run: NonNullable<Session["run"]>): React.ReactNode {
  return (
    <>
      {formatWhole(new Date(run.released_at!))}
      {run.kept_as !== null && (
        <>
          ; what was not committed is kept as <code>{plainText(run.kept_as)}</code>
        </>
      )}
    </>
  );
}
