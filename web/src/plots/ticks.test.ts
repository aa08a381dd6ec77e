import assert from "node:assert/strict";
import { test } from "node:test";
import { roundTicks, sayShort, spread, timeTicks } from "./ticks.ts";

test("marks are round numbers, and the last is not passed", () => {
  assert.deepEqual(roundTicks(10).ticks, [0, 5, 10]);
  assert.deepEqual(roundTicks(7).ticks, [0, 2, 4, 6, 8]);
  assert.deepEqual(roundTicks(0.37).ticks, [0, 0.1, 0.2, 0.3, 0.4]);
  assert.deepEqual(roundTicks(4_321).ticks, [0, 2_000, 4_000, 6_000]);
  assert.deepEqual(roundTicks(8_000_000).ticks, [0, 2_000_000, 4_000_000, 6_000_000, 8_000_000]);
});

test("what is counted has no halves", () => {
  assert.deepEqual(roundTicks(1, { whole: true }).ticks, [0, 1]);
  assert.deepEqual(roundTicks(3, { whole: true }).ticks, [0, 1, 2, 3]);
  assert.deepEqual(roundTicks(1).ticks, [0, 0.5, 1]);
});

test("nothing at all still has an axis", () => {
  assert.deepEqual(roundTicks(0), { least: 0, most: 1, ticks: [0, 1] });
  assert.deepEqual(timeTicks(0), { least: 0, most: 1, ticks: [0, 1] });
});

test("what falls below nought is on the axis, and nought is a mark", () => {
  assert.deepEqual(roundTicks(1_000, { least: -200 }).ticks, [-500, 0, 500, 1_000]);
  assert.deepEqual(roundTicks(0, { least: -3 }).ticks, [-3, -2, -1, 0]);
});

test("times are marked in seconds, minutes, hours and days", () => {
  assert.deepEqual(timeTicks(50).ticks, [0, 15, 30, 45, 60]);
  assert.deepEqual(timeTicks(200).ticks, [0, 60, 120, 180, 240]);
  assert.deepEqual(timeTicks(3_600).ticks, [0, 900, 1_800, 2_700, 3_600]);
  assert.deepEqual(timeTicks(5 * 3_600).ticks, [0, 7_200, 14_400, 21_600]);
  assert.deepEqual(timeTicks(30 * 86_400).ticks, [0, 10, 20, 30].map((days) => days * 86_400));
});

test("every scale holds its values, whatever they are", () => {
  for (let exponent = -6; exponent <= 14; exponent += 1)
    for (const digits of [1, 1.0000001, 1.5, 2, 3.3, 4.9999, 5, 9.99]) {
      const value = digits * 10 ** exponent;
      for (const { least, most, ticks } of [roundTicks(value), roundTicks(0, { least: -value }), timeTicks(value)]) {
        assert.ok(least <= 0 && most >= 0 && (most >= value * (1 - 1e-6) || least <= -value * (1 - 1e-6)), `${value}`);
        assert.ok(ticks.length >= 2 && ticks.length <= 7, `${value}: ${ticks.join()}`);
        assert.ok(ticks.includes(0) && ticks[0] === least && ticks.at(-1) === most);
      }
    }
});

test("labels stand at even distances and the last position has one", () => {
  assert.deepEqual(spread(7, 10), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(spread(30, 4), [5, 13, 21, 29]);
  assert.deepEqual(spread(90, 1), [89]);
  assert.deepEqual(spread(1, 0), [0]);
  assert.deepEqual(spread(0, 5), []);
});

test("a mark is short and says what it is", () => {
  const said = [0, 0.05, 500, 1_500, 20_000, 2_500_000, 5e9, -500].map(sayShort);
  assert.deepEqual(said, ["0", "0.05", "500", "1.5 k", "20 k", "2.5 M", "5 G", "-500"]);
});
