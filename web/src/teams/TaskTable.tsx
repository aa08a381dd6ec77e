/** The tasks of a run in their order, as a table: the same as the picture, and what each costs and waits for. */
import { memo, useMemo, useState } from "react";
import type { TeamRun, TeamTask } from "../api/types";
import { linkToTask } from "../app/routes";
import { Mark } from "../handoffs/Mark";
import { Age, useWords } from "../ui/Age";
import { firstLine, plainText } from "../ui/plain-text";
import { formatSeconds, formatSpan } from "../ui/time";
import { points } from "./gate";
import { lookOf, openBlockers } from "./wording";

const SHOWN = 200;
const FEW = 3;

export function TaskTable({ run, chosen }: { run: TeamRun; chosen: string | null }) {
  const [most, setMost] = useState(SHOWN);
  const tasks = useMemo(() => new Map(run.all_tasks.map((task) => [task.id, task])), [run.all_tasks]);
  return (
    <>
      <table className="task-table">
        <caption className="visually-hidden">The tasks of the run, in the order of its graph</caption>
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col">Score</th>
            <th scope="col">Waits for</th>
            <th scope="col">Time</th>
            <th scope="col">Tokens</th>
          </tr>
        </thead>
        <tbody>
          {run.all_tasks.slice(0, most).map((task) => (
            <Row key={task.id} run={run.id} task={task} waits={openBlockers(task, tasks).join(" ")} isChosen={task.id === chosen} />
          ))}
        </tbody>
      </table>
      {run.all_tasks.length > most && (
        <p className="more">
          <button type="button" className="button" onClick={() => setMost(most + SHOWN)}>
            Show {Math.min(SHOWN, run.all_tasks.length - most)} more of {run.all_tasks.length}
          </button>
        </p>
      )}
    </>
  );
}

interface RowProps {
  run: string;
  task: TeamTask;
  waits: string;
  isChosen: boolean;
}

const Row = memo(function Row({ run, task, waits, isChosen }: RowProps) {
  const ids = waits === "" ? [] : waits.split(" ");
  return (
    <tr data-state={task.state} data-chosen={isChosen || undefined}>
      <th scope="row">
        <a className="task-link" {...linkToTask(run, task.id)}>
          {plainText(task.id)}
        </a>{" "}
        <span className="task-owner">{plainText(task.owner)}</span>
        <span className="task-goal" dir="auto">
          {firstLine(task.goal, 120)}
        </span>
      </th>
      <td data-label="State">
        <Mark look={lookOf(task)} />
        {(task.attempt > 1 || task.version > 1) && (
          <span className="task-note">
            {[task.attempt > 1 && `try ${task.attempt}`, task.version > 1 && `version ${task.version}`].filter(Boolean).join(", ")}
          </span>
        )}
      </td>
      <td data-label="Score">{task.score === null ? <None /> : points(task.score)}</td>
      <td data-label="Waits for">
        {ids.length === 0 ? (
          task.state === "waiting" || task.state === "partial_completion" ? "you" : <None />
        ) : (
          <>
            {ids.slice(0, FEW).join(", ")}
            {ids.length > FEW && ` and ${ids.length - FEW} more`}
          </>
        )}
      </td>
      <td data-label="Time">
        <Time task={task} />
      </td>
      <td data-label="Tokens">{task.tokens === 0 ? <None /> : task.tokens.toLocaleString("en")}</td>
    </tr>
  );
});

function None() {
  return (
    <span className="task-none">
      <span aria-hidden="true">–</span>
      <span className="visually-hidden">none</span>
    </span>
  );
}

function Time({ task }: { task: TeamTask }) {
  if (task.started_at === null) return <None />;
  if (task.ended_at !== null) return <>{formatSeconds((Date.parse(task.ended_at) - Date.parse(task.started_at)) / 1_000)}</>;
  if (task.state === "pending") return <Age since={task.started_at} ago />;
  return <Running since={task.started_at} />;
}

function Running({ since }: { since: string }) {
  const start = Date.parse(since);
  return <>{useWords((now) => `for ${now - start < 10_000 ? "some seconds" : formatSpan(now - start)}`)}</>;
}
