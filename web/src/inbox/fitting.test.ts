import assert from "node:assert/strict";
import { test } from "node:test";
import { fitting } from "./fitting.ts";

const ask = (options: string[] = [], schema: Record<string, unknown> | null = null) => ({
  channel: "tool_call" as const,
  options,
  schema,
});

test("one answer goes to those of the form that most have", () => {
  const words = [ask(), ask()];
  const colour = ask(["red", "green"]);
  assert.deepEqual(fitting([colour, ...words]), { fit: words, rest: [colour] });
});

test("the same options in another order are another form: their numbers mean something else", () => {
  const first = ask(["red", "green"]);
  const second = ask(["green", "red"]);
  assert.deepEqual(fitting([first, second]), { fit: [first], rest: [second] });
});

test("a client's own prompt is never answered along with others", () => {
  const prompt = { channel: "notification" as const, options: [], schema: null };
  assert.deepEqual(fitting([prompt]), { fit: [], rest: [prompt] });
});
