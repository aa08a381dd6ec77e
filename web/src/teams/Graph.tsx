/**
 * The tasks of a run as a picture: boxes in layers by depth, lines from what blocks to what is blocked, each box with its
 * state by mark, word and outline, so that the colour only repeats it. The arrows move along the lines, Enter opens.
 */
import { memo, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { TeamRun, TeamTask } from "../api/types";
import { linkToTask } from "../app/routes";
import { Icon } from "../ui/Icon";
import { isCommand } from "../ui/keys";
import { firstLine } from "../ui/plain-text";
import { points } from "./gate";
import { BOX, layOut, neighbour, type Direction, type Layout } from "./layout";
import { lookOf } from "./wording";

/** More boxes tell nobody anything; the table has them all. */
export const MOST_DRAWN = 400;
/** Boxes may shrink to this before the picture is scrolled. */
const SMALLEST = 0.72;
const EDGE = 6;

const structureOf = (tasks: readonly TeamTask[]) => tasks.map(({ id, blocked_by }) => `${id}<${blocked_by.join(",")}`).join(";");

/** The picture stays the same object as long as no task is added and nothing hangs on something else. */
function useLayout(tasks: readonly TeamTask[]): Layout {
  const structure = structureOf(tasks);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- the states of the tasks are no part of their places
  return useMemo(() => layOut(tasks.map(({ id, blocked_by }) => ({ id, blocked_by }))), [structure]);
}

const ARROWS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);

export function Graph({ run, chosen }: { run: TeamRun; chosen: string | null }) {
  const layout = useLayout(run.all_tasks);
  const [reached, setReached] = useState<string | null>(null);
  const picture = useRef<SVGSVGElement>(null);
  const tasks = useMemo(() => new Map(run.all_tasks.map((task) => [task.id, task])), [run.all_tasks]);
  const first = layout.layers[0]?.[0] ?? null;
  const current = [reached, chosen, first].find((id) => id !== null && layout.placed.has(id)) ?? null;

  const near = reached ?? chosen;

  // A picture that is higher than its window opens on what is at work, or else on where it begins.
  useLayoutEffect(() => {
    const box = picture.current?.querySelector('[data-state="running"], [data-state="waiting"]') ?? picture.current?.querySelector(".team-box");
    const frame = picture.current?.parentElement;
    if (!box || !frame || frame.scrollHeight <= frame.clientHeight) return;
    const [at, around] = [box.getBoundingClientRect(), frame.getBoundingClientRect()];
    frame.scrollTop += at.top - around.top - frame.clientHeight / 2 + at.height / 2;
    frame.scrollLeft += Math.max(0, at.left - around.left - frame.clientWidth / 2 + at.width / 2);
  }, []);

  function onKeyDown(event: KeyboardEvent): void {
    if (current === null || !ARROWS.has(event.key) || event.shiftKey || !isCommand(event)) return;
    const next = neighbour(layout, current, event.key as Direction);
    event.preventDefault();
    if (next === null) return;
    const box = picture.current?.querySelector<SVGAElement>(`[data-task="${CSS.escape(next)}"] a`);
    box?.focus({ preventScroll: true });
    box?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  const width = layout.width + 2 * EDGE;
  const height = layout.height + 2 * EDGE;
  return (
    <div className="team-graph">
      <svg
        ref={picture}
        viewBox={`${-EDGE} ${-EDGE} ${width} ${height}`}
        style={{ width: "100%", maxWidth: width, minWidth: width * SMALLEST }}
        role="group"
        aria-label={`${run.all_tasks.length} tasks, by what they wait for`}
        onKeyDown={onKeyDown}
      >
        <defs>
          <marker id="team-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerUnits="userSpaceOnUse" markerWidth="9" markerHeight="9" orient="auto">
            <path d="M0 0.5 7 4 0 7.5Z" />
          </marker>
        </defs>
        {layout.lines.map(({ from, to, path }) => (
          <path
            key={`${from} ${to}`}
            className="team-line"
            data-done={isDone(tasks.get(from)) || undefined}
            data-near={near !== null && (near === from || near === to) ? "" : undefined}
            d={path}
            markerEnd="url(#team-arrow)"
          />
        ))}
        {run.all_tasks.map((task) => {
          const placed = layout.placed.get(task.id);
          return (
            placed && (
              <TaskBox
                key={task.id}
                run={run.id}
                task={task}
                x={placed.x}
                y={placed.y}
                isCurrent={task.id === current}
                isChosen={task.id === chosen}
                onReach={setReached}
              />
            )
          );
        })}
      </svg>
    </div>
  );
}

const isDone = (task: TeamTask | undefined) => task?.state === "completed" || task?.state === "completed_with_warnings";

interface BoxProps {
  run: string;
  task: TeamTask;
  x: number;
  y: number;
  isCurrent: boolean;
  isChosen: boolean;
  onReach: (id: string) => void;
}

/** Drawn again only when its own task changed. */
const TaskBox = memo(function TaskBox({ run, task, x, y, isCurrent, isChosen, onReach }: BoxProps) {
  const look = lookOf(task);
  const words = `${look.label}${task.attempt > 1 ? ` · try ${task.attempt}` : ""}`;
  const version = task.version > 1 ? `, version ${task.version}` : "";
  const score = task.score === null ? "" : points(Math.floor(task.score));
  // What is seen stands in the name as it is seen.
  const seen = [task.id, score, words].filter((part) => part !== "").join(" ");
  const behind = task.blocked_by.length === 0 ? "" : `, after ${task.blocked_by.slice(0, 5).join(", ")}${task.blocked_by.length > 5 ? " and others" : ""}`;
  return (
    <g className="team-box" transform={`translate(${x} ${y})`} data-task={task.id} data-state={task.state} data-tone={look.tone}>
      <a
        {...linkToTask(run, task.id)}
        tabIndex={isCurrent ? 0 : -1}
        aria-label={`${seen}${version}${behind}`}
        aria-current={isChosen ? "true" : undefined}
        onFocus={() => onReach(task.id)}
      >
        <title>{firstLine(task.goal, 300)}</title>
        <rect className="box" width={BOX.width} height={BOX.height} rx="10" />
        <rect className="box-state" width="30" height={BOX.height} rx="10" />
        <g transform={`translate(7 ${BOX.height / 2 - 8})`}>
          <Icon name={look.icon} />
        </g>
        <text x="38" y="23" className="box-id">
          {firstLine(task.id, 16)}
        </text>{" "}
        {score !== "" && (
          <text x={BOX.width - 10} y="23" className="box-score" textAnchor="end">
            {score}
          </text>
        )}{" "}
        <text x="38" y="42" className="box-words">
          {words}
        </text>
      </a>
    </g>
  );
});
