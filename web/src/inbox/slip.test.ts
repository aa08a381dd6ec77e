import assert from "node:assert/strict";
import test from "node:test";
import { isDoublePress, isSlip } from "./slip.ts";

const first = { id: "a", x: 100, y: 100, at: 1_000 };

test("a click on the same spot, on another card, a moment later was not meant for it", () => {
  assert.equal(isSlip({ x: 103, y: 98, at: 1_250 }, "b", first), true);
});

test("what comes later, elsewhere, on the same card or first of all was meant", () => {
  assert.equal(isSlip({ x: 103, y: 98, at: 1_600 }, "b", first), false);
  assert.equal(isSlip({ x: 160, y: 98, at: 1_250 }, "b", first), false);
  assert.equal(isSlip({ x: 103, y: 98, at: 1_250 }, "a", first), false);
  assert.equal(isSlip({ x: 103, y: 98, at: 1_250 }, "b", null), false);
});

test("a key pressed twice is not meant for the card that came next", () => {
  assert.equal(isDoublePress({ id: "b", at: 1120 }, { id: "a", at: 1000 }), true);
  assert.equal(isDoublePress({ id: "b", at: 1600 }, { id: "a", at: 1000 }), false);
  assert.equal(isDoublePress({ id: "a", at: 1120 }, { id: "a", at: 1000 }), false);
  assert.equal(isDoublePress({ id: "a", at: 1120 }, null), false);
});
