/** One session in the list: whether it lives, what it does for which task, where, and how it ended. */
import type { Session } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { endingOf, isAlive, lookOf, saysOf } from "./wording";

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
          {session.needs_you && <strong className="needs-you">needs you</strong>}
          <span>{plainText(session.agent_type)}</span>
          <span className="age">
            <span>
              heard of <Age since={session.last_frame_at} ago />
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
            {plainText(id)}
          </a>
        </h3>
        {title !== null && title !== "" && (
          <p className="session-task" dir="auto">
            {firstLine(title, 240)}
          </p>
        )}
        {(run?.branch ?? null) !== null && (
          <p className="card-hint handoff-for">
            <Icon name="branch" size={14} />
            <span>{plainText(run!.branch!)}</span>
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
