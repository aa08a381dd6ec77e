import assert from "node:assert/strict";
import test from "node:test";
import { draftOf, editsIn, unsentIn, withoutEdit } from "./edits.ts";

const ALONE = [{ position: null, command: "rm -rf build" }];
const PLAN = [
  { position: 1, command: "make build" },
  { position: 2, command: "make deploy" },
];

test("an edit is kept as it was typed and comes back", () => {
  const draft = draftOf({ 0: "rm -rf build/cache\n " }, ALONE);
  assert.deepEqual(editsIn(draft), { 0: "rm -rf build/cache\n " });
  assert.deepEqual(unsentIn(draft), [{ what: "edit", text: "rm -rf build/cache\n " }]);
});

test("a command that is left as it was, or emptied, is no edit", () => {
  assert.equal(draftOf({ 0: "rm -rf build" }, ALONE), "");
  assert.equal(draftOf({ 0: " \n" }, ALONE), "");
  assert.deepEqual(unsentIn(""), []);
});

test("of a plan each step has its own, and what is sent goes alone", () => {
  const draft = draftOf({ 1: "make all", 2: "make stage" }, PLAN);
  assert.deepEqual(
    unsentIn(draft).map(({ what }) => what),
    ["edit of step 1", "edit of step 2"],
  );
  assert.deepEqual(editsIn(withoutEdit(draft, { position: 2 })), { 1: "make all" });
  assert.equal(withoutEdit(withoutEdit(draft, { position: 2 }), { position: 1 }), "");
});

test("what is no draft of edits is none", () => {
  for (const draft of ["", "null", "make it so", "7"]) assert.deepEqual(editsIn(draft), {});
});
