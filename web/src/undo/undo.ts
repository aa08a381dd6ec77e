/**
 * The last answer, and the way back from it. The server holds the reply until its time is up, so a closed tab neither loses
 * the answer nor sends it early; this keeps only what the page needs to offer the way back, and who was answered by
 * somebody else meanwhile.
 */
import { useSyncExternalStore } from "react";
import { api, newConfirmId, payload } from "../api/client";
import { explain } from "../api/problem";
import { placeEscalations, readEscalation } from "../api/queries";
import type { Escalation, Refusal } from "../api/types";
import { writeDraft } from "../inbox/drafts";
import { announce } from "../ui/announce";

/** One that did not take the answer: why, and what it was answered with when somebody was first. */
export interface NotDone extends Refusal {
  escalation: Escalation | null;
}

export interface Toast {
  words: string;
  /** Those that can be taken back, until then on this page's clock. */
  ids: string[];
  until: number;
  /** What had been typed, to be found in the reply box again. */
  typed: string;
  refused: NotDone[];
  phase: "offered" | "undoing" | "done" | "failed";
}

const listeners = new Set<() => void>();
let toast: Toast | null = null;
/** How long a toast stays that has nothing to take back. */
const A_GLANCE = 3_000;
let timer: number | undefined;

function show(next: Toast | null): void {
  clearTimeout(timer);
  toast = next;
  // What went wrong stays until it is put away.
  if (next !== null && next.phase !== "undoing" && next.refused.length === 0 && next.phase !== "failed")
    timer = window.setTimeout(() => show(null), Math.max(A_GLANCE, next.until - Date.now()));
  for (const listener of listeners) listener();
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
  const proposed = answered.filter((one) => one.proposal?.state === "waiting").length;
  const what = proposed > 0 ? "Proposed" : "Answered";
  const words = answered.length === 0 ? "Not answered" : answered.length === 1 ? what : `${what} ${answered.length}`;
  const ids = held.map((one) => one.id);
  const notDone = refused.map((one) => ({ ...one, escalation: null }));
  show({ words, ids, until, typed, refused: notDone, phase: "offered" });
  const left = Math.round((until - Date.now()) / 1_000);
  const way = ids.length > 0 ? `. Press u within ${left} seconds to undo` : "";
  const rest = refused.length > 0 ? `. ${refused.length} not answered` : "";
  announce(`${words}${rest}${way}`);
  if (notDone.length > 0) void readFirstAnswers(notDone);
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
  return toast !== null && toast.phase === "offered" && toast.ids.length > 0 && Date.now() < toast.until;
}

const expecting = new Set<(ids: string[]) => void>();

/** Calls back with those that were taken back and wait again. */
export function onTakenBack(listener: (ids: string[]) => void): () => void {
  expecting.add(listener);
  return () => expecting.delete(listener);
}

/** Takes the last answer back. True when there was one to take back. */
export function undo(): boolean {
  if (toast === null || !canUndo()) return false;
  const undone = toast;
  show({ ...undone, phase: "undoing" });
  void takeBack(undone.ids).then(
    ({ reopened, refused }) => {
      if (undone.typed !== "") for (const one of reopened) writeDraft(one.id, undone.typed);
      placeEscalations(reopened);
      for (const listener of expecting) listener(reopened.map((one) => one.id));
      const words = reopened.length === 1 ? "Taken back" : `Taken back ${reopened.length}`;
      announce(words);
      const notDone = refused.map((one) => ({ ...one, escalation: null }));
      show({ words, ids: [], until: 0, typed: "", refused: notDone, phase: "done" });
      if (notDone.length > 0) void readFirstAnswers(notDone);
    },
    (error: unknown) => {
      announce(`Not taken back. ${explain(error)}`);
      show({ ...undone, words: `Not taken back. ${explain(error)}`, ids: [], phase: "failed" });
    },
  );
  return true;
}

async function takeBack(ids: string[]) {
  const params = { header: { "X-GEMBA-Confirm": newConfirmId() } };
  return payload(await api.POST("/api/escalations/reopen", { params, body: { ids } }));
}
