import assert from "node:assert/strict";
import { test } from "node:test";
import type { Escalation } from "../api/types.ts";
import { summaryOf } from "./summary.ts";

const ask = (session_id: string, urgency: Escalation["urgency"]) => ({ session_id, urgency }) as Escalation;

test("what is put off still stops its agent, and what said to wait is not told as holding nobody up", () => {
  const put = [ask("a", "blocking"), ask("b", "advisory")];
  assert.equal(summaryOf([], 0, put), "1 agent is stopped until you answer, snoozed.");
  assert.equal(summaryOf([ask("a", "blocking")], 0, put), "1 agent is stopped until you answer.");
  const both = "2 agents are stopped until you answer, 1 of them snoozed.";
  assert.equal(summaryOf([ask("c", "blocking")], 0, put), both);
  const waits = { ...ask("d", "advisory"), waiting: true };
  const said = "1 question is advisory, yet said to wait. 1 question does not hold anyone up.";
  assert.equal(summaryOf([waits, ask("e", "advisory")], 0), said);
});

test("counts stopped agents once each, however much they ask", () => {
  const active = [ask("a", "blocking"), ask("a", "blocking"), ask("b", "blocking"), ask("c", "advisory")];
  assert.equal(summaryOf(active, 0), "2 agents are stopped until you answer. 1 question does not hold anyone up.");
});

test("says only what there is", () => {
  assert.equal(summaryOf([], 0), "Nobody waits for you any more.");
  assert.equal(summaryOf([ask("a", "blocking")], 0), "1 agent is stopped until you answer.");
  assert.equal(summaryOf([], 2), "Nobody waits for you any more. 2 answers have not arrived.");
});
