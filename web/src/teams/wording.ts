/** Runs and their tasks in words and marks. Pure. */
import type { TeamRun, TeamState, TeamSummary, TeamTask, TeamTaskState } from "../api/types";
import type { Look } from "../handoffs/wording";

export const RUN_STATES: Record<TeamState, Look> = {
  planned: { label: "Planned", icon: "clock", tone: "plain" },
  running: { label: "Running", icon: "play", tone: "good" },
  paused: { label: "Paused", icon: "pause", tone: "warn" },
  completed: { label: "Completed", icon: "stamp", tone: "good" },
  completed_with_warnings: { label: "Completed with warnings", icon: "warn", tone: "warn" },
  failed: { label: "Failed", icon: "refused", tone: "bad" },
  cancelled: { label: "Cancelled", icon: "close", tone: "plain" },
};

export const TASK_STATES: Record<TeamTaskState, Look> = {
  pending: { label: "Pending", icon: "dot", tone: "plain" },
  claimed: { label: "Starting", icon: "play", tone: "plain" },
  running: { label: "Running", icon: "play", tone: "good" },
  verifying: { label: "At the gate", icon: "gate", tone: "plain" },
  waiting: { label: "Waits", icon: "hand", tone: "warn" },
  completed: { label: "Completed", icon: "check", tone: "good" },
  completed_with_warnings: { label: "With warnings", icon: "warn", tone: "warn" },
  partial_completion: { label: "Gate failed", icon: "hand", tone: "bad" },
  failed: { label: "Failed", icon: "refused", tone: "bad" },
  skipped: { label: "Skipped", icon: "skip", tone: "plain" },
  cancelled: { label: "Cancelled", icon: "close", tone: "plain" },
};

const WAITS: Record<string, string> = {
  approval: "Waits for approval",
  input: "Waits for an answer",
  blocked: "Blocked",
  decision: "Waits for a decision",
};

type Standing = Pick<TeamTask, "state" | "waiting_for" | "escalation_id" | "open_blockers" | "errors">;

/** Somebody has accepted it already, and its work is being brought in. */
export function isBroughtIn(task: Pick<TeamTask, "state" | "escalation_id" | "reason">): boolean {
  return task.state === "partial_completion" && task.escalation_id === null && (task.reason ?? "").startsWith("accepted by ");
}

export function lookOf(task: Standing & Pick<TeamTask, "reason" | "surveyed">): Look {
  const look = TASK_STATES[task.state];
  if (task.surveyed) return { ...look, label: "Surveyed only" };
  if (task.state === "waiting") return { ...look, label: WAITS[task.waiting_for ?? ""] ?? look.label };
  if (isBroughtIn(task)) return { label: "Accepted, brought in", icon: "gate", tone: "plain" };
  if (task.state !== "pending") return look;
  if (task.open_blockers > 0) return look;
  return task.errors > 0
    ? { label: "Tried again soon", icon: "hourglass", tone: "warn" }
    : { label: "Ready", icon: "dot", tone: "plain" };
}

/** How the bar of a run is parted, in this order. */
export const SHARES = [
  { name: "done", label: "done", states: ["completed", "completed_with_warnings"] },
  { name: "work", label: "at work", states: ["claimed", "running", "verifying"] },
  { name: "wait", label: "wait for you", states: ["waiting", "partial_completion"] },
  { name: "lost", label: "failed or left out", states: ["failed", "skipped", "cancelled"] },
  { name: "open", label: "to come", states: ["pending"] },
] as const satisfies readonly { name: string; label: string; states: readonly TeamTaskState[] }[];

export interface Share {
  name: (typeof SHARES)[number]["name"];
  label: string;
  many: number;
}

export function sharesOf({ states }: Pick<TeamSummary, "states">): Share[] {
  return SHARES.map(({ name, label, states: of }) => ({
    name,
    label,
    many: of.reduce((sum, state) => sum + (states[state] ?? 0), 0),
  }))
    .filter(({ many }) => many > 0)
    .map((share) => (share.many === 1 && share.name === "wait" ? { ...share, label: "waits for you" } : share));
}

/** "3 done, 1 at work, 2 to come". */
export function sharesInWords(shares: Share[]): string {
  return shares.map(({ label, many }) => `${many} ${label}`).join(", ");
}

export const isOver = (state: TeamState) =>
  state === "completed" || state === "completed_with_warnings" || state === "failed" || state === "cancelled";

const money = new Intl.NumberFormat("en", { style: "currency", currency: "USD", minimumFractionDigits: 2 });
const cents = new Intl.NumberFormat("en", { style: "currency", currency: "USD", maximumFractionDigits: 4 });

export function dollars(cost: number): string {
  return (cost > 0 && cost < 0.1 ? cents : money).format(cost);
}

/** "12,345 tokens, $1.20"; the price is left out where nothing had one. */
export function costInWords({ tokens, cost_usd: cost }: Pick<TeamSummary, "tokens" | "cost_usd">): string {
  const used = `${tokens.toLocaleString("en")} ${tokens === 1 ? "token" : "tokens"}`;
  return cost === null ? used : `${used}, ${dollars(cost)}`;
}

const OUTCOMES: Record<string, Look> = {
  passed: { label: "Passed the gate", icon: "check", tone: "good" },
  passed_with_warnings: { label: "Passed with warnings", icon: "warn", tone: "warn" },
  sent_back: { label: "Sent back by the gate", icon: "undo", tone: "warn" },
  given_up: { label: "Gate gave up", icon: "refused", tone: "bad" },
  held: { label: "Waits for a person", icon: "hand", tone: "warn" },
  error: { label: "Broke off", icon: "refused", tone: "bad" },
};

/** How an attempt ended. */
export function outcomeOf(outcome: string | null, isLatest: boolean): Look {
  if (outcome === null) return isLatest ? { label: "At work", icon: "play", tone: "good" } : { label: "Left", icon: "close", tone: "plain" };
  return OUTCOMES[outcome] ?? { label: outcome.replaceAll("_", " "), icon: "dot", tone: "plain" };
}

/** The tasks that a task still waits for. */
export function openBlockers(task: Pick<TeamTask, "state" | "blocked_by">, tasks: ReadonlyMap<string, TeamTask>): string[] {
  if (task.state !== "pending") return [];
  return task.blocked_by.filter((id) => {
    const state = tasks.get(id)?.state;
    return state !== "completed" && state !== "completed_with_warnings";
  });
}

/** All that hangs on a task, near or far, in the order of the run. */
export function dependentsOf(id: string, tasks: readonly Pick<TeamTask, "id" | "blocked_by">[]): string[] {
  const found = new Set([id]);
  // They stand in graph order: one pass finds all.
  for (const task of tasks) if (task.blocked_by.some((each) => found.has(each))) found.add(task.id);
  found.delete(id);
  return [...found];
}

/** How long a run or a task took, or has been at it. */
export function spanOf(times: Pick<TeamRun, "started_at" | "ended_at">, now: number): number | null {
  if (times.started_at === null) return null;
  return (times.ended_at === null ? now : Date.parse(times.ended_at)) - Date.parse(times.started_at);
}
