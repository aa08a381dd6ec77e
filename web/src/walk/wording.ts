/** A walk in words and marks. Pure. */
import type {
  AgendaItem,
  ConsultStatus,
  Escalation,
  WalkAction,
  WalkDecision,
  WalkHint,
  WalkSource,
  WalkSummary,
  WalkTotals,
} from "../api/types";
import { Refused } from "../api/problem.ts";
import { actionWords } from "../consults/lines.ts";
import { formatDollars } from "../consults/wording.ts";
import type { Look } from "../handoffs/wording";
import { kindOf } from "../inbox/wording.ts";
import type { IconName } from "../ui/Icon";
import { plainText } from "../ui/plain-text.ts";
import { toGo } from "./agenda.ts";
import type { Until } from "./keys";

export type DecisionKind = WalkDecision["kind"];

export const STATUSES: Record<WalkSummary["status"], Look> = {
  active: { label: "Under way", icon: "steps", tone: "good" },
  paused: { label: "Paused", icon: "pause", tone: "warn" },
  completed: { label: "Completed", icon: "check", tone: "good" },
  abandoned: { label: "Abandoned", icon: "close", tone: "plain" },
};

const SOURCES: Record<Exclude<WalkSource["kind"], "escalation">, { label: string; icon: IconName }> = {
  team_task: { label: "Suspended task", icon: "graph" },
  session: { label: "Failed session", icon: "terminal" },
  filed: { label: "New work", icon: "columns" },
  closed: { label: "Look back", icon: "undo" },
  memory: { label: "To remember", icon: "bookmark" },
  item: { label: "Work item", icon: "columns" },
  topic: { label: "Topic", icon: "topic" },
};

/** What an item is: of an escalation its own kind, where that is known. */
export function sourceOf(
  source: Pick<WalkSource, "kind">,
  escalation?: Pick<Escalation, "kind">,
): { label: string; icon: IconName } {
  if (source.kind !== "escalation") return SOURCES[source.kind] ?? { label: plainText(source.kind), icon: "question" };
  return escalation === undefined ? { label: "Ask", icon: "question" } : kindOf(escalation);
}

/** Work that can be sent to the backlog. */
export const isWork = ({ kind }: Pick<WalkSource, "kind">): boolean =>
  kind === "filed" || kind === "closed" || kind === "item";

const VERBS: Record<DecisionKind, string> = {
  ratify: "Ratify",
  modify: "Modify",
  reject: "Reject",
  defer: "Defer",
  handoff: "Hand off",
};

export const verbOf = (kind: DecisionKind): string => VERBS[kind];

const DONE: Record<DecisionKind, Look> = {
  ratify: { label: "Ratified", icon: "check", tone: "good" },
  modify: { label: "Modified", icon: "check", tone: "good" },
  reject: { label: "Rejected", icon: "refused", tone: "bad" },
  defer: { label: "Deferred", icon: "clock", tone: "warn" },
  handoff: { label: "Handed off", icon: "handover", tone: "plain" },
};

const REFUSED: Look = { label: "Refused", icon: "refused", tone: "bad" };

/** What became of an item: a "no" that was ratified is a refusal, whatever key gave it. */
export const doneOf = ({ kind, action }: Pick<WalkDecision, "kind" | "action">): Look =>
  action?.body["decision"] === "no" ? REFUSED : DONE[kind];

const QUEUED: Look = { label: "Waits", icon: "dot", tone: "plain" };
const ON_TABLE: Look = { label: "On the table", icon: "chevron", tone: "good" };
const SETTLED: Look = { label: "Settled elsewhere", icon: "stamp", tone: "plain" };
const SENDING: Look = { label: "Decided", icon: "hourglass", tone: "plain" };

/** How an item of the agenda stands. */
export function lookOf({ status, settled, decision }: Pick<AgendaItem, "status" | "settled" | "decision">): Look {
  if (status === "dismissed" || (settled !== null && status !== "decided")) return SETTLED;
  if (status === "active") return ON_TABLE;
  if (status === "queued") return QUEUED;
  if (decision !== null) return doneOf(decision);
  return status === "deferred" ? DONE.defer : SENDING;
}

