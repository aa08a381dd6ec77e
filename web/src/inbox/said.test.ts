import assert from "node:assert/strict";
import { test } from "node:test";
import type { Escalation } from "../api/types.ts";
import { answeredWords, doneWords } from "./said.ts";

const NOW = new Date("2026-01-02T14:10:00");
const one = (more: object) =>
  ({ kind: "question", title: null, text: "Which port?", session_id: "web-1", proposal: null, snoozed_until: null, ...more }) as Escalation;
const answered = (text: string, more: object = {}) => ({ resolution: { outcome: "answered", by: "operator", text, ...more } });

test("an answer is told with its agent and its question", () => {
  assert.equal(answeredWords([one(answered("8080"))]), "Answered web-1: “8080” · Which port?");
  assert.equal(answeredWords([one({ ...answered("8080"), title: "Port" })]), "Answered web-1: “8080” · Port");
  assert.equal(answeredWords([one(answered("8080")), one(answered("8080"))]), "Answered 2: “8080”");
  assert.equal(answeredWords([]), "Not answered");
});

test("of a permission it is told what may run, and what may not", () => {
  const asked = { kind: "permission_prompt", text: "Bash: dropdb test\ndescription: tidy up" };
  assert.equal(answeredWords([one({ ...asked, ...answered("yes", { decision: "yes" }) })]), "Allowed: Bash: dropdb test");
  assert.equal(answeredWords([one({ ...asked, ...answered("no", { decision: "no" }) })]), "Refused: Bash: dropdb test");
  const instead = answeredWords([one({ ...asked, ...answered("use the copy", { decision: "modify" }) })]);
  assert.equal(instead, "Answered web-1: “use the copy” · Bash: dropdb test");
});

test("what was only proposed does not count as done", () => {
  const proposed = one({ resolution: null, proposal: { state: "waiting" } });
  assert.equal(answeredWords([proposed]), "Proposed web-1 · Which port?");
  assert.equal(doneWords("Approved: make", [proposed], NOW), "Proposed, not done yet: Approved: make");
});

test("what is put off or decided otherwise is named, with its time", () => {
  const later = one({ resolution: null, snoozed_until: "2026-01-02T15:10:00" });
  assert.match(doneWords("Snoozed for an hour", [later], NOW), /^Snoozed for an hour, until .*:10.* · Which port\?$/);
  assert.equal(doneWords("Dismissed", [one({ resolution: null })], NOW), "Dismissed · Which port?");
  assert.equal(doneWords("Approved: git push", [one({ kind: "approval", resolution: null })], NOW), "Approved: git push");
});
