/** A run in the list: what it is about, how far it is, whether it waits for somebody, what it cost. */
import type { TeamSummary } from "../api/types";
import { linkToOne, rememberCard } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { openOnEnter } from "../handoffs/open-on-enter";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { ItemId } from "../ui/ItemId";
import { firstLine, plainText } from "../ui/plain-text";
import { Shares } from "./Shares";
import { costInWords, isOver, RUN_STATES } from "./wording";

export function RunCard({ run }: { run: TeamSummary }) {
  const open = linkToOne("team", run.id);
  const waits = run.state === "planned" ? "It waits for your start" : waitsInWords(run.waits_for_you);
  return (
    <li className="slot">
      <article
        className="card session-card"
        tabIndex={-1}
        aria-labelledby={`team-card-${run.id}`}
        data-card-id={run.id}
        data-settled={isOver(run.state) ? "over" : undefined}
        onKeyDown={openOnEnter}
      >
        <header className="card-head">
          <Mark look={RUN_STATES[run.state]} />
          <span>{plainText(run.agent)}</span>
          {run.epic_id !== null && <ItemId id={run.epic_id} />}
          <span className="age">
            <span>
              {run.ended_at !== null ? "ended " : run.started_at !== null ? "began " : "planned "}
              <Age since={run.ended_at ?? run.started_at ?? run.created_at} ago />
            </span>
          </span>
        </header>
        <h2 id={`team-card-${run.id}`} className="session-title" dir="auto">
          <a
            data-opens
            {...open}
            onClick={(event) => {
              rememberCard(run.id);
              open.onClick(event);
            }}
          >
            {firstLine(run.text, 200)}
          </a>
        </h2>
        {run.left !== null && (
          <p className="mark" data-tone="warn">
            <Icon name="warn" />
            <span>{plainText(run.left)}</span>
          </p>
        )}
        <Shares run={run} />
        {waits !== null && !isOver(run.state) && (
          <p className="mark" data-tone="warn">
            <Icon name="hand" />
            <span>{waits}</span>
          </p>
        )}
        {run.trouble !== null && (
          <p className="card-hint" data-trouble={run.state === "failed" || undefined} dir="auto">
            {plainText(run.trouble)}
          </p>
        )}
        <p className="card-hint">
          {costInWords(run)} · {run.tasks} {run.tasks === 1 ? "task" : "tasks"} · <code>{run.id}</code>
          {run.archived_at !== null && " · archived"}
        </p>
      </article>
    </li>
  );
}

function waitsInWords(many: number): string | null {
  if (many === 0) return null;
  return many === 1 ? "1 task waits for you" : `${many} tasks wait for you`;
}
