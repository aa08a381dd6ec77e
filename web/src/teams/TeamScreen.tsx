/** One team run by its address: the four questions, what can be done, its tasks, and one of them beside it when it is opened. */
import { useQuery } from "@tanstack/react-query";
import { teamQuery } from "../api/team-queries";
import type { TeamRun } from "../api/types";
import { closeTask, linkTo, useParameter } from "../app/routes";
import { useEscapeBack } from "../app/useEscapeBack";
import { Mark } from "../handoffs/Mark";
import { Age } from "../ui/Age";
import { Icon } from "../ui/Icon";
import { ItemId } from "../ui/ItemId";
import { Markdown } from "../ui/Markdown";
import { ReadError, Skeletons } from "../ui/Notice";
import { firstLine, plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { Glance } from "./Glance";
import { KnowledgePart } from "./KnowledgePart";
import { MessagesPart } from "./MessagesPart";
import { PlanPart } from "./PlanPart";
import { RunControls } from "./RunControls";
import { Shares } from "./Shares";
import { TaskDrawer } from "./TaskDrawer";
import { TasksPart } from "./TasksPart";
import { isOver, RUN_STATES } from "./wording";

const LONG = 120;

export function TeamScreen({ id, part: task }: { id: string; part?: string }) {
  const { data: run, isPending, isError, error, refetch } = useQuery(teamQuery(id));
  useEscapeBack("teams");

  function close(): void {
    const from = task;
    closeTask(id);
    requestAnimationFrame(() => {
      const box = from === undefined ? null : document.querySelector<HTMLElement>(`[data-task="${CSS.escape(from)}"] a`);
      (box ?? document.querySelector<HTMLElement>("main h1"))?.focus({ preventScroll: true });
    });
  }

  return (
    <div className="team" data-drawer={(run !== undefined && task !== undefined) || undefined}>
      <div className="team-main">
        <header className="screen-head">
          <p className="way-back">
            <a {...linkTo("teams")}>Teams</a>
          </p>
          <h1 tabIndex={-1} dir="auto" className="session-title">
            {run ? firstLine(run.text, LONG) : "Team run"}
          </h1>
          {run && <Head run={run} />}
        </header>
        {isPending && <Skeletons count={2} label="Reading the run" />}
        {isError && run === undefined && (
          <ReadError what="The team run" home="teams" error={error} onRetry={() => void refetch()} />
        )}
        {run && <Whole run={run} task={task ?? null} />}
      </div>
      {run && task !== undefined && <TaskDrawer key={task} run={run} id={task} onClose={close} />}
    </div>
  );
}

function Head({ run }: { run: TeamRun }) {
  const rest = plainText(run.text).trim();
  return (
    <>
      <p className="team-head">
        <Mark look={RUN_STATES[run.state]} />
        <span>
          {run.ended_at !== null ? "ended " : run.started_at !== null ? "began " : "planned "}
          <Age since={run.ended_at ?? run.started_at ?? run.created_at} ago /> by {plainText(run.created_by)}
        </span>
        <span>{plainText(run.agent)}</span>
        {run.epic_id !== null && (
          <span>
            for <ItemId id={run.epic_id} />
          </span>
        )}
        {run.branch !== null && (
          <code className="commit">
            <Icon name="branch" size={13} />
            {plainText(run.branch)}
          </code>
        )}
        {run.archived_at !== null && <span>archived</span>}
      </p>
      {(rest.length > LONG || rest.includes("\n")) && (
        <details className="as-table">
          <summary>The whole text</summary>
          <p className="words team-text" dir="auto">
            <Words text={rest} />
          </p>
        </details>
      )}
    </>
  );
}

const PARTS = { "": "Tasks", messages: "Messages", knowledge: "Who knows what", plan: "Plan", report: "Report" } as const;
type PartName = keyof typeof PARTS;

function Whole({ run, task }: { run: TeamRun; task: string | null }) {
  const [shown, show] = useParameter("show");
  const names = (Object.keys(PARTS) as PartName[]).filter((name) => name !== "report" || run.report !== null);
  const part: PartName = names.find((name) => name === shown) ?? "";
  const { state, trouble } = run;
  return (
    <>
      {trouble !== null && (
        <p className="mark team-trouble" data-tone={state === "failed" ? "bad" : "warn"}>
          <Icon name={state === "paused" ? "pause" : "warn"} />
          <span dir="auto">{plainText(trouble)}</span>
        </p>
      )}
      <Glance run={run} />
      <Shares run={run} />
      <RunControls run={run} />
      <nav className="tabs team-tabs" aria-label="Parts of the run">
        {names.map((name) => (
          <a
            key={name}
            href={name === "" ? location.pathname : `?show=${name}`}
            aria-current={name === part ? "true" : undefined}
            onClick={(event) => {
              if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
              event.preventDefault();
              show(name);
            }}
          >
            {PARTS[name]}
          </a>
        ))}
      </nav>
      {part === "" && <TasksPart run={run} chosen={task} />}
      {(part === "plan" || (part === "" && state === "planned")) && <PlanPart run={run} />}
      {part === "messages" && <MessagesPart run={run} />}
      {part === "knowledge" && <KnowledgePart run={run} />}
      {part === "report" && run.report !== null && (
        <section className="section" aria-labelledby="team-report">
          <h2 id="team-report" className="section-title">
            Report {isOver(state) && <span className="section-hint">as the run ended</span>}
          </h2>
          <div className="card">
            <Markdown text={run.report} level={3} />
          </div>
        </section>
      )}
    </>
  );
}
