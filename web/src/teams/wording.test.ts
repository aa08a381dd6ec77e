import assert from "node:assert/strict";
import { test } from "node:test";
import type { TeamTask } from "../api/types.ts";
import { runDeeds, taskCommands } from "./commands.ts";
import { glanceOf } from "./glance.ts";
import { costInWords, dependentsOf, lookOf, openBlockers, sharesInWords, sharesOf } from "./wording.ts";

const task = (id: string, state: TeamTask["state"], more: Partial<TeamTask> = {}): TeamTask => ({
  ...{ id, state, owner: "tester", prefix: "TEST", goal: "Do it", agent: "builtin", output: "artifact", chain: id, inner_loop: false },
  ...{ blocked_by: [], open_blockers: 0, waiting_for: null, version: 1, attempt: 1, errors: 0, session_id: null, dispatch_id: null },
  ...{ merged: null, score: null, gate: null, reason: null, surveyed: null, revises: null, escalation_id: null, claimed_at: null, started_at: null },
  ...{ ended_at: null, tokens: 0, cost_usd: null },
  ...more,
});

const GATE = {} as TeamTask["gate"];

test("a run's tasks are parted by what has become of them, and nothing is left out", () => {
  const states = { completed: 2, completed_with_warnings: 1, verifying: 1, partial_completion: 1, skipped: 3, pending: 4 };
  assert.equal(sharesInWords(sharesOf({ states })), "3 done, 1 at work, 1 waits for you, 3 failed or left out, 4 to come");
});

test("a task that waits says for what, and one that is ready or was accepted says so", () => {
  assert.equal(lookOf(task("a", "waiting", { waiting_for: "input" })).label, "Waits for an answer");
  assert.equal(lookOf(task("a", "pending")).label, "Ready");
  assert.equal(lookOf(task("a", "pending", { open_blockers: 1 })).label, "Pending");
  assert.equal(lookOf(task("a", "pending", { errors: 1 })).label, "Tried again soon");
  assert.equal(lookOf(task("a", "partial_completion", { reason: "accepted by ann" })).label, "Accepted, brought in");
  assert.equal(lookOf(task("a", "partial_completion", { escalation_id: "e" })).label, "Gate failed");
});

test("the four questions get every task that they are about, and none twice", () => {
  const tasks = [
    ...[task("a", "running"), task("b", "partial_completion", { reason: "accepted by ann" }), task("c", "waiting")],
    ...[task("d", "partial_completion", { escalation_id: "e" }), task("e", "failed"), task("f", "pending", { errors: 2 })],
    ...[task("g", "skipped"), task("h", "completed"), task("i", "pending")],
  ];
  const { running, waiting, failed, retried, skipped } = glanceOf({ all_tasks: tasks });
  const ids = (found: TeamTask[]) => found.map(({ id }) => id).join("");
  assert.deepEqual([ids(running), ids(waiting), ids(failed), ids(retried), skipped], ["ab", "cd", "e", "f", 1]);
});

test("a task takes the commands of its state alone", () => {
  const of = (state: TeamTask["state"], more: Partial<TeamTask> = {}) => taskCommands("running", task("a", state, more));
  assert.deepEqual(of("partial_completion", { gate: GATE }), ["accept", "retry", "revise", "skip"]);
  assert.deepEqual(of("waiting", { waiting_for: "decision" }), ["retry", "revise", "skip"]);
  assert.deepEqual(of("waiting", { waiting_for: "input", gate: GATE }), ["retry", "revise", "skip"]);
  assert.deepEqual(of("running"), ["skip"]);
  assert.deepEqual(of("pending"), ["revise", "skip"]);
  assert.deepEqual(of("completed"), ["revise"]);
  assert.deepEqual(of("failed"), ["retry", "revise", "skip"]);
  assert.deepEqual(of("cancelled"), []);
  assert.deepEqual(taskCommands("planned", task("a", "pending")), []);
  assert.deepEqual(taskCommands("cancelled", task("a", "failed")), []);
});

test("a run takes the commands of its state alone", () => {
  const run = (state: Parameters<typeof runDeeds>[0]["state"], score: number | null = null, archived_at: string | null = null) =>
    runDeeds({ state, archived_at, all_tasks: [{ score }] });
  assert.deepEqual(run("planned"), ["start", "feedback", "cancel"]);
  assert.deepEqual(run("running", 80), ["pause", "feedback", "improve", "cancel"]);
  assert.deepEqual(run("paused"), ["resume", "feedback", "cancel"]);
  assert.deepEqual(run("completed", 100), ["archive"]);
  assert.deepEqual(run("failed", 40, "2026-01-01T00:00:00Z"), ["improve"]);
  assert.deepEqual(run("cancelled"), ["archive"]);
});

test("what a task waits for is what is not done, and what hangs on it is near and far", () => {
  const tasks = [task("a", "completed"), task("b", "running"), task("c", "pending", { blocked_by: ["a", "b"] }), task("d", "pending", { blocked_by: ["c"] })];
  assert.deepEqual(openBlockers(tasks[2]!, new Map(tasks.map((one) => [one.id, one]))), ["b"]);
  assert.deepEqual(dependentsOf("a", tasks), ["c", "d"]);
});

test("a cost without a price is told in tokens alone", () => {
  assert.equal(costInWords({ tokens: 12_345, cost_usd: null }), "12,345 tokens");
  assert.equal(costInWords({ tokens: 1, cost_usd: 1.5 }), "1 token, $1.50");
  assert.equal(costInWords({ tokens: 0, cost_usd: 0.0123 }), "0 tokens, $0.0123");
});