/** A sentence that ends with the topic, which is said already, without it. */
export function withoutTopic(sentence: string, topic: string): string {
  if (topic === "" || sentence === topic || !sentence.endsWith(topic)) return sentence;
  return `${sentence.slice(0, -topic.length).trimEnd().replace(/:$/, "")}.`;
}

/** How far the persona is that an item was handed to. */
export function handedOf(persona: string, status: ConsultStatus | undefined): string {
  const who = plainText(persona);
  if (status === "running" || status === "prepared") return `${who} thinks about it`;
  return status === "completed" || status === "closed" ? `${who} has answered` : `${who} could not answer`;
}

export const UNTIL: Record<Until, string> = {
  later: "Later",
  hour: "In an hour",
  tomorrow: "Tomorrow 9:00",
  backlog: "To the backlog",
};

const many = (count: number, one: string, more = `${one}s`) => `${count} ${count === 1 ? one : more}`;

/** To those who do not see it: what was decided, what is on the table now, how many are left. */
export function toldOf(kind: DecisionKind, topic: string, next: string | null, left: number): string {
  const now = next === null ? "Nothing else is on the agenda" : `Now: ${plainText(next)}. ${left} to go`;
  return `${DONE[kind].label}: ${plainText(topic)}. ${now}`;
}

/** Why a walk is offered, in a line. */
export function offerOf({ waiting, blocking, overdue }: WalkHint): string {
  const parts = [
    ...(blocking > 0 ? [`${blocking} ${blocking === 1 ? "blocks" : "block"}`] : []),
    ...(overdue > 0 ? [`${overdue} ${overdue === 1 ? "waits" : "wait"} too long`] : []),
  ];
  return [many(waiting, "thing waits", "things wait"), ...parts].join(", ");
}

export interface Figure {
  name: string;
  value: string;
}

/** What came of a walk so far, without how long it took. */
export function figuresOf(totals: WalkTotals): Figure[] {
  const { items, decided, deferred, dismissed, applied, work_touched: touched, consults, dollars } = totals;
  return [
    { name: "to go", value: `${toGo(totals)} of ${items}` },
    { name: "decided", value: String(decided) },
    ...(deferred > 0 ? [{ name: "deferred", value: String(deferred) }] : []),
    ...(dismissed > 0 ? [{ name: "settled elsewhere", value: String(dismissed) }] : []),
    { name: "applied", value: String(applied) },
    ...(touched.length > 0 ? [{ name: "work touched", value: String(touched.length) }] : []),
    ...(consults > 0 ? [{ name: "consults", value: String(consults) }] : []),
    ...(dollars !== null && consults > 0 ? [{ name: "cost", value: formatDollars(dollars) }] : []),
  ];
}

const KINDS: readonly DecisionKind[] = ["ratify", "modify", "reject", "defer", "handoff"];

/** "3 ratified, 1 rejected". */
export function decisionsOf({ decisions }: Pick<WalkTotals, "decisions">): string {
  return KINDS.flatMap((kind) => {
    const count = decisions[kind] ?? 0;
    return count > 0 ? [`${count} ${DONE[kind].label.toLowerCase()}`] : [];
  }).join(", ");
}

/** A walk by what its operator calls it. */
export function nameOf({ label }: Pick<WalkSummary, "label">): string {
  return label.trim() === "" ? "Walk" : plainText(label);
}

/** What an action does beyond its label; of a reply the words that the agent reads. */
export function doesWhat(action: WalkAction): string {
  const { label, path, body } = action;
  const { text, seconds } = body as { text?: unknown; seconds?: unknown };
  if (/^\/api\/escalations\/[^/]+\/respond$/.test(path))
    return typeof text === "string" && text !== label ? `The agent reads: ${plainText(text)}` : "";
  if (typeof seconds === "number" || path.startsWith("/api/approvals/")) return "";
  return plainText(actionWords(action));
}

/** Before the server's own sentence, where a decision did not take. */
export function problemOf(error: unknown): string {
  if (!(error instanceof Refused)) return "Not decided";
  switch (error.code) {
    case "settled_elsewhere":
      return "Settled elsewhere";
    case "already_decided":
      return "Decided already";
    case "action_refused":
      return "Refused by its own route, nothing was changed";
    default:
      return "Not decided";
  }
}
