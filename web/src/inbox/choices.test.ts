import assert from "node:assert/strict";
import { test } from "node:test";
import { answerInWords, answerWithChoice, choicesOf, takesWords } from "./choices.ts";

test("an agent's options are answered by their number, counted from one", () => {
  const choices = choicesOf({ channel: "tool_call", options: ["Postgres", "SQLite"] });
  assert.deepEqual(
    choices.map((choice) => choice.answer),
    [{ option: 1 }, { option: 2 }],
  );
});

test("a client's own prompt is answered with yes, no or modify, and words mean modify", () => {
  const choices = choicesOf({ channel: "notification", options: [] });
  assert.deepEqual(
    choices.map((choice) => choice.answer.decision),
    ["yes", "no", "modify"],
  );
  assert.deepEqual(answerInWords({ channel: "notification" }, "on port 2"), { decision: "modify", text: "on port 2" });
});

test("a system card offers its actions", () => {
  const choices = choicesOf({ channel: "system", options: ["retry", "raise_budget"] });
  assert.deepEqual(
    choices.map(({ label, answer }) => [label, answer.action]),
    [
      ["Retry", "retry"],
      ["Raise budget", "raise_budget"],
    ],
  );
});

test("what was typed goes along with the choice", () => {
  const [option] = choicesOf({ channel: "tool_call", options: ["Postgres"] });
  const [action] = choicesOf({ channel: "system", options: ["skip"] });
  assert.ok(option && action);
  assert.deepEqual(answerWithChoice(option, "  "), { option: 1 });
  assert.deepEqual(answerWithChoice(option, " version 18 "), { text: "Postgres\n\nversion 18" });
  assert.deepEqual(answerWithChoice(action, "flaky"), { action: "skip", text: "flaky" });
});

test("words alone answer an agent and never a system card", () => {
  assert.deepEqual(answerInWords({ channel: "tool_call" }, " neither\n"), { text: "neither" });
  assert.deepEqual([takesWords({ channel: "handoff" }), takesWords({ channel: "system" })], [true, false]);
});
