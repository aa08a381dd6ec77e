import assert from "node:assert/strict";
import test from "node:test";
import type { Approval } from "../api/types.ts";
import { headOf, planOf, riskOf, stateOf } from "./wording.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");

function made(values: Partial<Approval>): Approval {
  const nothing = { confirmed_by: null, decided_by: null, decision_reason: null, grant_state: null, outcome: null };
  return { state: "pending", expires_at: "2026-11-18T12:00:00Z", ...nothing, ...values } as Approval;
}

const said = (values: Partial<Approval>) => stateOf(made(values), NOW);

test("a request says how it stands", () => {
  assert.equal(said({}), "Waits, expires in 2 days");
  assert.equal(said({ expires_at: "2026-11-16T11:00:00Z" }), "Its time ran out");
  assert.equal(said({ state: "refused", decided_by: "ana", decision_reason: "no" }), "Refused by ana: no");
  assert.equal(said({ state: "superseded", decided_by: "ana" }), "Edited by ana: another command took its place");
  assert.equal(said({ state: "expired", decided_by: "gemba" }), "Nobody decided in time");
});

test("a grant says whether it was used and how that ended", () => {
  const approved = { state: "approved", decided_by: "ana", confirmed_by: "ben", grant_state: "unused" } as const;
  assert.equal(said(approved), "Approved by ana, confirmed by ben · not used yet, expires in 2 days");
  assert.ok(said({ ...approved, expires_at: "2026-11-16T11:00:00Z" }).endsWith("not used in time"));
  assert.ok(said({ ...approved, grant_state: "failed", outcome: "exit 1" }).endsWith("used, and it failed: exit 1"));
});

test("an unknown risk is called so, and never by a letter that looks like a class", () => {
  assert.equal(riskOf({ risk: "T3" }), "T3 changes state");
  assert.equal(riskOf({ risk: "unknown" }), "unknown: it may do anything");
});

test("a plan is its steps in order, each as it was last edited", () => {
  const steps = [
    made({ id: "c", position: 2 }),
    made({ id: "b", position: 2, state: "superseded" }),
    made({ id: "a", position: 1 }),
  ];
  assert.deepEqual(
    planOf(steps).map((one) => one.id),
    ["a", "c"],
  );
});

test("a command of several lines says its first and how many more there are", () => {
  assert.deepEqual(headOf("make"), { line: "make", more: "", isCut: false });
  assert.deepEqual(headOf("\ncd /srv\nmake\n"), { line: "cd /srv", more: "… 1 more line", isCut: true });
  assert.deepEqual(headOf("cat <<X\n\nX"), { line: "cat <<X", more: "… 2 more lines", isCut: true });
  const { line, more, isCut } = headOf("x".repeat(200));
  assert.deepEqual([line.at(-1), more, isCut], ["…", "", true]);
});
