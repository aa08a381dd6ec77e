/** The four questions, answered at a glance: what runs, what waits for you, what failed and why, what it cost. */
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { unresolvedQuery } from "../api/queries";
import type { TeamRun, TeamTask } from "../api/types";
import { linkTo, linkToOne, linkToTask } from "../app/routes";
import { useWords } from "../ui/Age";
import { Icon, type IconName } from "../ui/Icon";
import { firstLine, plainText } from "../ui/plain-text";
import { formatSeconds, formatSpan } from "../ui/time";
import { fewTokens } from "../sprints/wording";
import { glanceOf, whyOf } from "./glance";
import { dollars, isOver, lookOf, spanOf } from "./wording";

const MOST = 4;

export function Glance({ run }: { run: TeamRun }) {
  const { running, waiting, failed, retried, skipped, surveyed } = glanceOf(run);
  const waits = waiting.length + (run.state === "planned" ? 1 : 0);
  const lost = [...failed, ...retried];
  return (
    <section className="glance" aria-label="At a glance">
      <Cell name="Running now" icon="play" many={running.length} tone={running.length > 0 ? "good" : undefined}>
        {running.length === 0 && <p className="card-hint glance-none">{idleWords(run)}</p>}
        <Few tasks={running}>
          {(task) => (
            <>
              <TaskLink run={run} task={task} /> <span className="glance-soft">{plainText(task.owner)}</span>
              {task.state === "verifying" && <span className="glance-soft">, at the gate</span>}
              {(task.started_at ?? task.claimed_at) !== null && (
                <span className="glance-soft">
                  , for <Since since={(task.started_at ?? task.claimed_at)!} />
                </span>
              )}
            </>
          )}
        </Few>
      </Cell>
      <Cell name="Waits for you" icon="hand" many={waits} tone={waits > 0 ? "hot" : undefined}>
        {waits === 0 && <p className="card-hint glance-none">Nothing.</p>}
        {run.state === "planned" && (
          <p>
            The plan waits for your start: look at it below, then press <strong>Start</strong>.
          </p>
        )}
        <Few tasks={waiting}>{(task) => <Waiting run={run} task={task} />}</Few>
      </Cell>
      <Cell name="Failed" icon="refused" many={failed.length} tone={failed.length > 0 ? "bad" : undefined}>
        {lost.length === 0 && skipped === 0 && surveyed.length === 0 && <p className="card-hint glance-none">Nothing.</p>}
        <Few tasks={surveyed}>
          {(task) => (
            <>
              <TaskLink run={run} task={task} /> <span className="glance-soft">surveyed only</span>
              <span className="glance-why" dir="auto">
                {firstLine(task.surveyed ?? "", 180)}
              </span>
            </>
          )}
        </Few>
        <Few tasks={lost}>
          {(task) => (
            <>
              <TaskLink run={run} task={task} />
              <span className="glance-why" dir="auto">
                {task.state === "pending" && "tried again soon: "}
                {firstLine(whyOf(task), 180) || "No reason was given."}
              </span>
            </>
          )}
        </Few>
        {skipped > 0 && (
          <p className="card-hint">
            {skipped} {skipped === 1 ? "task was" : "tasks were"} left out.
          </p>
        )}
      </Cell>
      <Cost run={run} />
    </section>
  );
}

function idleWords(run: TeamRun): string {
  if (run.state === "planned") return "Nothing has begun.";
  if (run.state === "paused") return "Paused: nothing new begins.";
  return isOver(run.state) ? "The run is over." : "Nothing at this moment.";
}

interface CellProps {
  name: string;
  icon: IconName;
  many: number | string;
  unit?: string;
  tone?: "good" | "hot" | "bad" | undefined;
  children: ReactNode;
}

function Cell({ name, icon, many, unit = "", tone, children }: CellProps) {
  return (
    <section className="glance-cell" aria-label={name} data-tone={tone}>
      <h2>
        <Icon name={icon} /> {name}
      </h2>
      <p className="glance-many">
        {many}
        {unit !== "" && <span className="glance-unit"> {unit}</span>}
      </p>
      {children}
    </section>
  );
}

function Few({ tasks, children }: { tasks: TeamTask[]; children: (task: TeamTask) => ReactNode }) {
  if (tasks.length === 0) return null;
  return (
    <ul className="glance-list">
      {tasks.slice(0, MOST).map((task) => (
        <li key={task.id}>{children(task)}</li>
      ))}
      {tasks.length > MOST && <li className="glance-soft">and {tasks.length - MOST} more, below</li>}
    </ul>
  );
}

function TaskLink({ run, task }: { run: TeamRun; task: TeamTask }) {
  return (
    <a className="task-link" {...linkToTask(run.id, task.id)}>
      {plainText(task.id)}
    </a>
  );
}

/** What waits, why, and the way to answer it: a decision in the task itself, anything else on its card. */
function Waiting({ run, task }: { run: TeamRun; task: TeamTask }) {
  const asked = useQuery(unresolvedQuery).data?.escalations.find(({ id }) => id === task.escalation_id);
  const decides = task.state === "partial_completion" || task.waiting_for === "decision";
  const why = whyOf(task) || (asked?.title ?? asked?.text ?? "");
  const answer = task.escalation_id === null ? linkTo("inbox") : linkToOne("escalation", task.escalation_id);
  return (
    <>
      <span className="glance-row">
        <span>
          <TaskLink run={run} task={task} /> <span className="glance-soft">{lookOf(task).label.toLowerCase()}</span>
        </span>
        <a
          className="button"
          aria-label={`${decides ? "Decide" : "Answer"} ${task.id}`}
          {...(decides ? linkToTask(run.id, task.id) : answer)}
        >
          {decides ? "Decide" : "Answer"}
        </a>
      </span>
      {why !== "" && (
        <span className="glance-why" dir="auto">
          {firstLine(why, 180)}
        </span>
      )}
    </>
  );
}

function Since({ since }: { since: string }) {
  const start = Date.parse(since);
  const words = useWords((now) => (now - start < 10_000 ? "some seconds" : formatSpan(now - start)));
  return <time dateTime={since}>{words}</time>;
}

function Cost({ run }: { run: TeamRun }) {
  const { tokens, cost_usd: cost } = run;
  const used = `${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}`;
  const took = useWords((now) => {
    const span = spanOf(run, now);
    if (span === null) return "";
    return isOver(run.state) ? formatSeconds(span / 1_000) : span < 10_000 ? "some seconds" : formatSpan(span);
  });
  return (
    <Cell name="Cost" icon="coin" many={cost === null ? fewTokens(tokens) : dollars(cost)} unit={cost === null ? "tokens" : ""}>
      <p>{cost !== null ? used : tokens === 0 ? "Nothing was used." : `${used}; none of the turns had a price.`}</p>
      {took !== "" && (
        <p className="card-hint">
          {isOver(run.state) ? "It took" : "It has been at it for"} {took}.
        </p>
      )}
    </Cell>
  );
}
