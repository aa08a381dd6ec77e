/** A walk as it is shown: what the server knows, and over it the decisions that are on their way to it. Pure. */
import type { AgendaItem, Decide, Decided, Escalation, Said, Walk, WalkTotals } from "../api/types";

/** A decision that the server has not answered yet. */
export interface Sent {
  item: string;
  body: Decide;
}

const UNDECIDED: ReadonlySet<AgendaItem["status"]> = new Set(["queued", "active", "deferred"]);

export const isUndecided = ({ status }: Pick<AgendaItem, "status">): boolean => UNDECIDED.has(status);

/** Not looked at yet, and nobody has settled it elsewhere. */
const isQueued = ({ status, settled }: AgendaItem): boolean => status === "queued" && settled === null;

const byPlace = (one: AgendaItem, other: AgendaItem): number => one.place - other.place;

/** What comes after an item: the next that is queued, round and round; null when there is none. */
export function nextAfter(agenda: readonly AgendaItem[], item: Pick<AgendaItem, "id" | "place">): AgendaItem | null {
  const queued = agenda.filter((one) => one.id !== item.id && isQueued(one)).toSorted(byPlace);
  return queued.find(({ place }) => place > item.place) ?? queued[0] ?? null;
}

export function activeOf(walk: Pick<Walk, "agenda" | "active_item">): AgendaItem | null {
  return walk.agenda.find(({ id }) => id === walk.active_item) ?? null;
}

/** The walk as it will be once everything that is on its way has arrived. What has arrived already changes nothing. */
export function withSent(walk: Walk, sent: readonly Sent[]): Walk {
  return sent.reduce(withOneSent, walk);
}

function withOneSent(walk: Walk, { item: id, body }: Sent): Walk {
  const item = walk.agenda.find((one) => one.id === id);
  const status = becomes(body);
  const isOpen = item?.status === "queued" || item?.status === "active";
  if (item === undefined || !(isOpen || (item.status === "deferred" && status === "decided"))) return walk;
  const next = walk.active_item === id ? nextAfter(walk.agenda, item) : activeOf(walk);
  const agenda = walk.agenda.map((one) => {
    if (one.id === id) return { ...one, status };
    return one.id === next?.id ? { ...one, status: "active" as const } : one;
  });
  const totals = counted(walk.totals, item, body);
  return { ...walk, agenda, active_item: next?.id ?? null, left: totals.left, totals };
}

/** What is put off or handed on can be taken up again; all else is decided. */
function becomes({ kind, until }: Decide): "decided" | "deferred" {
  return (kind === "defer" && until !== "backlog") || kind === "handoff" ? "deferred" : "decided";
}

function counted(totals: WalkTotals, item: AgendaItem, body: Decide): WalkTotals {
  const wasDeferred = item.status === "deferred" ? 1 : 0;
  const isDecided = becomes(body) === "decided" ? 1 : 0;
  return {
    ...totals,
    decisions: { ...totals.decisions, [body.kind]: (totals.decisions[body.kind] ?? 0) + 1 },
    left: totals.left - isDecided,
    decided: totals.decided + isDecided,
    deferred: totals.deferred + (1 - isDecided) - wasDeferred,
  };
}

const ANSWER = /^\/api\/escalations\/[^/]+\/(respond|dismiss)$/;
const UNDOABLE = /^\/api\/(escalations\/[^/]+\/snooze|approvals\/[^/]+\/approve|work-items(\/[^/]+)?)$/;

/** Whether a decision may be taken back, as far as it is known here; the server has the last word. */
export function canTakeBack({ decision }: Pick<AgendaItem, "decision">, now: number): boolean {
  if (decision === null) return false;
  const { action, applied } = decision;
  if (action == null || applied == null) return true;
  if (ANSWER.test(action.path)) return applied.held_until != null && Date.parse(applied.held_until) > now;
  return UNDOABLE.test(action.path);
}

/** How many are still to be looked at: what was put off is not. */
export const toGo = ({ left, deferred }: Pick<WalkTotals, "left" | "deferred">): number => Math.max(0, left - deferred);

/** The walk with the server's word on one decision, until it is read anew. */
export function withDecided(walk: Walk, { item, next, totals }: Decided): Walk {
  const known = new Map([item, ...(next === null ? [] : [next])].map((one) => [one.id, one]));
  const agenda = walk.agenda.map((one) => {
    const word = known.get(one.id);
    if (word !== undefined) return word;
    // Only one is on the table.
    return one.status === "active" ? { ...one, status: "queued" as const } : one;
  });
  return { ...walk, agenda, totals, active_item: next?.id ?? null, left: totals.left };
}

export interface Parts {
  /** Not decided, in their order; the one on the table among them. */
  open: AgendaItem[];
  deferred: AgendaItem[];
  /** The last decided first. */
  done: AgendaItem[];
}

export function partsOf(agenda: readonly AgendaItem[]): Parts {
  const ordered = agenda.toSorted(byPlace);
  const when = ({ decision, place }: AgendaItem) => decision?.at ?? String(place);
  return {
    open: ordered.filter(({ status }) => status === "queued" || status === "active"),
    deferred: ordered.filter(({ status }) => status === "deferred"),
    done: ordered.filter((one) => !isUndecided(one)).toSorted((one, other) => (when(one) < when(other) ? 1 : -1)),
  };
}

/** The place of an item among those that are not decided, counted from 1, `step` further on; null at either end. */
export function placeAfterStep(agenda: readonly AgendaItem[], id: string, step: 1 | -1): number | null {
  const open = agenda.filter(isUndecided).toSorted(byPlace);
  const at = open.findIndex((one) => one.id === id);
  const to = at + step;
  return at < 0 || to < 0 || to >= open.length ? null : to + 1;
}

/** What waits and does not stand on the agenda: it came meanwhile. */
export function cameMeanwhile(walk: Pick<Walk, "agenda">, waiting: readonly Escalation[]): Escalation[] {
  const known = new Set(walk.agenda.map(({ source }) => source.ref));
  return waiting.filter(({ id, state }) => (state === "open" || state === "acknowledged") && !known.has(id));
}

/** What was said of an item, but for what stands above it already. */
export function saidOf(walk: Pick<Walk, "transcript">, item: AgendaItem): Said[] {
  const framed = item.framing === null ? "" : item.framing.sentence;
  return walk.transcript.filter(
    ({ item_id: id, text, consult_id: consult, speaker }) =>
      id === item.id && !(speaker === "manager" && consult === null && framed !== "" && text.startsWith(framed)),
  );
}

/** Things by kind with how many there are, the most first. */
export function countsBy<One>(ones: readonly One[], kindOf: (one: One) => string): [kind: string, many: number][] {
  const counts = new Map<string, number>();
  for (const one of ones) counts.set(kindOf(one), (counts.get(kindOf(one)) ?? 0) + 1);
  return [...counts].toSorted(([one, many], [other, more]) => more - many || one.localeCompare(other));
}
