import assert from "node:assert/strict";
import { test } from "node:test";
import { BOX, depthsOf, layOut, neighbour, type Layout, type Node } from "./layout.ts";

const node = (id: string, ...blocked_by: string[]): Node => ({ id, blocked_by });

function overlaps({ placed }: Layout): boolean {
  const all = [...placed.values()];
  return all.some((one, index) =>
    all.slice(index + 1).some((other) => Math.abs(one.x - other.x) < BOX.width && Math.abs(one.y - other.y) < BOX.height),
  );
}

function isInside({ placed, width, height }: Layout): boolean {
  return [...placed.values()].every(
    ({ x, y }) => x >= 0 && y >= -0.001 && x + BOX.width <= width && y + BOX.height <= height + 0.001,
  );
}

test("a task stands a layer behind the last of what blocks it", () => {
  const depth = depthsOf([node("a"), node("b", "a"), node("c", "a", "b"), node("d", "a"), node("e", "nobody")]);
  assert.deepEqual(Object.fromEntries(depth), { a: 0, b: 1, c: 2, d: 1, e: 0 });
});

test("a line that follows from others is not drawn", () => {
  const { lines } = layOut([node("a"), node("b", "a"), node("c", "a", "b")]);
  assert.deepEqual(lines.map(({ from, to }) => `${from} ${to}`), ["a b", "b c"]);
});

test("nothing lies over anything else, and all of it lies in the picture", () => {
  const fan = [node("a"), ...Array.from({ length: 9 }, (_, at) => node(`b${at}`, "a")), node("c", "b0", "b8"), node("d", "a", "c")];
  const layout = layOut(fan);
  assert.equal(overlaps(layout), false);
  assert.equal(isInside(layout), true);
  assert.equal(layout.placed.size, fan.length);
});

test("one before many stands in their middle", () => {
  const layout = layOut([node("a"), node("b", "a"), node("c", "a"), node("d", "a"), node("e", "b", "c", "d")]);
  const y = (id: string) => layout.placed.get(id)!.y;
  assert.equal(y("a"), y("c"));
  assert.equal(y("e"), y("c"));
});

test("tasks that wait in a circle are drawn all the same, and so is nothing", () => {
  assert.equal(layOut([node("a", "b"), node("b", "a")]).placed.size, 2);
  assert.deepEqual(layOut([]).layers, []);
});

test("arrows lead along the lines and through a layer", () => {
  const layout = layOut([node("a"), node("b", "a"), node("c", "a"), node("d", "b", "c")]);
  const [above, below] = layout.layers[1]!;
  assert.equal(neighbour(layout, above!, "ArrowDown"), below);
  assert.equal(neighbour(layout, below!, "ArrowUp"), above);
  assert.equal(neighbour(layout, above!, "ArrowUp"), null);
  assert.equal(neighbour(layout, "b", "ArrowLeft"), "a");
  assert.equal(neighbour(layout, "b", "ArrowRight"), "d");
  assert.equal(neighbour(layout, "d", "ArrowRight"), null);
});

test("two hundred tasks in thirty layers are placed in little time, without overlaps", () => {
  const tasks = Array.from({ length: 200 }, (_, at) => {
    const before = [at - 7, at - 8, at - 13].filter((each) => each >= 0).map((each) => `t${each}`);
    return node(`t${at}`, ...before);
  });
  const start = performance.now();
  const layout = layOut(tasks);
  assert.ok(performance.now() - start < 1_000);
  assert.equal(overlaps(layout), false);
  assert.equal(isInside(layout), true);
});
