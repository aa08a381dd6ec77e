/** One task beside its run; on a narrow window over it. Escape closes it. */
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, type KeyboardEvent } from "react";
import { teamTaskQuery } from "../api/team-queries";
import type { TeamRun, TeamTask } from "../api/types";
import { linkToOne, linkToTask } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { Icon } from "../ui/Icon";
import { isTyping } from "../ui/keys";
import { EmptyState } from "../ui/Notice";
import { plainText } from "../ui/plain-text";
import { Words } from "../ui/Words";
import { Artifacts } from "./Artifacts";
import { Attempts } from "./Attempts";
import { whyOf } from "./glance";
import { TaskCommands } from "./TaskCommands";
import { costInWords, lookOf, openBlockers } from "./wording";

interface Props {
  run: TeamRun;
  id: string;
  onClose: () => void;
}

export function TaskDrawer({ run, id, onClose }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const task = run.all_tasks.find((one) => one.id === id);
  useEffect(() => heading.current?.focus({ preventScroll: true }), [id]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key !== "Escape" || event.defaultPrevented || isTyping(event.target)) return;
    event.preventDefault();
    onClose();
  }

  return (
    <section className="side drawer task-drawer" aria-labelledby="task-title" onKeyDown={onKeyDown}>
      <header className="side-head">
        <h2 id="task-title" ref={heading} tabIndex={-1}>
          {plainText(id)}
        </h2>
        <button type="button" className="tool" aria-label="Close the task" title="Close (Esc)" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="side-body">
        {task === undefined ? (
          <EmptyState title="The run has no task of this id">
            <p>
              <a {...linkToOne("team", run.id)}>To the run</a>
            </p>
          </EmptyState>
        ) : (
          <Whole run={run} task={task} />
        )}
      </div>
    </section>
  );
}

function Whole({ run, task }: { run: TeamRun; task: TeamTask }) {
  const detail = useQuery(teamTaskQuery(run.id, task.id)).data;
  // What passed says so by its score.
  const why = task.state === "completed" ? (task.reason ?? "") : whyOf(task);
  const asks = task.state === "waiting" && task.waiting_for !== "decision";
  return (
    <div className="task">
      <p className="card-head">
        <Mark look={lookOf(task)} />
        <span>{plainText(task.owner)}</span>
        {task.attempt > 0 && (
          <span>
            try {task.attempt}
            {task.version > 1 && `, version ${task.version}`}
          </span>
        )}
      </p>
      <p className="words task-goal-whole" dir="auto">
        <Words text={task.goal} />
      </p>
      {why !== "" && (
        <p className="mark" data-tone={lookOf(task).tone === "plain" ? undefined : lookOf(task).tone}>
          <Icon name={lookOf(task).icon} />
          <span dir="auto">{plainText(why)}</span>
        </p>
      )}
      {asks && task.escalation_id !== null && (
        <p className="bar">
          <a className="button" {...linkToOne("escalation", task.escalation_id)}>
            Answer its card
          </a>
        </p>
      )}
      <TaskCommands run={run} task={task} />
      <Facts run={run} task={task} />
      <section aria-labelledby="task-attempts">
        <h3 id="task-attempts">Attempts</h3>
        {detail && <Attempts attempts={detail.attempts} />}
      </section>
      <section aria-labelledby="task-artifacts">
        <h3 id="task-artifacts">Artifacts</h3>
        <Artifacts run={run.id} task={task.id} />
      </section>
      {detail !== undefined && detail.words.length > 0 && (
        <section aria-labelledby="task-words">
          <h3 id="task-words">Said to it</h3>
          <ul className="said-to">
            {detail.words.map((each, index) => (
              <li key={index} className="words" dir="auto">
                <Words text={each} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function Facts({ run, task }: { run: TeamRun; task: TeamTask }) {
  const tasks = new Map(run.all_tasks.map((one) => [one.id, one]));
  const open = new Set(openBlockers(task, tasks));
  const after = run.all_tasks.filter(({ blocked_by }) => blocked_by.includes(task.id)).map(({ id }) => id);
  return (
    <dl className="facts team-facts">
      <div>
        <dt>After</dt>
        <dd>
          <Ids run={run.id} ids={task.blocked_by} open={open} none="nothing: it can begin at once" />
        </dd>
      </div>
      <div>
        <dt>Before</dt>
        <dd>
          <Ids run={run.id} ids={after} none="nothing waits for it" />
        </dd>
      </div>
      <div>
        <dt>Agent</dt>
        <dd>
          {plainText(task.agent)}
          {task.session_id !== null && (
            <>
              {", "}
              <a {...linkToOne("session", task.session_id)}>its session</a>
            </>
          )}
        </dd>
      </div>
      <div>
        <dt>Hands in</dt>
        <dd>{task.output === "mixed" ? "code and an artifact" : task.output === "codebase" ? "code" : "an artifact"}</dd>
      </div>
      {task.merged !== null && (
        <div>
          <dt>Merged</dt>
          <dd>
            <code>{plainText(task.merged).slice(0, 12)}</code>
          </dd>
        </div>
      )}
      {task.revises !== null && (
        <div>
          <dt>Revises</dt>
          <dd>
            <Ids run={run.id} ids={[task.revises]} none="" />
          </dd>
        </div>
      )}
      <div>
        <dt>Cost</dt>
        <dd>{costInWords(task)}</dd>
      </div>
    </dl>
  );
}

function Ids({ run, ids, open, none }: { run: string; ids: string[]; open?: ReadonlySet<string>; none: string }) {
  if (ids.length === 0) return <span className="task-none">{none}</span>;
  return (
    <span className="task-ids">
      {ids.map((id) => (
        <span key={id}>
          <a className="task-link" {...linkToTask(run, id)}>
            {plainText(id)}
          </a>
          {open?.has(id) === true && <span className="glance-soft"> not done</span>}
        </span>
      ))}
    </span>
  );
}
