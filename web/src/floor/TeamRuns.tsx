/** The team runs that are not over, each with how far it is. */
import type { Floor, TeamSummary } from "../api/types";
import { linkTo, linkToOne, rememberCard } from "../app/routes";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Shares } from "../teams/Shares";
import { costInWords, RUN_STATES } from "../teams/wording";
import { Age } from "../ui/Age";
import { firstLine } from "../ui/plain-text";

export function TeamRuns({ teams }: { teams: Floor["teams"] }) {
  if (teams.total === 0) return null;
  const more = teams.total - teams.runs.length;
  return (
    <section className="floor-part" aria-labelledby="floor-teams">
      <h2 id="floor-teams" className="floor-title">
        <a {...linkTo("teams")}>
          Team runs <span className="floor-many">{teams.total.toLocaleString("en")}</span>
        </a>
      </h2>
      <ol className="floor-rows">
        {teams.runs.map((run) => (
          <Run key={run.id} run={run} />
        ))}
      </ol>
      {more > 0 && (
        <p className="floor-more">
          <a {...linkTo("teams")}>{more.toLocaleString("en")} more</a>
        </p>
      )}
    </section>
  );
}

function Run({ run }: { run: TeamSummary }) {
  const open = linkToOne("team", run.id);
  // That it runs goes without saying.
  const state = run.state !== "running" && RUN_STATES[run.state].label.toLowerCase();
  const told = [state, run.tokens > 0 && costInWords(run)].filter((part) => typeof part === "string");
  return (
    <li className="row floor-row" tabIndex={-1} data-card-id={run.id} onKeyDown={openOnEnter}>
      <div className="floor-words">
        <p className="floor-line" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(run.id);
              open.onClick(event);
            }}
          >
            {firstLine(run.text, 160)}
          </a>
        </p>
        <Shares run={run} />
        {told.length > 0 && <p className="floor-soft">{told.join(" · ")}</p>}
      </div>
      <Age className="floor-age" since={run.started_at ?? run.created_at} />
    </li>
  );
}
