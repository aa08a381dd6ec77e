import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused } from "../api/problem.ts";
import type { AgendaItem, WalkAction, WalkHint, WalkTotals } from "../api/types.ts";
import { decisionsOf, doesWhat, figuresOf, handedOf, lookOf, nameOf, offerOf, problemOf, sourceOf, toldOf, withoutTopic } from "./wording.ts";

const hint = (waiting: number, blocking: number, overdue = 0): WalkHint => ({
  ...{ offer: true, reason: "", waiting, blocking, overdue, open_walk: null },
});

test("a walk is offered by what waits, what blocks and what waits too long", () => {
  assert.equal(offerOf(hint(7, 3)), "7 things wait, 3 block");
  assert.equal(offerOf(hint(1, 1, 1)), "1 thing waits, 1 blocks, 1 waits too long");
  assert.equal(offerOf(hint(2, 0)), "2 things wait");
});

test("an item says what it is, an escalation by its own kind where that is known", () => {
  assert.equal(sourceOf({ kind: "escalation" }, { kind: "gate_failure" }).label, "Gate failed");
  assert.equal(sourceOf({ kind: "escalation" }).label, "Ask");
  assert.equal(sourceOf({ kind: "closed" }).label, "Look back");
});

test("what was settled elsewhere says so, whatever else it is", () => {
  const one = (status: AgendaItem["status"], settled: string | null = null) => lookOf({ status, settled, decision: null }).label;
  assert.deepEqual(
    [one("queued"), one("active"), one("active", "answered"), one("dismissed"), one("deferred"), one("decided")],
    ["Waits", "On the table", "Settled elsewhere", "Settled elsewhere", "Deferred", "Decided"],
  );
});

test("what was handed on says so, and how far the other persona is", () => {
  const decision = { kind: "handoff", by: "ana", at: "", rationale: "", persona_id: "qa" } as AgendaItem["decision"];
  assert.equal(lookOf({ status: "deferred", settled: null, decision }).label, "Handed off");
  assert.deepEqual(
    [handedOf("qa", "running"), handedOf("qa", "completed"), handedOf("qa", "failed")],
    ["qa thinks about it", "qa has answered", "qa could not answer"],
  );
});

test("a no that was ratified is a refusal", () => {
  const action = { label: "No", verb: "POST" as const, path: "/api/escalations/a/respond", body: { decision: "no" } };
  const decision = { kind: "ratify", by: "ana", at: "", rationale: "", action } as unknown as AgendaItem["decision"];
  assert.equal(lookOf({ status: "decided", settled: null, decision }).label, "Refused");
});

test("who does not see it hears what was decided, what is next and how many are to go", () => {
  assert.equal(toldOf("ratify", "Which port?", "Ship it?", 4), "Ratified: Which port?. Now: Ship it?. 4 to go");
  assert.equal(toldOf("reject", "A", null, 0), "Rejected: A. Nothing else is on the agenda");
});

const totals = (more: Partial<WalkTotals>): WalkTotals => ({
  ...{ items: 5, left: 3, decided: 2, deferred: 1, dismissed: 0, decisions: {}, applied: 2, work_touched: [] },
  ...{ consults: 0, dollars: 0, seconds: 60 },
  ...more,
});

test("totals leave out what there is none of, and the cost where nobody knows it", () => {
  const said = (of: WalkTotals) => figuresOf(of).map(({ name, value }) => `${value} ${name}`).join(", ");
  assert.equal(said(totals({})), "2 of 5 to go, 2 decided, 1 deferred, 2 applied");
  assert.match(said(totals({ consults: 2, dollars: 0.25 })), /2 consults, \$0\.25 cost$/);
  assert.match(said(totals({ consults: 2, dollars: null })), /2 consults$/);
  assert.equal(decisionsOf({ decisions: { reject: 1, ratify: 3 } }), "3 ratified, 1 rejected");
});

test("an action says what it does beyond its label", () => {
  const of = (path: string, body: object, label = "Go on") => doesWhat({ label, verb: "PATCH", path, body } as unknown as WalkAction);
  assert.equal(of("/api/escalations/e/respond", { text: "Go on" }), "");
  assert.equal(of("/api/escalations/e/respond", { action: "revise", text: "Mend it" }, "Revise"), "The agent reads: Mend it");
  assert.equal(of("/api/work-items/w-1", { priority: 1 }), "w-1: priority 1");
  assert.equal(of("/api/approvals/a/approve", { seals: ["x"] }), "");
});

test("what is said above is not said twice", () => {
  assert.equal(withoutTopic("agent-1 asks: Which port?", "Which port?"), "agent-1 asks.");
  assert.equal(withoutTopic("ana filed the task w-1: Paint", "w-1: Paint"), "ana filed the task.");
  assert.equal(withoutTopic("w-1 was closed: Paint", "w-1: Paint"), "w-1 was closed: Paint");
});

test("a walk without a name has one, and hostile characters are shown by name", () => {
  assert.equal(nameOf({ label: " " }), "Walk");
  assert.equal(nameOf({ label: "a\u202eb" }), "a⟨U+202E⟩b");
});

test("a decision that did not take says in what way", () => {
  assert.equal(problemOf(new Refused(409, { code: "settled_elsewhere" })), "Settled elsewhere");
  assert.equal(problemOf(new Refused(424, { code: "action_refused" })), "Refused by its own route, nothing was changed");
  assert.equal(problemOf(new Error("x")), "Not decided");
});
