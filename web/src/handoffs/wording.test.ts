import assert from "node:assert/strict";
import { test } from "node:test";
import { cameBy, refusedOver, saidBy, statusOf, weightOf } from "./wording.ts";

const verdict = {
  valid: false,
  plan_status: null,
  missing: ["AGENT_STATUS"],
  invalid: ["AGENT_ID:x\u202e"],
  warnings: [],
  findings: [],
  action: "repair" as const,
};
const failed = { name: "files_modified", claimed: "a.py", found: "as it was", verdict: "failed" as const, note: "" };
const ok = { ...failed, claimed: "b.py", verdict: "ok" as const };
const refused = { refused_by: "verdict" as const, refusal: null, checks: [], verdict };

test("a refusal by the verdict names its codes, and nothing in them reorders the line", () => {
  assert.equal(refusedOver(refused), "AGENT_STATUS, AGENT_ID:x⟨U+202E⟩");
});

test("more codes than a line holds are counted", () => {
  const many = { ...verdict, missing: Array.from({ length: 9 }, (_, index) => `C${index}`), invalid: [] };
  assert.equal(refusedOver({ ...refused, verdict: many }), "C0, C1, C2, C3, C4, C5 and 3 more");
});

test("a refusal by the world says what was claimed and what was found", () => {
  const world = { ...refused, refused_by: "world" as const, checks: [ok, failed] };
  assert.equal(refusedOver(world), "files modified: claimed a.py; found as it was");
});

test("a refusal by the status says why", () => {
  const clean = { ...verdict, missing: [], invalid: [] };
  const refusal = { code: "illegal_move", message: "COMPLETE cannot follow COMPLETE", allowed: ["IN_PROGRESS"] };
  assert.equal(refusedOver({ ...refused, refused_by: "status", verdict: clean, refusal }), refusal.message);
});

test("whoever says nothing is told apart from whoever ended without an envelope", () => {
  const finding = { code: "NEXT_ACTION", severity: "missing", message: "", hint: "" };
  assert.match(saidBy({ summary: "", verdict }), /without an envelope/);
  assert.match(
    saidBy({ summary: "", verdict: { ...verdict, findings: [{ ...finding, pointer: "/agent_status" }] } }),
    /nothing for you/,
  );
  assert.equal(saidBy({ summary: "Done.", verdict }), "Done.");
});

test("a check has the weight that the gate gives it, and none where the gate does not know it", () => {
  const policy = { files_modified: "require", unpushed: "report" } as never;
  assert.equal(weightOf(failed, policy), "required");
  assert.equal(weightOf({ name: "unpushed" }, policy), "only reported");
  assert.equal(weightOf({ name: "constructor" }, policy), null);
  assert.equal(weightOf(failed, undefined), null);
});

test("a handoff without a status is told as such, and where it came from", () => {
  assert.equal(statusOf(null), "No status");
  assert.equal(cameBy({ source: "hook", event: "Stop" }), "by its client’s hook (Stop)");
});
