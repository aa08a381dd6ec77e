import assert from "node:assert/strict";
import { test } from "node:test";
import type { Assumption, Escalation } from "../api/types.ts";
import { figuresOf, timelineOf } from "./timeline.ts";

const at = (minute: number) => new Date(60_000 * minute).toISOString();

function ask(id: string, minute: number, answeredAt?: number): Escalation {
  const resolution = answeredAt === undefined ? null : { outcome: "answered", at: at(answeredAt) };
  return { id, opened_at: at(minute), state: resolution ? "resolved" : "open", resolution } as Escalation;
}

const assumed = (id: string, minute: number) => ({ id, recorded_at: at(minute) }) as Assumption;
const ids = (entries: { id: string }[]) => entries.map(({ id }) => id);

test("asks and assumptions stand in one order, newest first", () => {
  assert.deepEqual(ids(timelineOf([ask("a", 1), ask("c", 3)], [assumed("b", 2), assumed("d", 4)], false)), [
    "d",
    "c",
    "b",
    "a",
  ]);
});

test("while more asks are to come nothing older than the last one is shown", () => {
  assert.deepEqual(ids(timelineOf([ask("c", 3)], [assumed("b", 2), assumed("d", 4)], true)), ["d", "c"]);
});

test("the usual wait is the middle one of those that were answered", () => {
  assert.deepEqual(figuresOf([ask("a", 0, 1), ask("b", 0, 3), ask("c", 0, 100), ask("d", 0)]), {
    waiting: 1,
    answered: 3,
    usualWait: 180_000,
  });
  assert.equal(figuresOf([ask("a", 0)]).usualWait, null);
});
