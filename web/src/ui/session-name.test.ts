import assert from "node:assert/strict";
import { test } from "node:test";
import { sessionName } from "./session-name.ts";

test("a session is called by its id", () => {
  assert.equal(sessionName("importer-1"), "importer-1");
  assert.equal(sessionName("team-1"), "team-1");
});

test("one that works on a run's task is called by the task and the try", () => {
  assert.equal(sessionName("team-a831be19c184.IMPL-001.3"), "IMPL-001 try 3");
});

test("what would hide in a name is shown", () => {
  assert.equal(sessionName("team-a8.\u202eX.1"), "⟨U+202E⟩X try 1");
});
