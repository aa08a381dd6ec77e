import assert from "node:assert/strict";
import test from "node:test";
import { piecesOf } from "./letters.ts";

const shown = (command: string) =>
  piecesOf(command)
    .map((piece) => piece.text)
    .join("");
const marks = (command: string) =>
  piecesOf(command)
    .filter((piece) => piece.isMark)
    .map((piece) => piece.text);

test("a command that hides nothing stands as it is", () => {
  assert.deepEqual(piecesOf("rm -rf 'a b' über 日本"), [{ text: "rm -rf 'a b' über 日本", isMark: false }]);
  assert.deepEqual(piecesOf(""), []);
});

test("what cannot be seen is named", () => {
  assert.equal(shown("rm\u200b -rf\u202e x"), "rm⟨U+200B⟩ -rf⟨U+202E⟩ x");
  assert.equal(shown("a\u00a0b\u3000c"), "a⟨U+00A0⟩b⟨U+3000⟩c");
  assert.equal(shown("a\u00adb\ufe0fc\u{e0041}d\ud800"), "a⟨U+00AD⟩b⟨U+FE0F⟩c⟨U+E0041⟩d⟨U+D800⟩");
  assert.equal(shown("a\u001b[2Kb\u0007\u007f"), "a␛[2Kb␇⟨U+007F⟩");
});

test("the ends of lines and the spaces before them are seen, and a carriage return is not taken for one", () => {
  assert.equal(shown("make\nrm x"), "make↵\nrm x");
  assert.equal(shown("make  \nrm "), "make··↵\nrm·");
  assert.equal(shown("make\r\nrm"), "make␍↵\nrm");
  assert.equal(shown("a\tb"), "a⇥\tb");
});

test("marks that follow each other are one", () => {
  assert.deepEqual(marks("a\u200b\u200bb\u200b"), ["⟨U+200B⟩⟨U+200B⟩", "⟨U+200B⟩"]);
});

test("a very long one is one piece, with the same names in it", () => {
  const long = "x\u200b".repeat(20_000);
  assert.equal(piecesOf(long).length, 1);
  assert.ok(shown(long).startsWith("x⟨U+200B⟩x"));
});
