/** What happens while one walks: what came to wait, which agents want something, which runs go on. Live. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useRef } from "react";
import { sessionsQuery, unresolvedQuery } from "../api/queries";
import { teamsQuery } from "../api/team-queries";
import type { Escalation, Session, TeamSummary, Walk } from "../api/types";
import { addToAgenda } from "../api/walk-deeds";
import { linkToAsked, linkToOne } from "../app/routes";
import { kindOf } from "../inbox/wording";
import { isAtWork, needsWords } from "../sessions/wording";
import { Shares } from "../teams/Shares";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { firstLine, plainText } from "../ui/plain-text";
import { sessionName } from "../ui/session-name";
import { cameMeanwhile } from "./agenda";
import { KEYS } from "./keys";
import type { WalkDeeds } from "./useWalkDeed";
import { useWalkKey } from "./useWalkKey";

const MOST = 8;

export function Elsewhere({ walk, deeds }: { walk: Walk; deeds: WalkDeeds }) {
  const came = cameMeanwhile(walk, useQuery(unresolvedQuery).data?.escalations ?? []);
  const sessions = useQuery(sessionsQuery).data?.sessions ?? [];
  const runs = useInfiniteQuery(teamsQuery).data?.pages.flatMap((page) => page.runs) ?? [];
  return (
    <section className="walk-elsewhere" aria-label="Elsewhere">
      <Arrivals walk={walk} came={came} deeds={deeds} />
      <Waiting sessions={sessions.filter((one) => isAtWork(one) && one.needs_you)} atWork={sessions.filter((one) => isAtWork(one)).length} />
      <Runs runs={runs.filter(({ state }) => state === "running" || state === "paused")} />
    </section>
  );
}

function Arrivals({ walk, came, deeds }: { walk: Walk; came: Escalation[]; deeds: WalkDeeds }) {
  const list = useRef<HTMLUListElement>(null);
  const canPull = walk.status === "active";

  function pull(one: Escalation | null): void {
    if (!canPull || deeds.isBusy) return;
    const body = one === null ? {} : { ref: one.id };
    deeds.act({
      run: (confirmId) => addToAgenda(walk.id, body, confirmId),
      said: one === null ? "Pulled in all that came" : "Pulled in",
      // The button went with its row.
      then: () =>
        requestAnimationFrame(() => {
          const next = list.current?.querySelector<HTMLElement>("button");
          if (document.activeElement === document.body)
            (next ?? document.querySelector<HTMLElement>(".walk-table"))?.focus({ preventScroll: true });
        }),
    });
  }

  useWalkKey((key, event) => {
    if (key !== KEYS.pull || event.shiftKey || came.length === 0 || !canPull) return false;
    pull(null);
    return true;
  });

  return (
    <section aria-labelledby="walk-came">
      <header className="walk-side-head">
        <h2 id="walk-came">
          Meanwhile <span className="count">{came.length}</span>
        </h2>
        {came.length > 0 && canPull && (
          <button type="button" className="quiet walk-pull-all" aria-keyshortcuts={KEYS.pull} onClick={() => pull(null)}>
            Pull in all <Kbd>{KEYS.pull}</Kbd>
          </button>
        )}
      </header>
      {came.length === 0 ? (
        <p className="card-hint">Nothing new waits.</p>
      ) : (
        <ul ref={list} className="walk-side-rows">
          {came.slice(0, MOST).map((one) => (
            <li key={one.id} data-urgency={one.urgency}>
              <p className="walk-side-title" dir="auto">
                <a {...linkToOne("escalation", one.id)}>{firstLine(one.title ?? one.text, 90)}</a>
              </p>
              <p className="card-hint">
                <span className="walk-side-kind">{kindOf(one).label}</span> · {sessionName(one.session_id)} ·{" "}
                <Age since={one.opened_at} />
              </p>
              {canPull && (
                <button
                  type="button"
                  className="link-button"
                  aria-label={`Pull in: ${firstLine(one.title ?? one.text, 60)}`}
                  onClick={() => pull(one)}
                >
                  Pull in
                </button>
              )}
            </li>
          ))}
          {came.length > MOST && <li className="card-hint">and {came.length - MOST} more</li>}
        </ul>
      )}
    </section>
  );
}

function Waiting({ sessions, atWork }: { sessions: Session[]; atWork: number }) {
  return (
    <section aria-labelledby="walk-sessions">
      <header className="walk-side-head">
        <h2 id="walk-sessions">
          Agents <span className="count">{atWork} at work</span>
        </h2>
      </header>
      {sessions.length === 0 ? (
        <p className="card-hint">None stands still for you.</p>
      ) : (
        <ul className="walk-side-rows">
          {sessions.slice(0, MOST).map((one) => (
            <li key={one.id}>
              <p className="walk-side-title">
                <a {...linkToAsked(one.id)}>{plainText(one.id)}</a>
              </p>
              <p className="card-hint">{needsWords(one)}</p>
            </li>
          ))}
          {sessions.length > MOST && <li className="card-hint">and {sessions.length - MOST} more</li>}
        </ul>
      )}
    </section>
  );
}

function Runs({ runs }: { runs: TeamSummary[] }) {
  if (runs.length === 0) return null;
  return (
    <section aria-labelledby="walk-runs">
      <header className="walk-side-head">
        <h2 id="walk-runs">
          Team runs <span className="count">{runs.length}</span>
        </h2>
      </header>
      <ul className="walk-side-rows">
        {runs.slice(0, MOST).map((run) => (
          <li key={run.id}>
            <p className="walk-side-title" dir="auto">
              <a {...linkToOne("team", run.id)}>{firstLine(run.text, 80)}</a>
              {run.state === "paused" && (
                <span className="card-hint">
                  {" "}
                  <Icon name="pause" size={12} /> paused
                </span>
              )}
            </p>
            <Shares run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}
