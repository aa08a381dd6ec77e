import assert from "node:assert/strict";
import { test } from "node:test";
import { doneSteps, type Facts } from "./steps.ts";

const nothing: Facts = { settled: [], approvals: [], consults: [], runs: undefined };
type Settled = Facts["settled"][number];
const settled = (kind: string, resolution: object) => ({ kind, resolution }) as Settled;

test("nothing is done before somebody does it", () => {
  assert.deepEqual(doneSteps(nothing), []);
  const others = [
    settled("question", { by: "pane", outcome: "answered" }),
    settled("question", { by: "operator", outcome: "declined" }),
    settled("approval", { by: "operator", outcome: "answered", decision: "no" }),
  ];
  const asked = [{ skill_id: "epic_order", status: "running" }] as Facts["consults"];
  assert.deepEqual(
    doneSteps({ settled: others, approvals: [{ state: "pending" }], consults: asked, runs: [{ ended_at: null }] }),
    [],
  );
});

test("each step is told by what the operator did", () => {
  const answers = [settled("question", { by: "operator", outcome: "answered" })];
  assert.deepEqual(doneSteps({ ...nothing, settled: answers }), ["answer"]);
  const allowed = [settled("permission_prompt", { by: "operator", outcome: "answered", decision: "yes" })];
  assert.deepEqual(doneSteps({ ...nothing, settled: allowed }), ["approve"]);
  assert.deepEqual(doneSteps({ ...nothing, approvals: [{ state: "approved" }] }), ["approve"]);
  const order = [{ skill_id: "epic_order", status: "completed" }] as Facts["consults"];
  assert.deepEqual(doneSteps({ ...nothing, consults: order }), ["rank"]);
  assert.deepEqual(doneSteps({ ...nothing, runs: [{ ended_at: "2026-01-02T03:04:05Z" }] }), ["team"]);
});
