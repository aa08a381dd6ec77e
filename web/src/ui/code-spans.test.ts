import assert from "node:assert/strict";
import { test } from "node:test";
import { splitCode, type Piece } from "./code-spans.ts";

const words = (text: string): Piece => ({ kind: "words", text });
const code = (text: string): Piece => ({ kind: "code", text });
const block = (text: string): Piece => ({ kind: "block", text });

const cases: [string, Piece[]][] = [
  ["", []],
  ["no code at all", [words("no code at all")]],
  ["drop `orders.note` or not?", [words("drop "), code("orders.note"), words(" or not?")]],
  ["`a` `b`", [code("a"), words(" "), code("b")]],
  ["It says:\n```sh\nmake\n\nmake test\n```\nand stops.", [words("It says:"), block("make\n\nmake test"), words("and stops.")]],
  ["a lone ` stays", [words("a lone ` stays")]],
  ["not `over\nlines`", [words("not `over\nlines`")]],
  ["``` never closed\nx", [words("``` never closed\nx")]],
  ["``two``", [words("``two``")]],
];

for (const [text, pieces] of cases) {
  test(`${JSON.stringify(text)} falls into ${pieces.length}`, () => assert.deepEqual(splitCode(text), pieces));
}

test("a flood of spans is bounded, and no character of it is lost", () => {
  const pieces = splitCode("`a` ".repeat(20_000));
  assert.ok(pieces.length < 400);
  assert.ok(pieces.at(-1)!.text.length > 70_000);
});
