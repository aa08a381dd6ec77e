import assert from "node:assert/strict";
import { test } from "node:test";
import { answerAsBefore, answerInWords, answerWithChoice, choicesOf, mannerOf } from "./choices.ts";

type Channel = "tool_call" | "handoff" | "notification" | "system";
const asked = (channel: Channel, options: string[] = []) => ({ channel, options, schema: null });

test("an agent's options are answered by their number, counted from one, and by nothing else", () => {
  const escalation = asked("tool_call", ["Postgres", "SQLite"]);
  assert.deepEqual(
    choicesOf(escalation).map((choice) => choice.answer),
    [{ option: 1 }, { option: 2 }],
  );
  assert.equal(mannerOf(escalation), "choice");
});

test("options of a turn that ended stand beside words of one's own, a command's do not", () => {
  const ended = asked("handoff", ["Postgres", "SQLite"]);
  assert.deepEqual([choicesOf(ended).length, mannerOf(ended)], [2, "words"]);
  assert.equal(mannerOf({ ...asked("handoff"), kind: "approval" }), "choice");
});

test("a client's own prompt is answered with yes, no or modify, and words mean modify", () => {
  assert.deepEqual(
    choicesOf(asked("notification")).map((choice) => choice.answer.decision),
    ["yes", "no", "modify"],
  );
  assert.deepEqual(answerInWords({ channel: "notification" }, "on port 2"), { decision: "modify", text: "on port 2" });
  assert.equal(mannerOf(asked("notification")), "words");
});

test("a system card offers its actions", () => {
  const choices = choicesOf(asked("system", ["retry", "raise_budget"]));
  assert.deepEqual(
    choices.map(({ label, answer }) => [label, answer.action]),
    [
      ["Retry", "retry"],
      ["Raise budget", "raise_budget"],
    ],
  );
  assert.equal(mannerOf(asked("system", ["retry"])), "choice and words");
  assert.equal(mannerOf(asked("system")), "nothing");
});

test("what was typed goes along with an action or a decision; an option has no room for it", () => {
  const [option] = choicesOf(asked("tool_call", ["Postgres"]));
  const [action] = choicesOf(asked("system", ["skip"]));
  assert.ok(option && action);
  assert.deepEqual(answerWithChoice(option, " version 18 "), { option: 1 });
  assert.deepEqual(answerWithChoice(action, "flaky"), { action: "skip", text: "flaky" });
});

test("an answer with a schema is a choice where it is one of a few values, else typed", () => {
  const yesOrNo = { channel: "tool_call" as const, options: [], schema: { type: "boolean" } };
  assert.deepEqual(
    choicesOf(yesOrNo).map(({ answer }) => answer),
    [{ value: true }, { value: false }],
  );
  assert.equal(mannerOf(yesOrNo), "choice");
  assert.equal(mannerOf({ ...yesOrNo, schema: { type: "integer" } }), "typed");
});

test("words alone answer an agent that gave no options", () => {
  assert.deepEqual(answerInWords({ channel: "tool_call" }, " neither\n"), { text: "neither" });
  assert.deepEqual([mannerOf(asked("handoff")), mannerOf(asked("tool_call"))], ["words", "words"]);
});

test("a precedent is given again by what it says", () => {
  const answer = { text: "SQLite", option: 2, value: null };
  assert.deepEqual(answerAsBefore(asked("tool_call", ["SQLite", "Postgres"]), { answer }), { text: "SQLite" });
  const typed = { channel: "tool_call" as const, options: [], schema: { type: "integer" } };
  assert.deepEqual(answerAsBefore(typed, { answer: { text: "8080", option: null, value: 8080 } }), { value: 8080 });
});
