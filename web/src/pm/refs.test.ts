import assert from "node:assert/strict";
import { test } from "node:test";
import { refOf } from "./refs.ts";

test("a question is about the one thing that is open", () => {
  assert.deepEqual(refOf({ name: "session", title: "s-1", id: "s-1" }), { what: "session", id: "s-1" });
  assert.deepEqual(refOf({ name: "escalation", title: "e", id: "e" }), { what: "escalation", id: "e" });
});

test("on a screen of many it is about nothing yet", () => {
  assert.equal(refOf({ name: "inbox", title: "Inbox" }), null);
  assert.equal(refOf({ name: null, title: null }), null);
});
