import assert from "node:assert/strict";
import { test } from "node:test";
import { burnSentence, fewTokens, levelWords, lookOf, percent, readTokens } from "./wording.ts";

test("a budget is read as people write one", () => {
  const read = ["2000000", "2,000,000", "2 000 000", " 1.5M ", "500k", "0", "-3", "1.5", "many", "1,00"].map(readTokens);
  assert.deepEqual(read, [2_000_000, 2_000_000, 2_000_000, 1_500_000, 500_000, null, null, null, null, null]);
});

test("a share never looks larger than it is", () => {
  assert.deepEqual([0, 0.5, 0.999, 1, 1.804, 0.29].map(percent), ["0 %", "50 %", "99 %", "100 %", "180 %", "29 %"]);
});

test("tokens fit where there is little room", () => {
  assert.deepEqual([0, 999, 1_000, 12_345, 999_949, 999_950, 2_500_000].map(fewTokens), [
    ...["0", "999", "1 k", "12 k", "1000 k", "1 M", "2.5 M"],
  ]);
});

test("one that is held says so before anything else", () => {
  assert.equal(lookOf({ state: "running", held: true }).label, "held");
  assert.equal(lookOf({ state: "running", held: false }).label, "running");
  assert.equal(levelWords("stop", true), "Past its stop: nothing new is begun.");
});

test("a burn-down is one sentence", () => {
  const day = { day: "2026-01-01", tokens: 5, items: 3, items_left: 1, even: null };
  assert.equal(burnSentence({ days: [], last_day: null }, 10), "It has not begun.");
  assert.equal(
    burnSentence({ days: [{ ...day, tokens_left: 995 }], last_day: null }, 1_000),
    "On the first day: 1 of 3 items left, 995 of 1,000 tokens left.",
  );
  assert.match(burnSentence({ days: [{ ...day, tokens_left: -20 }], last_day: null }, 1_000), /20 tokens over the budget/);
});
