/** One session in the list: whether it lives, what it does for which task, where, and how it ended. */
import type { Session } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { formatWhole } from "../ui/time";
import { NeedsYou } from "./NeedsYou";
import { endingOf, isAlive, lookOf, saysOf, unsavedWords, usageWords, worktreeName } from "./wording";

export function SessionCard({ session }: { session: Session }) {
  const { id, run = null } = session;
  const title = run === null || run.title === "" ? session.note : run.title;
  const open = linkToOne("session", id);
  const ending = endingOf(session);
  const says = saysOf(session);
  return (
    <li className="slot">
      <article
        className="card session-card"
        tabIndex={-1}
        aria-labelledby={`session-${id}`}
        data-card-id={id}
        data-settled={isAlive(session) ? undefined : "over"}
        onKeyDown={openOnEnter}
      >
        <header className="card-head">
          <Mark look={lookOf(session)} />
          {says !== null && <span>says: {says}</span>}
          <NeedsYou session={session} />
          <span>{plainText(session.agent_type)}</span>
          <span className="age">
            <span>
              began <Age since={session.first_seen_at} ago />, heard of <Age since={session.last_frame_at} ago />
            </span>
          </span>
        </header>
        <h3 id={`session-${id}`} className="session-title">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            {sessionName(id)}
          </a>
        </h3>
        {title !== null && title !== "" && (
          <p className="session-task" dir="auto">
            {firstLine(title, 240)}
          </p>
        )}
        {run !== null && <Where session={session} run={run} />}
        {session.usage !== null && (
          <p className="card-hint handoff-for">
            <Icon name="coin" size={14} />
            <span>
              <span className="visually-hidden">Used: </span>
              {usageWords(session.usage)}
            </span>
          </p>
        )}
        {ending !== null && (
          <p className="card-hint" dir="auto" data-trouble={lookOf(session).tone === "bad" || undefined}>
            {firstLine(ending, 400)}
          </p>
        )}
      </article>
    </li>
  );
}

/** Its branch and its worktree, with what was only there when it was looked at. */
function Where({ session, run }: { session: Session; run: NonNullable<Session["run"]> }) {
  const unsaved = unsavedWords(session);
  const isUnsaved = run.unsaved !== null && run.unsaved.dirty + run.unsaved.unmerged > 0;
  const parts = [run.branch, run.folder !== null && worktreeName(run.folder), run.released_at !== null && "worktree released"];
  const told = parts.filter((part) => typeof part === "string");
  if (told.length === 0) return null;
  return (
    <p className="card-hint handoff-for">
      <Icon name="branch" size={14} />
      <span className="session-where">
        {plainText(told.join(" · "))}
        {unsaved !== null && (
          <>
            {" · "}
            <span data-unsaved={isUnsaved || undefined} title={`Seen ${formatWhole(new Date(run.unsaved!.seen_at))}`}>
              {unsaved}
            </span>
          </>
        )}
      </span>
    </p>
  );
}
