import assert from "node:assert/strict";
import { test } from "node:test";
import { piecesOf, ranked, scoreOf, STRONG, type Rankable } from "./rank.ts";

const entry = (title: string, rank = 0, ...beside: string[]): Rankable => ({
  key: title,
  texts: [title, ...beside],
  rank,
});
const order = (typed: string, ...entries: Rankable[]) => ranked(typed, entries).map(({ entry: { key } }) => key);

test("the whole goes before the beginning, that before a word, that before a part, that before letters", () => {
  const all = ["Xboardx", "Board", "The board", "Boards of all", "Bold on a road"].map((title) => entry(title));
  assert.deepEqual(order("board", ...all), ["Board", "Boards of all", "The board", "Xboardx"]);
  assert.deepEqual(order("boad", ...all), ["Board", "Boards of all", "The board", "Xboardx"]);
});

test("every word has to occur, in any order, in the title or beside it", () => {
  const tokens = entry("Refresh of tokens", 0, "gem-12");
  assert.deepEqual(order("tokens refresh", tokens), [tokens.key]);
  assert.deepEqual(order("tok gem", tokens), [tokens.key]);
  assert.deepEqual(order("tokens cache", tokens), []);
  assert.equal(scoreOf("gem-12", tokens.texts), 995);
});

test("case and accents do not count, and initials are letters too", () => {
  assert.ok((scoreOf("uberlauf", ["Überlauf im Puffer"]) ?? 0) >= STRONG);
  assert.ok((scoreOf("ÜBERLAUF", ["uberlauf"]) ?? 0) >= STRONG);
  assert.deepEqual(order("kh", entry("Keyboard help"), entry("Health"), entry("Kitchen hand")), [
    "Keyboard help",
    "Kitchen hand",
  ]);
});

test("letters that are far apart are chance, and one letter finds beginnings and parts only", () => {
  assert.equal(scoreOf("bz", ["Board of many things that end with z"]), null);
  assert.equal(scoreOf("q", ["Board"]), null);
  assert.notEqual(scoreOf("b", ["Board"]), null);
});

test("where the fit is equal the rank decides, then the key: the order is the same whatever it was before", () => {
  const [one, two, three] = [entry("Search a", 1), entry("Search b", 0), entry("Search c", 1)];
  const wanted = ["Search b", "Search a", "Search c"];
  assert.deepEqual(order("search", one, two, three), wanted);
  assert.deepEqual(order("search", three, two, one), wanted);
});

test("what is kept stays at the end though it does not fit", () => {
  const [found, answer] = [entry("Cache"), entry("Something else")];
  const list = ranked("cache", [answer, found], (one) => one === answer);
  assert.deepEqual(list, [
    { entry: found, score: 1_000 },
    { entry: answer, score: 0 },
  ]);
});

test("nothing typed fits everything, and very long text is cut before it is looked at", () => {
  assert.equal(scoreOf("   ", ["Board"]), 0);
  assert.equal(scoreOf("needle", [`${"hay ".repeat(100_000)}needle`]), null);
});

test("pieces put together are the text, and what was typed is told apart", () => {
  const pieces = piecesOf("Refresh of tokens", "TOK re");
  assert.equal(pieces.map(({ text }) => text).join(""), "Refresh of tokens");
  assert.deepEqual(
    pieces.filter(({ isMatch }) => isMatch).map(({ text }) => text),
    ["Re", "tok"],
  );
  assert.deepEqual(piecesOf("<b>İ</b>", "b"), [{ text: "<b>İ</b>", isMatch: false }]);
  assert.deepEqual(piecesOf("", "b"), []);
});
