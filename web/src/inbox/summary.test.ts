import assert from "node:assert/strict";
import { test } from "node:test";
import type { Escalation } from "../api/types.ts";
import { summaryOf } from "./summary.ts";

const ask = (session_id: string, urgency: Escalation["urgency"]) => ({ session_id, urgency }) as Escalation;

test("counts stopped agents once each, however much they ask", () => {
  const active = [ask("a", "blocking"), ask("a", "blocking"), ask("b", "blocking"), ask("c", "advisory")];
  assert.equal(summaryOf(active), "2 agents are stopped until you answer. 1 question does not hold anyone up.");
});

test("says only what there is", () => {
  assert.equal(summaryOf([]), "");
  assert.equal(summaryOf([ask("a", "blocking")]), "1 agent is stopped until you answer.");
});
