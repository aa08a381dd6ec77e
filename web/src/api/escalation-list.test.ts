import assert from "node:assert/strict";
import { test } from "node:test";
import { byUrgencyThenAge, placedIn } from "./escalation-list.ts";
import type { Escalation, EscalationList } from "./types.ts";

function ask(id: string, urgency: Escalation["urgency"], minute: number): Escalation {
  return { id, urgency, opened_at: new Date(60_000 * minute).toISOString() } as Escalation;
}

function listOf(...escalations: Escalation[]): EscalationList {
  return { escalations, total: escalations.length, next_cursor: null, as_of: 1 };
}

const ids = (list: EscalationList) => list.escalations.map((one) => one.id);
const list = listOf(ask("a", "blocking", 1), ask("b", "blocking", 5), ask("c", "advisory", 0));

test("a new escalation goes behind older ones of its urgency", () => {
  assert.deepEqual(ids(placedIn(list, ask("d", "blocking", 3), true, byUrgencyThenAge)), ["a", "d", "b", "c"]);
  assert.deepEqual(ids(placedIn(list, ask("d", "advisory", 9), true, byUrgencyThenAge)), ["a", "b", "c", "d"]);
});

test("a known one is replaced and not counted twice", () => {
  const placed = placedIn(list, { ...ask("b", "blocking", 5), state: "acknowledged" }, true, byUrgencyThenAge);
  assert.equal(placed.total, 3);
  assert.equal(placed.escalations[1]?.state, "acknowledged");
});

test("one that no longer belongs leaves, and an unknown one changes nothing", () => {
  const without = placedIn(list, ask("a", "blocking", 1), false, byUrgencyThenAge);
  assert.deepEqual([ids(without), without.total], [["b", "c"], 2]);
  assert.equal(placedIn(list, ask("z", "advisory", 1), false, byUrgencyThenAge), list);
});
