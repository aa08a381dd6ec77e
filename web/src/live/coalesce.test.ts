import assert from "node:assert/strict";
import { test } from "node:test";
import { coalesce } from "./coalesce.ts";

function manualClock() {
  const due: (() => void)[] = [];
  return {
    wait: ((run: () => void) => due.push(run)) as unknown as typeof setTimeout,
    tick: () => due.shift()?.(),
    due,
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a burst is handed on once, without repetitions", async () => {
  const clock = manualClock();
  const flushed: string[][] = [];
  const add = coalesce<string>(50, async (items) => void flushed.push([...items]), clock.wait);
  for (let i = 0; i < 100; i += 1) add(`e${i % 3}`);
  assert.equal(clock.due.length, 1);
  clock.tick();
  await settled();
  assert.deepEqual(flushed, [["e0", "e1", "e2"]]);
});

test("what arrives during a flush waits for its end", async () => {
  const clock = manualClock();
  const flushed: string[][] = [];
  const gate = Promise.withResolvers<void>();
  const add = coalesce<string>(50, async (items) => (flushed.push([...items]), gate.promise), clock.wait);
  add("a");
  clock.tick();
  add("b");
  add("c");
  await settled();
  assert.equal(clock.due.length, 0);
  gate.resolve();
  await settled();
  clock.tick();
  await settled();
  assert.deepEqual(flushed, [["a"], ["b", "c"]]);
});
