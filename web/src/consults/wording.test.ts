import assert from "node:assert/strict";
import { test } from "node:test";
import { Refused } from "../api/problem.ts";
import type { ConsultSummary } from "../api/types";
import { answeredBy, formatDollars, problemOf, skillOf, stoodIn, usageOf } from "./wording.ts";

test("who stood in for a model is told with the reason", () => {
  const error = "the session of claude ended before the summary came (exit 1); the built-in advisor answered instead";
  assert.equal(stoodIn({ error }), "the session of claude ended before the summary came (exit 1)");
  assert.equal(stoodIn({ error: "cancelled by operator" }), null);
  assert.equal(stoodIn({ error: null }), null);
});

test("who answered is named", () => {
  assert.equal(answeredBy({ model: "gemba-advisor", status: "completed" }), "the built-in advisor");
  assert.equal(answeredBy({ model: "a-model", status: "completed" }), "a-model");
  assert.equal(answeredBy({ model: null, status: "running" }), "not known yet");
});

test("money is told in cents, and less than a cent with its digits", () => {
  assert.equal(formatDollars(0), "$0.00");
  assert.equal(formatDollars(0.25), "$0.25");
  assert.equal(formatDollars(0.0032), "$0.0032");
});

test("only what is known of a consult's usage is told", () => {
  const consult = { tokens: { input: 900, output: 100, total: 1000 }, dollars: null, latency_ms: 1_530 };
  assert.deepEqual(usageOf(consult as ConsultSummary), ["1,000 tokens (900 in, 100 out)", "1.5 s"]);
});

test("what went wrong when a line was applied has a word of its own", () => {
  assert.equal(problemOf(new Refused(409, {})), "Somebody applied it already");
  assert.equal(problemOf(new Refused(424, {})), "Refused by its own route, nothing was changed");
  assert.equal(problemOf(new TypeError("network")), "Not applied");
  assert.equal(skillOf("of_another_time"), "of_another_time");
});
