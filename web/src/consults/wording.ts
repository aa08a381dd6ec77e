/** The words and marks for what a consult says by code. Pure. */
import type { Consult, ConsultStatus, ConsultSummary, OrderLine, PromptLayer } from "../api/types";
import { Refused } from "../api/problem.ts";
import type { Look } from "../handoffs/wording";
import { plainText } from "../ui/plain-text.ts";

export const STATUSES: Record<ConsultStatus, Look> = {
  prepared: { label: "Prompt only", icon: "brief", tone: "plain" },
  running: { label: "Running", icon: "hourglass", tone: "warn" },
  completed: { label: "Completed", icon: "check", tone: "good" },
  failed: { label: "Failed", icon: "refused", tone: "bad" },
  timed_out: { label: "Timed out", icon: "clock", tone: "bad" },
  cancelled: { label: "Cancelled", icon: "close", tone: "plain" },
  closed: { label: "Closed", icon: "stamp", tone: "plain" },
};

export const SKILLS: Readonly<Record<string, string>> = {
  epic_order: "Order of epics",
  ask: "Question",
  refine: "Refinement",
  escalation_handoff: "Handing an escalation on",
  what_remains: "What remains",
  add_to_backlog: "New items",
  change_this: "Change of an item",
  sprint_retro: "Retrospective",
  perspective: "Perspective",
  walk_summary: "Summary of a walk",
  team_plan: "Plan of a team",
};

export function skillOf(id: string): string {
  return SKILLS[id] ?? plainText(id);
}

export const WARNINGS: Record<Extract<OrderLine, { type: "warning" }>["kind"], string> = {
  parallel_conflict: "Cannot run at once",
  dep_cycle: "Wait for each other in a circle",
  budget_overrun: "Over the budget",
  missing_signal: "Something is not known",
};

export const LAYERS: Record<PromptLayer["name"], string> = {
  project_values: "Project values",
  workspace_values: "Workspace values",
  persona: "Persona",
  skill: "Skill",
  context: "Context",
  message: "Message",
};

/** The built-in advisor's name for itself. */
const ADVISOR = "gemba-advisor";
const INSTEAD = "; the built-in advisor answered instead";

/** Why the built-in advisor stood in for another one; null where it did not. */
export function stoodIn({ error }: Pick<Consult, "error">): string | null {
  if (error === null || !error.endsWith(INSTEAD)) return null;
  return plainText(error.slice(0, -INSTEAD.length));
}

export function answeredBy({ model, status }: Pick<ConsultSummary, "model" | "status">): string {
  if (model === ADVISOR) return "the built-in advisor";
  if (model !== null) return plainText(model);
  return status === "running" ? "not known yet" : "not said";
}

export const isApplicable = (status: ConsultStatus): boolean => status === "running" || status === "completed";

const dollarsAt = (digits: number) =>
  new Intl.NumberFormat("en-US", { style: "currency", currency: "USD", maximumFractionDigits: digits });
const cents = dollarsAt(2);
const fine = dollarsAt(4);

/** "$0.25", and what is less than a cent with all its digits. */
export function formatDollars(amount: number): string {
  return (amount !== 0 && Math.abs(amount) < 0.01 ? fine : cents).format(amount);
}

/** What it took: tokens, dollars, time; only what is known. */
export function usageOf(consult: ConsultSummary): string[] {
  const { tokens, dollars, latency_ms: latency } = consult;
  const found: string[] = [];
  if (tokens.total > 0)
    found.push(`${count(tokens.total)} tokens (${count(tokens.input)} in, ${count(tokens.output)} out)`);
  if (dollars !== null) found.push(formatDollars(dollars));
  if (latency !== null) found.push(latency < 1_000 ? `${latency} ms` : `${count(Math.round(latency / 100) / 10)} s`);
  return found;
}

export const count = (number: number): string => number.toLocaleString("en-US");

export const percent = (share: number): string => `${Math.round(share * 100)} %`;

const PROBLEMS: Readonly<Record<number, string>> = {
  400: "This line suggests nothing that could be applied",
  403: "Not allowed",
  404: "It can no longer be applied",
  409: "Somebody applied it already",
  424: "Refused by its own route, nothing was changed",
};

/** A word for how applying went wrong, before the server's own sentence. */
export function problemOf(error: unknown): string {
  return (error instanceof Refused ? PROBLEMS[error.status] : undefined) ?? "Not applied";
}
