import assert from "node:assert/strict";
import { test } from "node:test";
import type { Floor, Session } from "../api/types";
import { doesOf, needsOf, shareOf, sparkWords, stateOf, summaryOf } from "./wording.ts";

const none = { many: 0, oldest_at: null, oldest_id: null };
const needs: Floor["needs"] = {
  total: 0,
  blocking: none,
  advisory: none,
  approvals: none,
  proposed: none,
  undelivered: none,
  memories: none,
  advice: none,
  plans: none,
  snoozed: 0,
};
const some = (many: number) => ({ many, oldest_at: "2026-01-01T00:00:00Z", oldest_id: "a" });

test("what waits is told most urgent first, and only what there is", () => {
  const found = needsOf({ ...needs, memories: some(2), blocking: some(3), approvals: some(1) }, 4);
  assert.deepEqual(
    found.map(({ name, many, route }) => [name, many, route]),
    [
      ["blocking", 3, "inbox"],
      ["approvals", 1, "inbox"],
      ["memories", 2, "memory"],
      ["assumptions", 4, "assumptions"],
    ],
  );
  assert.deepEqual(found[0]?.one, { what: "escalation", id: "a" });
  assert.equal(found[2]?.one, null);
  assert.deepEqual(needsOf(needs), []);
});

test("the floor is one sentence", () => {
  const floor = (more: object) =>
    ({ needs, running: { total: 0 }, teams: { total: 0 }, ready: { total: 0, more: false }, ...more }) as unknown as Floor;
  assert.equal(summaryOf(floor({})), "Nobody waits for you; no agent is at work, nothing is ready.");
  const busy = floor({
    needs: { ...needs, blocking: some(1), advisory: some(2) },
    running: { total: 5 },
    teams: { total: 1 },
    ready: { total: 1000, more: true },
  });
  assert.equal(
    summaryOf(busy),
    "1 ask stops an agent, 2 can wait; 5 agents are at work, 1 team run is open, more than 1,000 items are ready.",
  );
});

test("what a session does is its task, else its own words, else its item", () => {
  const at = { note: "painting", bead_id: "w-1" };
  assert.equal(doesOf({ ...at, run: { title: "Fix it" } as Session["run"] & object }, {}), "Fix it");
  assert.equal(doesOf(at, { "w-1": "The wall" }), "painting");
  assert.equal(doesOf({ note: null, bead_id: "w-1" }, { "w-1": "The wall" }), "The wall");
  assert.equal(doesOf({ note: null, bead_id: "w-2" }, {}), "w-2");
  assert.equal(doesOf({ note: null, bead_id: null }, {}), "");
});

test("a session that needs somebody stands out, whatever it says", () => {
  const session = { lifecycle: "running", reported_state: "working", needs_you: false } as Session;
  assert.deepEqual(stateOf(session), { word: "working", tone: "good" });
  assert.deepEqual(stateOf({ ...session, needs_you: true }), { word: "working", tone: "hot" });
  assert.deepEqual(stateOf({ ...session, reported_state: null }), { word: "running", tone: "good" });
  assert.deepEqual(stateOf({ ...session, lifecycle: "starting" }), { word: "starting", tone: "warn" });
});

test("a share stays between nothing and all", () => {
  assert.deepEqual([shareOf(1, 4), shareOf(9, 4), shareOf(1, 0)], [0.25, 1, 0]);
});

test("the little bars are told in words", () => {
  assert.equal(sparkWords([{ day: "2026-01-01", tokens: 0 }]), "No tokens in 1 days");
  const days = [
    { day: "2026-01-01", tokens: 5 },
    { day: "2026-01-02", tokens: 1200 },
  ];
  assert.equal(sparkWords(days), "Tokens in 2 days, the most on 2026-01-02: 1,200");
});
