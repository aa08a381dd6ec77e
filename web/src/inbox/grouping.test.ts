import assert from "node:assert/strict";
import { test } from "node:test";
import type { Escalation } from "../api/types.ts";
import { groupsOf, type Group } from "./grouping.ts";

const ask = (id: string, group_id = id, urgency: Escalation["urgency"] = "blocking") =>
  ({ id, group_id, urgency }) as Escalation;
const shown = (groups: Group[]) => groups.map(({ head, others }) => [head.id, ...others.map((one) => one.id)]);
const NONE = new Set<string>();

test("like questions stand on the card of the first, in the order of the inbox", () => {
  const active = [ask("a"), ask("b"), ask("c", "a"), ask("d", "b"), ask("e", "a")];
  assert.deepEqual(shown(groupsOf(active, NONE)), [
    ["a", "c", "e"],
    ["b", "d"],
  ]);
});

test("what stops an agent is never hidden under what does not", () => {
  const active = [ask("a"), ask("b", "a", "advisory")];
  assert.deepEqual(shown(groupsOf(active, NONE)), [["a"], ["b"]]);
});

test("one that is set apart has a card of its own, also when it gave the group its name", () => {
  const active = [ask("a"), ask("b", "a"), ask("c", "a")];
  assert.deepEqual(shown(groupsOf(active, new Set(["a"]))), [["a"], ["b", "c"]]);
  assert.deepEqual(shown(groupsOf(active, new Set(["c"]))), [["a", "b"], ["c"]]);
});

test("a group keeps its head when an older one comes back", () => {
  const before = groupsOf([ask("b", "a"), ask("c", "a")], NONE);
  assert.deepEqual(shown(groupsOf([ask("a"), ask("b", "a"), ask("c", "a")], NONE, before)), [["b", "a", "c"]]);
});

test("those without a group are alone", () => {
  assert.deepEqual(shown(groupsOf([ask("a", ""), ask("b", "")], NONE)), [["a"], ["b"]]);
});
