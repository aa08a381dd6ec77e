import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelay } from "./backoff.ts";

test("starts quick, doubles, and never waits longer than eight seconds", () => {
  assert.equal(retryDelay(0, 1), 500);
  assert.equal(retryDelay(1, 1), 1000);
  assert.equal(retryDelay(3, 1), 4000);
  assert.equal(retryDelay(1000, 1), 8_000);
});

test("jitter takes away at most half", () => {
  assert.equal(retryDelay(2, 0), 1000);
  assert.equal(retryDelay(2, 0.5), 1500);
});
