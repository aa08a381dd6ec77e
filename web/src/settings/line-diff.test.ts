import assert from "node:assert/strict";
import { test } from "node:test";
import { changesOf, linesOf } from "./line-diff.ts";

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join("");
const shown = (before: string, after: string) =>
  changesOf(before, after).map((line) =>
    line.kind === "gap" ? `… ${line.many}` : `${{ same: " ", gone: "-", new: "+" }[line.kind]}${line.number} ${line.text}`,
  );

test("nothing changes where nothing does", () => {
  assert.deepEqual(changesOf("a\nb\n", "a\nb\n"), []);
  assert.deepEqual(changesOf("", ""), []);
});

test("a line that is another one goes and comes, with what stands around it", () => {
  const before = text("a", "b", "c", "d", "e", "f", "g");
  assert.deepEqual(shown(before, before.replace("d", "D")), [
    "… 1",
    " 2 b",
    " 3 c",
    "-4 d",
    "+4 D",
    " 5 e",
    " 6 f",
    "… 1",
  ]);
});

test("lines are put in and taken out", () => {
  assert.deepEqual(shown(text("a", "b"), text("a", "x", "b")), [" 1 a", "+2 x", " 3 b"]);
  assert.deepEqual(shown(text("a", "x", "b"), text("a", "b")), [" 1 a", "-2 x", " 2 b"]);
  assert.deepEqual(shown("", text("a")), ["+1 a"]);
  assert.deepEqual(shown(text("a"), ""), ["-1 a"]);
});

test("the old lines are the old text and the new ones the new text", () => {
  const before = text("a", "b", "c", "a", "b", "b", "a");
  const after = text("c", "b", "a", "b", "a", "c");
  const lines = linesOf(before, after);
  assert.equal(text(...lines.filter(({ kind }) => kind !== "new").map((line) => line.text)), before);
  assert.equal(text(...lines.filter(({ kind }) => kind !== "gone").map((line) => line.text)), after);
});

test("texts that have very little in common are shown as replaced, at once", () => {
  const many = (letter: string) => text(...Array.from({ length: 3_000 }, (_, number) => `${letter}${number}`));
  assert.equal(linesOf(many("a"), many("b")).length, 6_000);
});
