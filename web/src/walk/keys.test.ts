import assert from "node:assert/strict";
import { test } from "node:test";
import { commandOf, KEYS, numberOf, UNTIL_KEYS, untilOf } from "./keys.ts";

test("no two commands have the same key, nor one that another screen's frame takes", () => {
  const keys = Object.values(KEYS);
  assert.equal(new Set(keys).size, keys.length);
  for (const taken of ["g", "q", "?", "/", "u", "j", "k"]) assert.equal(commandOf(taken), null);
  assert.equal(new Set(Object.values(UNTIL_KEYS)).size, Object.keys(UNTIL_KEYS).length);
});

test("a key is the command, the time or the number that it stands for", () => {
  assert.equal(commandOf("r"), "ratify");
  assert.equal(commandOf("R"), null);
  assert.equal(untilOf("t"), "tomorrow");
  assert.equal(untilOf("x"), null);
  assert.deepEqual(["1", "3", "4", "0", "a"].map((key) => numberOf(key, 3)), [1, 3, null, null, null]);
});
