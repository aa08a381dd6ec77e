import assert from "node:assert/strict";
import { test } from "node:test";
import { heightOf, rangeOf, rowAt, rowsIn, scrolledTo, topOf, type Rows } from "./window.ts";

const rows: Rows = { count: 5_000, height: 100, tall: [], extra: 50 };
const uneven: Rows = { count: 10, height: 100, tall: [2, 5], extra: 50 };

test("rows that say more push those below them down", () => {
  assert.equal(topOf(uneven, 2), 200);
  assert.equal(topOf(uneven, 3), 350);
  assert.equal(topOf(uneven, 6), 700);
  assert.equal(heightOf(uneven), 1_100);
});

test("the row at a distance is the one that reaches over it", () => {
  for (let row = 0; row < uneven.count; row++) {
    assert.equal(rowAt(uneven, topOf(uneven, row)), row);
    assert.equal(rowAt(uneven, topOf(uneven, row + 1) - 1), row);
  }
  assert.equal(rowAt(uneven, 1e9), 9);
  assert.equal(rowAt({ ...rows, count: 0 }, 10), 0);
});

test("what is drawn covers what is in view, wherever it is scrolled to, and little more", () => {
  for (let scrolled = 0; scrolled <= heightOf(rows); scrolled += 777) {
    const { first, end } = rangeOf(rows, scrolled, 600, 8);
    assert.ok(topOf(rows, first) <= scrolled);
    assert.ok(end === rows.count || topOf(rows, end) >= scrolled + 600);
    assert.ok(end - first <= 6 + 1 + 2 * 8 + 2 * 4);
  }
});

test("a few pixels draw nothing anew", () => {
  assert.deepEqual(rangeOf(rows, 10_000, 600, 8), rangeOf(rows, 10_040, 600, 8));
});

test("rows that are kept are drawn once, in their order", () => {
  assert.deepEqual(rowsIn({ first: 3, end: 6 }, [4, 9, 0, -1, 9]), [0, 3, 4, 5, 9]);
  assert.deepEqual(rowsIn({ first: 0, end: 0 }, [-1]), []);
});

test("a row is brought into view by the shortest way", () => {
  assert.equal(scrolledTo(rows, 3, 1_000, 600), 300);
  assert.equal(scrolledTo(rows, 12, 1_000, 600), 1_000);
  assert.equal(scrolledTo(rows, 40, 1_000, 600), 3_500);
});
