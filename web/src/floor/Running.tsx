/** The sessions that run: how each is, what it does, for how long; those that need the operator first. */
import type { Floor, Session } from "../api/types";
import { linkTo, linkToOne, rememberCard } from "../app/routes";
import { openOnEnter } from "../handoffs/open-on-enter";
import { NeedsYou } from "../sessions/NeedsYou";
import { Age } from "../ui/Age";
import { firstLine } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { doesOf, stateOf } from "./wording";

export function Running({ running }: { running: Floor["running"] }) {
  const { sessions, total, needs_you: needing, failed } = running;
  const more = total - sessions.length;
  return (
    <section className="floor-part" aria-labelledby="floor-running">
      <h2 id="floor-running" className="floor-title">
        <a {...linkTo("sessions")}>
          Running <span className="floor-many">{total.toLocaleString("en")}</span>
        </a>
        {needing > 0 && <span className="section-hint">{needing === 1 ? "1 needs you" : `${needing} need you`}</span>}
        {failed > 0 && (
          <a className="section-hint" {...linkTo("sessions")}>
            {failed.toLocaleString("en")} failed within a day
          </a>
        )}
      </h2>
      {total === 0 ? (
        <p className="floor-calm">
          <span>
            No agent is at work. <a {...linkTo("sessions")}>Start one</a>, or let one that you started yourself ask.
          </span>
        </p>
      ) : (
        <ol className="floor-rows">
          {sessions.map((session) => (
            <Row key={session.id} session={session} does={doesOf(session, running.items)} />
          ))}
        </ol>
      )}
      {more > 0 && (
        <p className="floor-more">
          <a {...linkTo("sessions")}>{more.toLocaleString("en")} more</a>
        </p>
      )}
    </section>
  );
}

function Row({ session, does }: { session: Session; does: string }) {
  const { id } = session;
  const { word, tone } = stateOf(session);
  const open = linkToOne("session", id);
  return (
    <li className="row floor-row" tabIndex={-1} data-card-id={id} data-session={id} onKeyDown={openOnEnter}>
      <span className="floor-dot" data-tone={tone} aria-hidden="true" />
      <div className="floor-words">
        <p className="floor-line">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(id);
              open.onClick(event);
            }}
          >
            {sessionName(id)}
          </a>{" "}
          <span className="floor-soft">{word}</span> <NeedsYou session={session} />
        </p>
        {does !== "" && (
          <p className="floor-soft floor-does" dir="auto">
            {firstLine(does, 200)}
          </p>
        )}
      </div>
      <Age className="floor-age" since={session.run?.started_at ?? session.first_seen_at} />
    </li>
  );
}
