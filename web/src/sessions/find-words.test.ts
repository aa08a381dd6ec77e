import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_PLACES, partsOf } from "./find-words.ts";

const told = (text: string, words: string) =>
  partsOf(text, words).map(({ text: part, place }) => (place === null ? part : `[${place}:${part}]`));

test("words are found whatever their case, and the text stays as it is", () => {
  assert.deepEqual(told("Error: no error here", "ERROR"), ["[0:Error]", ": no ", "[1:error]", " here"]);
  assert.deepEqual(told("aaaa", "aa"), ["[0:aa]", "[1:aa]"]);
  assert.deepEqual(told("nothing of it", "x.*"), ["nothing of it"]);
  assert.deepEqual(told("all of it", ""), ["all of it"]);
  assert.deepEqual(told("", "x"), []);
});

test("a letter that grows when it is made small moves no place", () => {
  assert.deepEqual(told("İİ Error", "error"), ["İİ ", "[0:Error]"]);
});

test("of a flood the last places are marked, and no character is lost", () => {
  const text = "ab".repeat(3_000);
  const parts = partsOf(text, "a");
  assert.equal(parts.filter(({ place }) => place !== null).length, MOST_PLACES);
  assert.equal(parts.map((part) => part.text).join(""), text);
  assert.equal(parts.at(-2)!.place, MOST_PLACES - 1);
});
