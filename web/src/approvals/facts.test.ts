import assert from "node:assert/strict";
import test from "node:test";
import type { Approval } from "../api/types.ts";
import { FACTS, sharedBy } from "./facts.ts";

const step = (values: Partial<Approval>) =>
  ({ risk: "T3", reason: "", cwd: "/srv", environment: [], expires_at: "2026-11-16T12:00:01Z", ...values }) as Approval;

test("what all steps have in common is told once, and a risk or folder that differs is not", () => {
  const steps = [
    step({ hash: "1", cwd: "/srv", verification: { a: 1 } }),
    step({ hash: "2", cwd: "/srv/other", verification: { a: 1 }, expires_at: "2026-11-16T12:00:02Z" }),
  ];
  const shared = sharedBy(steps);
  assert.ok(shared.includes("Verification") && shared.includes("Expiry") && shared.includes("Risk"));
  assert.ok(!shared.includes("In") && !shared.includes("Seal"));
  assert.ok(!sharedBy([step({}), step({ reason: "other" })]).includes("Risk"));
});

test("one command alone shares nothing", () => {
  assert.deepEqual(sharedBy([step({})]), []);
  assert.equal(FACTS.length, 9);
});
