import assert from "node:assert/strict";
import { test } from "node:test";
import type { Consult, SuggestedAction } from "../api/types";
import { actionWords, applicableOf, arrivedLines, withApplied } from "./lines.ts";

const line = (type: string, more: object = {}) => ({ type, ...more });
const action = { verb: "PATCH", path: "/api/work-items/g-1", body: { user_order: 1 } };
const consult = (more: object) =>
  ({ validated_lines: [], line_errors: [], line_notes: [], applied_idx: [], applied: [], ...more }) as unknown as Consult;

test("what was refused stands where it arrived", () => {
  const found = arrivedLines(
    consult({
      validated_lines: [line("strategy"), line("summary")],
      line_errors: [
        { index: 1, raw: {}, rule: "shape", reason: "no" },
        { index: 3, raw: {}, rule: "shape", reason: "no" },
      ],
      line_notes: [{ index: 2, note: "dropped" }],
    }),
  );
  assert.deepEqual(
    found.map((one) => (one.kind === "line" ? [one.line.type, one.idx, one.note] : one.error.index)),
    [["strategy", 0, null], 1, ["summary", 1, "dropped"], 3],
  );
});

test("a place that nothing stands at does not hang the page", () => {
  const found = arrivedLines(consult({ line_errors: [{ index: 7, raw: null, rule: "r", reason: "no" }] }));
  assert.equal(found.length, 1);
});

test("what can be applied is what suggests something and was not applied", () => {
  const lines = [line("strategy"), line("recommendation", { suggested_action: action }), line("proposal", { suggested_action: action })];
  assert.deepEqual(applicableOf(consult({ validated_lines: lines, applied_idx: [1] })), [2]);
});

test("a line that was applied is so at once, and once", () => {
  const applied = { idx: 1, at: "2026-01-01T00:00:00Z", by: "operator", outcome: { executed: true } };
  const once = withApplied(consult({}), applied, [1]);
  assert.deepEqual(withApplied(once, applied, [1]).applied, [applied]);
  assert.deepEqual(once.applied_idx, [1]);
});

test("an action is told in words, and one that is not known as it is", () => {
  const told = (verb: string, path: string, body: object) => actionWords({ verb, path, body } as SuggestedAction);
  assert.equal(told("PATCH", "/api/work-items/g-1", { user_order: 3 }), "g-1: place 3");
  assert.equal(told("PATCH", "/api/work-items/g%2F1", { labels: ["a"], version: 2 }), 'g/1: labels ["a"]');
  assert.equal(told("POST", "/api/work-items", { item: { kind: "milestone", title: "Beta" } }), "New milestone: Beta");
  assert.equal(told("PATCH", "/api/work-items/g-1", { state: "backlog", ratified: true }), "g-1: state backlog, agreed to");
  assert.equal(told("POST", "/api/elsewhere", {}), "POST /api/elsewhere");
});
