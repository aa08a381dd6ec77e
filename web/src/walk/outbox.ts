/**
 * Decisions on their way to the server, one after the other in the order in which they were taken. Each keeps its confirm id
 * until it is answered, through a broken line and a reload of the tab: sent twice it counts once. While one is here the
 * page shows it as decided (agenda.ts); what the server refuses is told, and the item stands where it stood.
 */
import { useSyncExternalStore } from "react";
import { newConfirmId } from "../api/client";
import { explain, Refused } from "../api/problem";
import { queryClient, refresh } from "../api/queries";
import { currentToken, onTokenChange } from "../api/token";
import type { AgendaItem, Decide } from "../api/types";
import { decide } from "../api/walk-deeds";
import { walkQuery } from "../api/walk-queries";
import { retryDelay } from "../live/backoff";
import { currentConnection, onConnectionChange } from "../live/line";
import { writeDraft } from "../inbox/drafts";
import { announce } from "../ui/announce";
import { plainText } from "../ui/plain-text";
import { withDecided, type Sent } from "./agenda";
import { problemOf } from "./wording";

export interface Letter extends Sent {
  walk: string;
  topic: string;
  confirmId: string;
}

/** A decision that did not take, and why. */
export interface NotTaken extends Sent {
  walk: string;
  topic: string;
  what: string;
  why: string;
  /** Nothing is left to decide about it. */
  isSettled: boolean;
}

export interface Outbox {
  letters: readonly Letter[];
  notTaken: readonly NotTaken[];
  /** The server does not answer: what is here is sent again and again. */
  isStuck: boolean;
}

const KEY = "gemba.walk-outbox";
/** How often a server that breaks down over one decision is asked again. */
const MOST_BREAKDOWNS = 3;
/** What was answered stays until the cache has told the page of it: it changes nothing any more. */
const A_MOMENT = 50;

const listeners = new Set<() => void>();
let box: Outbox = { letters: [], notTaken: [], isStuck: false };
let isSending = false;
let isOpen = false;
let wake: (() => void) | null = null;
const answered = new WeakSet<Letter>();

function set(next: Partial<Outbox>): void {
  box = { ...box, ...next };
  if (box.letters.length === 0) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, JSON.stringify(box.letters));
  for (const listener of listeners) listener();
}

function open(): void {
  if (isOpen) return;
  isOpen = true;
  set({ letters: kept() });
  onConnectionChange(() => {
    if (currentConnection().phase === "live") wake?.();
  });
  // Whoever signs in next did not decide this.
  onTokenChange(() => set({ letters: [], notTaken: [], isStuck: false }));
  void send();
}

/** What a tab that was loaded anew had not sent. */
function kept(): Letter[] {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as Letter[];
  } catch {
    return [];
  }
}

export function useOutbox(): Outbox {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      open();
      return () => listeners.delete(listener);
    },
    () => box,
  );
}

/** Where what is typed about an item is kept, until the server has taken it. */
export const draftOf = (item: string): string => `walk item ${item}`;

export function post(walk: string, item: Pick<AgendaItem, "id" | "topic">, body: Decide): void {
  const letter = { walk, item: item.id, topic: item.topic, body, confirmId: newConfirmId() };
  const notTaken = box.notTaken.filter((one) => one.item !== item.id);
  set({ letters: [...box.letters, letter], notTaken });
  void send();
}

export function putAway(item: string): void {
  set({ notTaken: box.notTaken.filter((one) => one.item !== item) });
}

async function send(): Promise<void> {
  if (isSending) return;
  isSending = true;
  try {
    for (;;) {
      const letter = box.letters.find((one) => !answered.has(one));
      if (letter === undefined || currentToken() === null) break;
      await deliver(letter);
      answered.add(letter);
      setTimeout(() => drop(letter), A_MOMENT);
    }
  } finally {
    isSending = false;
  }
}

function drop(letter: Letter): void {
  set({ letters: box.letters.filter((one) => one !== letter) });
}

/** Returns once the server has said yes or no. */
async function deliver(letter: Letter): Promise<void> {
  const { walk, item, body, confirmId } = letter;
  for (let failures = 0, breakdowns = 0; ; failures += 1) {
    try {
      const done = await decide(walk, item, body, confirmId);
      await queryClient.cancelQueries({ queryKey: walkQuery(walk).queryKey });
      queryClient.setQueryData(walkQuery(walk).queryKey, (known) => known && withDecided(known, done));
      writeDraft(draftOf(item), "");
      if (box.isStuck) set({ isStuck: false });
      return;
    } catch (error) {
      if (error instanceof Refused) {
        breakdowns += error.status >= 500 ? 1 : MOST_BREAKDOWNS;
        if (breakdowns >= MOST_BREAKDOWNS) return refuse(letter, error);
      } else if (!box.isStuck) {
        set({ isStuck: true });
        announce("Not connected. The decision is sent again until it arrives");
      }
      await untilRetry(failures);
      if (!box.letters.includes(letter)) return;
    }
  }
}

/** A while that grows, or until the line is back. */
function untilRetry(failures: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(go, retryDelay(failures, Math.random()));
    function go(): void {
      clearTimeout(timer);
      wake = null;
      resolve();
    }
    wake = go;
  });
}

function refuse({ walk, item, topic, body }: Letter, error: Refused): void {
  const isSettled = error.code === "settled_elsewhere" || error.code === "already_decided";
  const what = problemOf(error);
  const why = plainText(explain(error));
  set({ isStuck: false, notTaken: [...box.notTaken, { walk, item, topic, body, what, why, isSettled }] });
  announce(`${what}: ${plainText(topic)}. ${why}`);
  void refresh(walkQuery(walk).queryKey);
}
