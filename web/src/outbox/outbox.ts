/**
 * What was decided on this page and has to reach the server. Each letter is kept before it is sent, with its confirm id,
 * through a broken line and a reload of the tab, until the server has answered: sent twice it counts once. Letters of one
 * lane go one after the other. What the server refuses is told; nothing is given up in silence.
 */
import { useSyncExternalStore } from "react";
import { Refused } from "../api/problem";
import { currentToken, onTokenChange } from "../api/token";
import { retryDelay } from "../live/backoff";
import { currentConnection, onConnectionChange } from "../live/line";
import { announce } from "../ui/announce";

export type Kind = "walk" | "card";

export interface Letter<Content = unknown> {
  kind: Kind;
  confirmId: string;
  /** Those of one lane are sent in the order in which they were written. */
  lane: string;
  /** What it is, for a line of a list. */
  words: string;
  content: Content;
}

/** A letter that the server did not take, and why. */
export interface NotTaken extends Letter {
  what: string;
  why: string;
  /** Nothing is left to decide about it. */
  isSettled: boolean;
}

/** What a kind of letter is sent with, and what follows. */
export interface Carrier {
  send: (letter: Letter) => Promise<unknown>;
  /** What was answered stays until the cache has told the page of it: it changes nothing any more. */
  lingers?: true;
  /** It has arrived, and nobody waits for the answer here any more. */
  arrived: (letter: Letter, answer: unknown, sentAt: number) => void | Promise<void>;
  /** It was refused: what is said of it. */
  refused: (letter: Letter, error: Refused) => Pick<NotTaken, "what" | "why" | "isSettled">;
}

export interface Outbox {
  letters: readonly Letter[];
  notTaken: readonly NotTaken[];
  /** The confirm ids of those that could not be sent yet: each is sent again and again. */
  stuck: ReadonlySet<string>;
}

export interface Arrived<Answer> {
  answer: Answer;
  sentAt: number;
}

/** Whoever wrote it does not want it to be sent any more. */
export class Withdrawn extends Error {}

const KEY = "gemba.outbox";
/** How often a server that breaks down over one letter is asked again. */
const MOST_BREAKDOWNS = 3;
/** For what lingers. */
const A_MOMENT = 50;
const NOBODY: ReadonlySet<string> = new Set();

const carriers = new Map<Kind, Carrier>();
const listeners = new Set<() => void>();
const waiting = new Map<string, { resolve: (arrived: Arrived<unknown>) => void; reject: (error: Error) => void }>();
const busyLanes = new Set<string>();
const wakers = new Set<() => void>();
const answered = new WeakSet<Letter>();
let box: Outbox = { letters: [], notTaken: [], stuck: NOBODY };
let isOpen = false;

function set(next: Partial<Outbox>): void {
  box = { ...box, ...next };
  if (next.letters !== undefined) {
    const kept = box.letters.filter((one) => !answered.has(one));
    if (kept.length === 0) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, JSON.stringify(kept));
  }
  for (const listener of listeners) listener();
}

/** Once, when the page starts and every kind has its carrier: what a tab that was loaded anew had not sent goes out. */
export function openOutbox(known: Record<Kind, Carrier>): void {
  if (isOpen) return;
  isOpen = true;
  for (const kind of Object.keys(known) as Kind[]) carriers.set(kind, known[kind]);
  set({ letters: kept() });
  onConnectionChange(() => {
    if (currentConnection().phase === "live") sendNow();
  });
  addEventListener("online", sendNow);
  // Whoever signs in next did not decide this.
  onTokenChange(() => {
    for (const letter of box.letters) settle(letter)?.reject(new Withdrawn());
    set({ letters: [], notTaken: [], stuck: NOBODY });
  });
  sendAll();
}

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
      return () => listeners.delete(listener);
    },
    () => box,
  );
}

/** Kept from now on, and sent. */
export function post(letter: Letter): void {
  set({ letters: [...box.letters, letter] });
  sendAll();
}

