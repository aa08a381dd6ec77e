import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkItem } from "../api/types.ts";
import { changeOf, FACTS, isContested, read, textOf, TEXTS, TITLE, type Field } from "./fields.ts";

const field = (name: string): Field => [TITLE, ...TEXTS, ...FACTS].find((one) => one.name === name)!;
const item = { labels: ["a", "b"], targets: ["src/**", "docs/a.md"], estimated_tokens: null, priority: 0, title: "T" };

test("every field is typed as it reads", () => {
  const shown = (name: string) => textOf(item as unknown as WorkItem, field(name));
  assert.equal(shown("labels"), "a, b");
  assert.equal(shown("targets"), "src/**\ndocs/a.md");
  assert.equal(shown("estimated_tokens"), "");
  assert.equal(shown("priority"), "0");
});

test("what is typed is read by the field's shape", () => {
  assert.deepEqual(read(field("labels"), " a,, b ,a"), { value: ["a", "b"] });
  assert.deepEqual(read(field("targets"), "src/a,b.py\n\n docs "), { value: ["src/a,b.py", "docs"] });
  assert.deepEqual(read(field("estimated_tokens"), " 12000 "), { value: 12_000 });
  assert.deepEqual(read(field("estimated_tokens"), ""), { value: null });
  assert.deepEqual(read(field("assignee"), "  "), { value: null });
  assert.deepEqual(read(field("parent"), " s-1 "), { value: "s-1" });
  assert.deepEqual(read(field("priority"), "4"), { value: 4 });
  assert.deepEqual(read(field("description"), " as it is\n"), { value: " as it is\n" });
});

test("what a field cannot have is told before it is sent", () => {
  for (const text of ["-1", "1.5", "many", "1".repeat(16)]) assert.ok("fault" in read(field("estimated_tokens"), text));
  assert.ok("fault" in read(TITLE, "  "));
});

test("a change names its field and the version that was looked at", () => {
  assert.deepEqual(changeOf(field("priority"), 1, 7), { priority: 1, version: 7 });
});

test("only another value by somebody else is a contest", () => {
  assert.ok(isContested("old", "theirs", "mine"));
  assert.ok(!isContested("old", "old", "mine"));
  assert.ok(!isContested("old", "mine", "mine"));
});
