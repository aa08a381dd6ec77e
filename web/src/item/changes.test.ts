import assert from "node:assert/strict";
import { test } from "node:test";
import type { ItemChange } from "../api/types.ts";
import { causeOf, lastUndoable, linesOf } from "./changes.ts";

function change(more: Partial<ItemChange>): ItemChange {
  const usual = { number: 1, at: "2026-01-01T00:00:00Z", kind: "changed", actor: "ann", undone: false, of: null };
  return { ...usual, cause: { kind: "person", id: "ann" }, before: {}, after: {}, ...more };
}

test("each field that changed has a line, but for what follows from another", () => {
  const before = { state: "in_progress", closed_at: null, closed_by: null, close_reason: null, labels: [] };
  const after = { state: "done", closed_at: "2026", closed_by: "ann", close_reason: null, labels: ["x", "y"] };
  assert.deepEqual(linesOf(change({ before, after })), ["state: in progress → done", "labels: nothing → x, y"]);
});

test("relations and claims are sentences", () => {
  const relation = { source: "s-1", kind: "discovered-from", target: "s-2" };
  assert.deepEqual(linesOf(change({ kind: "related", after: { relation } })), ["s-1 discovered from s-2"]);
  assert.deepEqual(linesOf(change({ kind: "unrelated", before: { relation } })), ["No longer: s-1 discovered from s-2"]);
  assert.deepEqual(linesOf(change({ kind: "claimed", after: { claim: { owner: "ses-1" } } })), ["Claimed by ses-1"]);
  assert.deepEqual(linesOf(change({ kind: "created" })), ["Made"]);
});

test("who and what it followed from", () => {
  assert.equal(causeOf(change({})), "by ann");
  assert.equal(causeOf(change({ cause: { kind: "consult", id: "c-1" } })), "by ann, after a consult (c-1)");
  assert.equal(causeOf(change({ kind: "undone" })), "undone by ann");
});

test("what can be undone is the last change in effect, if it was made here", () => {
  const claimed = change({ number: 4, kind: "claimed" });
  const undone = change({ number: 3, undone: true });
  const here = change({ number: 2 });
  assert.equal(lastUndoable([claimed, undone, here, change({})]), here);
  assert.equal(lastUndoable([change({ number: 3, kind: "related", of: "s-2" }), here]), undefined);
  assert.equal(lastUndoable([change({ kind: "created" })]), undefined);
});
