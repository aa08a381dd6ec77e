/** Which commands a run and a task take where they stand, as the server's tables have it. Pure. */
import type { TaskCommand } from "../api/team-deeds";
import type { TeamState, TeamTask } from "../api/types";

const FROM: Record<TaskCommand, readonly string[]> = {
  accept: ["decision", "partial_completion", "completed_with_warnings"],
  retry: ["waiting", "decision", "partial_completion", "failed", "skipped"],
  revise: ["pending", "waiting", "decision", "completed", "completed_with_warnings", "partial_completion", "failed", "skipped"],
  skip: ["pending", "claimed", "running", "verifying", "waiting", "decision", "partial_completion", "failed"],
};

const ORDER: readonly TaskCommand[] = ["accept", "retry", "revise", "skip"];

export function taskCommands(
  run: TeamState,
  task: Pick<TeamTask, "state" | "waiting_for" | "gate">,
): TaskCommand[] {
  if (run === "planned" || run === "cancelled") return [];
  const stands = task.state === "waiting" && task.waiting_for === "decision" ? "decision" : task.state;
  const allowed = ORDER.filter((command) => FROM[command].includes(stands));
  // Without a gate nothing was handed in that could be taken as it is.
  return task.gate === null ? allowed.filter((command) => command !== "accept") : allowed;
}

export type RunDeed = "start" | "pause" | "resume" | "feedback" | "improve" | "archive" | "cancel";

export const RUN_KEYS: Record<RunDeed, string> = {
  start: "s",
  pause: "p",
  resume: "p",
  feedback: "f",
  improve: "i",
  archive: "a",
  cancel: "c",
};

const DEEDS: Record<TeamState, readonly RunDeed[]> = {
  planned: ["start", "feedback", "cancel"],
  running: ["pause", "feedback", "improve", "cancel"],
  paused: ["resume", "feedback", "improve", "cancel"],
  completed: ["improve", "archive"],
  completed_with_warnings: ["improve", "archive"],
  failed: ["improve", "archive"],
  cancelled: ["archive"],
};

export function runDeeds({ state, archived_at, all_tasks: tasks }: {
  state: TeamState;
  archived_at: string | null;
  all_tasks: readonly Pick<TeamTask, "score">[];
}): RunDeed[] {
  const isImprovable = tasks.some(({ score }) => score !== null && score < 100);
  return DEEDS[state].filter(
    (deed) => (deed !== "archive" || archived_at === null) && (deed !== "improve" || isImprovable),
  );
}
