/**
 * The last answers and decisions, and the ways back from them, the last first. The server holds a reply until its time is up, so a closed tab
 * neither loses the answer nor sends it early; this keeps only what the page needs to offer the way back, and who was
 * answered by somebody else meanwhile.
 */
import { useSyncExternalStore } from "react";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { placeEscalations, readEscalation } from "../api/queries";
import type { Escalation, Refusal } from "../api/types";
import { writeDraft } from "../inbox/drafts";
import { answeredWords } from "../inbox/said";
import { announce } from "../ui/announce";
import { holdSeconds } from "./hold";

/** One that did not take the answer: why, and what it was answered with when somebody was first. */
export interface NotDone extends Refusal {
  escalation: Escalation | null;
}

/** What became of taking back. */
interface TakenBack {
  words: string;
  refused: Refusal[];
}

export interface Toast {
  words: string;
  /** The way back, where there is one, until then on this page's clock. */
  back: (() => Promise<TakenBack>) | null;
  until: number;
  /** It leads back from what was done before this, which itself cannot be taken back. */
  isOfBefore?: boolean;
  /** How many before it can still be taken back, one after the other. */
  before?: number;
  refused: NotDone[];
  phase: "offered" | "undoing" | "done" | "failed";
}

const listeners = new Set<() => void>();
let toast: Toast | null = null;
/** Those that a later one took the place of, while they can still be taken back. */
let earlier: Toast[] = [];
/** How long a toast stays that has nothing to take back. */
const A_GLANCE = 5_000;
let timer: number | undefined;

function show(next: Toast | null): void {
  clearTimeout(timer);
  toast = next;
  // What went wrong stays until it is put away.
  if (next !== null && next.phase !== "undoing" && next.refused.length === 0 && next.phase !== "failed")
    timer = window.setTimeout(() => show(null), Math.max(A_GLANCE, next.until - Date.now()));
  for (const listener of listeners) listener();
}

/** What was done just now. It does not take the way back from those before it. */
function offer(next: Toast): void {
  const before = lastOffered();
  if (before === null) return show(next);
  if (next.back === null) return show({ ...next, back: before.back, until: before.until, isOfBefore: true });
  earlier.push(before);
  show({ ...next, before: earlier.length });
}

/** The last one that can still be taken back, which is no longer among the earlier ones then. */
function lastOffered(): Toast | null {
  if (toast !== null && canUndo()) return toast;
  earlier = earlier.filter((one) => Date.now() < one.until);
  return earlier.pop() ?? null;
}

export function useToast(): Toast | null {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toast,
  );
}

export function putAway(): void {
  show(null);
}

/** Says what was answered and offers the way back. `since`: when the request was sent, so that the offer ends in time. */
export function offerUndo(answered: Escalation[], refused: Refusal[], typed: string, since: number): void {
  const held = answered.filter((one) => one.held_until !== null && !one.late);
  const until = Math.max(0, ...held.map((one) => since + Date.parse(one.held_until!) - Date.parse(one.changed_at)));
  const words = answeredWords(answered);
  const ids = held.map((one) => one.id);
  const notDone = refused.map((one) => ({ ...one, escalation: null }));
  const back = ids.length > 0 ? () => takeBackAnswers(ids, typed) : null;
  offer({ words, back, until, refused: notDone, phase: "offered" });
  const rest = refused.length > 0 ? `. ${refused.length} not answered` : "";
  announce(`${words}${rest}${wayBack()}`);
  if (notDone.length > 0) void readFirstAnswers(notDone);
}

/** Says what was done for good. */
export function sayDone(words: string): void {
  offer({ words, back: null, until: 0, refused: [], phase: "offered" });
  announce(`${words}${wayBack()}`);
}

/** Says what was decided and offers the way back, for as long as the operator wants it for answers. */
export function offerWayBack(words: string, takeBack: () => Promise<TakenBack>): void {
  const until = Date.now() + holdSeconds() * 1_000;
  offer({ words, back: holdSeconds() > 0 ? takeBack : null, until, refused: [], phase: "offered" });
  announce(`${words}${wayBack()}`);
}

/** The way back, for those who do not see it. */
function wayBack(): string {
  if (toast === null || !canUndo()) return "";
  if (toast.isOfBefore) return ". Press u to take the one before back";
  return `. Press u within ${Math.round((toast.until - Date.now()) / 1_000)} seconds to undo`;
}

/** Whoever came first is shown with the answer that stands. */
async function readFirstAnswers(refused: NotDone[]): Promise<void> {
  const read = await Promise.allSettled(refused.map((one) => readEscalation(one.id)));
  const known = read.map((one) => (one.status === "fulfilled" ? one.value : null));
  placeEscalations(known.filter((one) => one !== null));
  if (toast === null || toast.refused !== refused) return;
  show({ ...toast, refused: refused.map((one, index) => ({ ...one, escalation: known[index] ?? null })) });
}

export function canUndo(): boolean {
  return toast !== null && toast.phase === "offered" && toast.back !== null && Date.now() < toast.until;
}

const expecting = new Set<(ids: string[]) => void>();

/** Calls back with those that were taken back and wait again. */
export function onTakenBack(listener: (ids: string[]) => void): () => void {
  expecting.add(listener);
  return () => expecting.delete(listener);
}

/** Takes the last answer back, and pressed again the one before it. True when there was one to take back. */
export function undo(): boolean {
  const undone = toast?.phase === "undoing" ? null : lastOffered();
  if (undone === null || undone.back === null) return false;
  show({ ...undone, phase: "undoing" });
  void undone.back().then(
    ({ words, refused }) => {
      announce(words);
      const notDone = refused.map((one) => ({ ...one, escalation: null }));
      show({ words, back: null, until: 0, refused: notDone, phase: "done" });
      if (notDone.length > 0) void readFirstAnswers(notDone);
    },
    (error: unknown) => {
      announce(`Not taken back. ${explain(error)}`);
      show({ ...undone, words: `Not taken back. ${explain(error)}`, back: null, phase: "failed" });
    },
  );
  return true;
}

/** Answers that are still held wait again; what had been typed is found in the reply box again. */
async function takeBackAnswers(ids: string[], typed: string): Promise<TakenBack> {
  const params = { header: { "X-GEMBA-Confirm": newConfirmId() } };
  const { reopened, refused } = payload(await api.POST("/api/escalations/reopen", { params, body: { ids } }));
  if (typed !== "") for (const one of reopened) writeDraft(one.id, typed);
  placeEscalations(reopened);
  for (const listener of expecting) listener(reopened.map((one) => one.id));
  return { words: reopened.length === 1 ? "Taken back" : `Taken back ${reopened.length}`, refused };
}
