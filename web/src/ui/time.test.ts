import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAgo, formatSpan, tomorrowMorning } from "./time.ts";

const cases: [number, string][] = [
  [-5, "now"],
  [9.9, "now"],
  [10, "10 s"],
  [47, "40 s"],
  [60, "1 min"],
  [59 * 60 + 59, "59 min"],
  [3600, "1 h"],
  [2 * 3600 + 11 * 60, "2 h 11 min"],
  [86_400, "1 day"],
  [5 * 86_400 + 3600, "5 days"],
];

for (const [seconds, text] of cases) {
  test(`${seconds} s reads "${text}"`, () => assert.equal(formatSpan(seconds * 1000), text));
}

test("the past is told as such", () => {
  assert.equal(formatAgo(0), "just now");
  assert.equal(formatAgo(120_000), "2 min ago");
});

test("tomorrow morning is 9:00 on the next day, also late at night and at the end of a month", () => {
  assert.deepEqual(tomorrowMorning(new Date(2026, 0, 31, 23, 59)), new Date(2026, 1, 1, 9));
  assert.deepEqual(tomorrowMorning(new Date(2026, 5, 3, 0, 1)), new Date(2026, 5, 4, 9));
});
