import assert from "node:assert/strict";
import { test } from "node:test";
import { bandsOf, heightOn, stacked, stretches } from "./area.ts";
import { roundTicks } from "./ticks.ts";

const AREA = { left: 40, right: 240, top: 10, bottom: 110 };

test("the least value stands at the bottom, the most at the top, nought between them", () => {
  const height = heightOn(roundTicks(10), AREA);
  assert.deepEqual([height(0), height(5), height(10)], [110, 60, 10]);
  const below = heightOn({ least: -10, most: 10, ticks: [] }, AREA);
  assert.deepEqual([below(-10), below(0), below(10)], [110, 60, 10]);
});

test("bands fill the area", () => {
  const bands = bandsOf(4, AREA);
  assert.equal(bands.width, 50);
  assert.deepEqual([bands.startOf(0), bands.middleOf(0), bands.startOf(3), bands.middleOf(3)], [40, 65, 190, 215]);
  assert.equal(bandsOf(0, AREA).width, 200);
});

test("parts stand on each other and end at their sum", () => {
  assert.deepEqual(stacked([2, null, 3]), [
    [0, 2],
    [2, 2],
    [2, 5],
  ]);
  assert.deepEqual(stacked([]), []);
});

test("a line has a gap where there is no value", () => {
  assert.deepEqual(stretches([1, 2, null, 0, null, null, 5]), [[0, 1], [3], [6]]);
  assert.deepEqual(stretches([null]), []);
});
