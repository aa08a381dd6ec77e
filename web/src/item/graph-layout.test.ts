import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphNode, ItemGraph, ItemRelation } from "../api/types.ts";
import { layOut, toldOf, type Layout } from "./graph-layout.ts";

const node = (id: string, state: GraphNode["state"] = "unstarted"): GraphNode => ({
  ...{ id, state, title: id, kind: "task", ready: false, weight: 0 },
});

const blocks = (source: string, target: string): ItemRelation => ({
  ...{ source, target, kind: "blocks", title: "", state: "unstarted", created_at: "", created_by: "" },
});

function graph(path: string[], neighbours: ItemRelation[], more: GraphNode[] = []): ItemGraph {
  const ids = new Set(["me", ...path, ...neighbours.flatMap(({ source, target }) => [source, target])]);
  const nodes = [...ids].map((id) => more.find((one) => one.id === id) ?? node(id));
  const rest = { critical_weight: 0, blast_radius: [], unblocks: [], complete: true };
  return { id: "me", nodes, neighbours, critical_path: path, ...rest };
}

const levels = (layout: Layout) => Object.fromEntries(layout.placed.map((one) => [one.node.id, one.level]));

function overlaps({ placed, node: { width, height } }: Layout): boolean {
  return placed.some((one, index) =>
    placed.slice(index + 1).some((other) => Math.abs(one.x - other.x) < width && Math.abs(one.y - other.y) < height),
  );
}

test("what blocks it stands before it, what it blocks behind, the chain in its steps", () => {
  const layout = layOut(graph(["far", "near", "me", "next"], [blocks("near", "me"), blocks("other", "me"), blocks("me", "next")]), "across");
  assert.deepEqual(levels(layout), { far: -2, near: -1, other: -1, me: 0, next: 1 });
  assert.deepEqual(
    layout.edges.filter(({ onPath }) => onPath).map(({ from, to }) => `${from} ${to}`).sort(),
    ["far near", "me next", "near me"],
  );
});

test("nothing lies over anything else, in either direction, and all of it lies in the picture", () => {
  const many = Array.from({ length: 9 }, (_, index) => blocks(`b${index}`, "me"));
  const all = graph(["b0", "me", "c0"], [...many, blocks("me", "c0"), blocks("me", "c1"), blocks("me", "c2")]);
  for (const direction of ["across", "down"] as const) {
    const layout = layOut(all, direction);
    assert.ok(!overlaps(layout), direction);
    for (const { x, y } of layout.placed) {
      assert.ok(x >= 0 && x + layout.node.width <= layout.width + 0.01, direction);
      assert.ok(y >= 0 && y + layout.node.height <= layout.height + 0.01, direction);
    }
    assert.equal(layout.left, 3);
  }
  assert.ok(layOut(all, "down").width < 340);
});

test("where not all can be drawn, what is finished is left out first", () => {
  const over = Array.from({ length: 6 }, (_, index) => node(`d${index}`, "done"));
  const all = graph(["me"], [...over.map(({ id }) => blocks(id, "me")), blocks("open", "me")], over);
  const drawn = layOut(all, "across").placed.map((one) => one.node.id);
  assert.ok(drawn.includes("open"));
  assert.equal(drawn.length, 7);
});

test("an item alone is a picture of one", () => {
  assert.equal(layOut(graph(["me"], []), "across").placed.length, 1);
  assert.equal(toldOf(graph(["me"], [])), "Nothing blocks me. It blocks nothing.");
});

test("the picture is told in words", () => {
  const told = toldOf(graph(["a", "me", "b"], [blocks("a", "me"), blocks("me", "b")]));
  assert.equal(told, "me is blocked by a. It blocks b. The longest chain of open work through it: a, me, b.");
});
