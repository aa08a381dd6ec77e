/** What somebody who opens a run wants to know first: what runs, what waits for them, what failed and why. Pure. */
import type { TeamRun, TeamTask } from "../api/types";
import { isBroughtIn } from "./wording.ts";

export interface Glance {
  running: TeamTask[];
  waiting: TeamTask[];
  failed: TeamTask[];
  /** Broke and will be tried again by itself. */
  retried: TeamTask[];
  /** Left out, because something before them failed or because somebody said so. */
  skipped: number;
  /** Done with a survey in the place of what was asked for. */
  surveyed: TeamTask[];
}

const AT_WORK = new Set(["claimed", "running", "verifying"]);

export function glanceOf({ all_tasks: tasks }: Pick<TeamRun, "all_tasks">): Glance {
  return {
    running: tasks.filter((task) => AT_WORK.has(task.state) || isBroughtIn(task)),
    waiting: tasks.filter(
      (task) =>
        task.state === "waiting" ||
        (task.state === "partial_completion" && !isBroughtIn(task)) ||
        // Its agent asked in the middle of its turn, and waits there.
        (AT_WORK.has(task.state) && task.escalation_id !== null),
    ),
    failed: tasks.filter(({ state }) => state === "failed"),
    retried: tasks.filter(({ state, errors }) => state === "pending" && errors > 0),
    skipped: tasks.filter(({ state }) => state === "skipped").length,
    surveyed: tasks.filter(({ surveyed }) => surveyed),
  };
}

/** Why a task stands where it does, in its own words or those of its gate. */
export function whyOf(task: Pick<TeamTask, "reason" | "gate">): string {
  if (task.reason) return task.reason;
  const reason = (task.gate as { reason?: unknown } | null)?.reason;
  return typeof reason === "string" ? reason : "";
}
