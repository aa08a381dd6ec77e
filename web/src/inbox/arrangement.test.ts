import assert from "node:assert/strict";
import { test } from "node:test";
import { arrange } from "./arrangement.ts";

const never = () => false;

test("an empty screen shows everything", () => {
  assert.deepEqual(arrange([], ["a", "b"], 0, never), ["a", "b"]);
});

test("a new card behind the last one appears at once", () => {
  assert.deepEqual(arrange(["a", "b"], ["a", "b", "c"], 2, never), ["a", "b", "c"]);
});

test("a new card among those in view waits", () => {
  assert.deepEqual(arrange(["a", "b"], ["a", "x", "b"], 2, never), ["a", "b"]);
});

test("below the view the server's order holds, for arrivals and for departures", () => {
  assert.deepEqual(arrange(["a", "b", "c", "d"], ["a", "b", "x", "d"], 2, never), ["a", "b", "x", "d"]);
});

test("a card in view that was settled elsewhere keeps its place", () => {
  assert.deepEqual(arrange(["a", "b", "c"], ["a", "c"], 3, never), ["a", "b", "c"]);
});

test("asking for the new ones brings the server's order and clears settled cards, but for those to keep", () => {
  assert.deepEqual(arrange(["a", "b", "c"], ["x", "c", "d"], 0, never), ["x", "c", "d"]);
  assert.deepEqual(
    arrange(["a", "b", "c"], ["x", "c", "d"], 0, (id) => id === "b"),
    ["b", "x", "c", "d"],
  );
});