/** The same, for whoever waits: what the server answers, or its refusal. */
export function postAndWait<Answer>(letter: Letter): Promise<Arrived<Answer>> {
  const arrival = new Promise<Arrived<unknown>>((resolve, reject) => waiting.set(letter.confirmId, { resolve, reject }));
  post(letter);
  return arrival as Promise<Arrived<Answer>>;
}

/** Not to be sent any more. A request that was under way may have arrived all the same: the page shows what is true then. */
export function withdraw(confirmId: string): void {
  const letter = box.letters.find((one) => one.confirmId === confirmId);
  if (letter === undefined) return;
  drop(letter);
  settle(letter)?.reject(new Withdrawn());
  wakeAll();
}

export function putAway(isMeant: (one: NotTaken) => boolean): void {
  set({ notTaken: box.notTaken.filter((one) => !isMeant(one)) });
}

/** Without waiting for the line. */
export function sendNow(): void {
  wakeAll();
  sendAll();
}

function wakeAll(): void {
  for (const wake of [...wakers]) wake();
}

function sendAll(): void {
  for (const lane of new Set(box.letters.map((one) => one.lane))) void sendLane(lane);
}

async function sendLane(lane: string): Promise<void> {
  if (busyLanes.has(lane)) return;
  busyLanes.add(lane);
  try {
    for (;;) {
      const letter = box.letters.find((one) => one.lane === lane && !answered.has(one));
      if (letter === undefined || currentToken() === null) break;
      await deliver(letter);
      answered.add(letter);
      if (carriers.get(letter.kind)?.lingers) setTimeout(() => drop(letter), A_MOMENT);
      else drop(letter);
    }
  } finally {
    busyLanes.delete(lane);
  }
}

function drop(letter: Letter): void {
  set({ letters: box.letters.filter((one) => one !== letter), stuck: without(letter.confirmId) });
}

function without(confirmId: string): ReadonlySet<string> {
  return box.stuck.has(confirmId) ? new Set([...box.stuck].filter((one) => one !== confirmId)) : box.stuck;
}

function settle(letter: Letter) {
  const waiter = waiting.get(letter.confirmId);
  waiting.delete(letter.confirmId);
  return waiter;
}

/** Returns once the server has said yes or no, or it is not to be sent any more. */
async function deliver(letter: Letter): Promise<void> {
  const carrier = carriers.get(letter.kind);
  if (carrier === undefined) return;
  for (let failures = 0, breakdowns = 0; ; failures += 1) {
    const sentAt = Date.now();
    try {
      const answer = await carrier.send(letter);
      if (box.stuck.has(letter.confirmId)) set({ stuck: without(letter.confirmId) });
      const waiter = settle(letter);
      if (waiter !== undefined) waiter.resolve({ answer, sentAt });
      else await carrier.arrived(letter, answer, sentAt);
      return;
    } catch (error) {
      if (!box.letters.includes(letter)) return;
      if (error instanceof Refused) {
        breakdowns += error.status >= 500 ? 1 : MOST_BREAKDOWNS;
        if (breakdowns >= MOST_BREAKDOWNS) return refuse(carrier, letter, error);
      } else if (!box.stuck.has(letter.confirmId)) {
        set({ stuck: new Set([...box.stuck, letter.confirmId]) });
        announce("Not connected. It is kept, and sent when the connection is back");
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
      wakers.delete(go);
      resolve();
    }
    wakers.add(go);
  });
}

function refuse(carrier: Carrier, letter: Letter, error: Refused): void {
  const wasStuck = box.stuck.has(letter.confirmId);
  const waiter = settle(letter);
  const said = carrier.refused(letter, error);
  // Who still looks at it is told there, unless so much time has passed that they may look elsewhere.
  const isTold = waiter !== undefined && !wasStuck;
  const notTaken = isTold ? box.notTaken : [...box.notTaken, { ...letter, ...said }];
  set({ notTaken, stuck: without(letter.confirmId) });
  if (!isTold) announce(`${said.what}: ${letter.words}. ${said.why}`);
  waiter?.reject(error);
}
