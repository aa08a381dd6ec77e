import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf, spansOf } from "./markdown.ts";

const kinds = (text: string) => blocksOf(text).map(({ kind }) => kind);

test("headings, words, lists, tables, quotes, code and rules are told apart", () => {
  const text = "# One\n\nSome\nwords.\n\n- a\n  - b\n  goes on\n1. c\n\n| x | y |\n|---|---|\n| 1 | a\\|b |\n\n> said\n\n```sh\n# no heading\n```\n---\nend";
  assert.deepEqual(kinds(text), ["heading", "words", "list", "table", "quote", "code", "rule", "words"]);
  const blocks = blocksOf(text);
  assert.deepEqual(blocks[2], {
    ...{ kind: "list", ordered: false, start: 1 },
    items: [{ depth: 0, text: "a" }, { depth: 1, text: "b\ngoes on" }, { depth: 0, text: "c" }],
  });
  assert.deepEqual(blocks[3], { kind: "table", head: ["x", "y"], rows: [["1", "a|b"]] });
  assert.deepEqual(blocks[5], { kind: "code", text: "# no heading" });
});

test("links, images and HTML stay what was written", () => {
  const text = "[here](javascript:alert(1)) ![x](http://evil/x.png) <img src=x onerror=alert(1)>";
  assert.deepEqual(blocksOf(text), [{ kind: "words", text }]);
  assert.deepEqual(spansOf(text), [{ kind: "words", text }]);
});

test("code, strong and soft words are spans, stars in names and sums are not", () => {
  assert.deepEqual(spansOf("a `b*c*` **d** *e* f_g_h 2*3*4 * no *"), [
    ...[{ kind: "words", text: "a " }, { kind: "code", text: "b*c*" }, { kind: "words", text: " " }],
    ...[{ kind: "strong", text: "d" }, { kind: "words", text: " " }, { kind: "soft", text: "e" }],
    { kind: "words", text: " f_g_h 2*3*4 * no *" },
  ]);
});

test("what is escaped is itself, and begins nothing", () => {
  assert.deepEqual(spansOf("say \\`ls\\` and \\*no\\* `a\\b`"), [
    { kind: "words", text: "say `ls` and *no* " },
    { kind: "code", text: "a\\b" },
  ]);
});

test("a fence that is never closed ends with the text, and a long text ends in one block", () => {
  assert.deepEqual(blocksOf("```\nx"), [{ kind: "code", text: "x" }]);
  const long = blocksOf("word\n\n".repeat(5_000));
  assert.equal(long.length, 2_001);
  assert.equal(long.at(-1)!.kind, "code");
});

test("a text made to take long does not", () => {
  const start = performance.now();
  for (const text of ["*".repeat(50_000), "|".repeat(50_000), "> ".repeat(30_000), "`a".repeat(30_000), "- ".repeat(40_000), "# ".repeat(30_000)])
    for (const block of blocksOf(text)) if ("text" in block) spansOf(block.text);
  assert.ok(performance.now() - start < 3_000);
});
