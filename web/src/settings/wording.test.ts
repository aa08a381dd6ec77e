import assert from "node:assert/strict";
import { test } from "node:test";
import { errorsIn, nameParts, stateOf } from "./wording.ts";

const finding = (severity: "error" | "note") => ({ line: 1, message: "", severity });

test("a file's faults go before its notes, and what is not there has none", () => {
  assert.equal(stateOf({ digest: "", findings: [] }).words, "not there: the defaults count");
  assert.deepEqual(stateOf({ digest: "a", findings: [] }), { words: "no fault", tone: "ok" });
  assert.deepEqual(stateOf({ digest: "a", findings: [finding("note")] }), { words: "1 note", tone: "warn" });
  const both = [finding("note"), finding("error"), finding("error")];
  assert.deepEqual(stateOf({ digest: "a", findings: both }), { words: "2 faults", tone: "fail" });
  assert.equal(errorsIn(both), 2);
});

test("a name is a table and a key", () => {
  assert.deepEqual(nameParts("handoff.gate.unpushed"), { table: "handoff.gate", key: "unpushed" });
  assert.deepEqual(nameParts("phone"), { table: "", key: "phone" });
});
