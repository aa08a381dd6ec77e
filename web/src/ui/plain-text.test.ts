import assert from "node:assert/strict";
import { test } from "node:test";
import { firstLine, plainText } from "./plain-text.ts";

test("line breaks, tabs and other scripts stay as they are", () => {
  const text = "a\n\tb — größer, 日本語, שלום 👩‍💻";
  assert.equal(plainText(text), text);
  assert.equal(plainText("a\r\nb"), "a\nb");
});

test("what reorders or hides text is shown by name", () => {
  assert.equal(plainText("rm \u202egnp.x"), "rm ⟨U+202E⟩gnp.x");
  assert.equal(plainText("\u001b[2Jgone\u0008"), "␛[2Jgone␈");
  assert.equal(plainText("a\u200bb"), "a⟨U+200B⟩b");
});

test("the first line skips blank ones and is cut with a mark", () => {
  assert.equal(firstLine("\n  \n hello \nworld"), "hello");
  assert.equal(firstLine("x".repeat(200), 10), `${"x".repeat(9)}…`);
});
