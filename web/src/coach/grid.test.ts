import assert from "node:assert/strict";
import { test } from "node:test";
import type { Selection } from "../api/types";
import { cellAfter, gridRows, points } from "./grid.ts";

const named = (id: string) => ({ id, title: id.toUpperCase(), kind: "task" as const, priority: 2 });
const choice = (item_id: string, rank: number) => ({ item_id, rank, score: 10 - rank, reasons: [] });
const out = (item_id: string) => ({ item_id, gates: [{ kind: "claim", text: "s-1 has claimed it", items: [] }] });

const selection: Selection = {
  sessions: [
    { session_id: null, choices: [choice("b", 1), choice("a", 2)], total: 2, ruled_out: [out("c")], total_ruled_out: 1 },
    { session_id: "s-1", choices: [choice("c", 1), choice("b", 2)], total: 3, ruled_out: [], total_ruled_out: 0 },
  ],
  batch: { items: [], unknown: [], left_out: [], conflicts: [], more: false },
  items: [named("a"), named("b"), named("c")],
  ready: 2,
  more: false,
  as_of: 1,
  holds: [],
};

test("what anybody may do comes first, in its order, then what only some may", () => {
  assert.deepEqual(
    gridRows(selection).map(({ item, cells }) => [item.id, ...cells.map(({ kind }) => kind)]),
    [
      ["b", "choice", "choice"],
      ["a", "choice", "behind"],
      ["c", "out", "choice"],
    ],
  );
});

test("an item without a name is left out rather than shown as nothing", () => {
  assert.equal(gridRows({ ...selection, items: [named("a")] }).length, 1);
});

test("the arrows stay inside the grid", () => {
  assert.deepEqual(cellAfter({ row: 0, column: 0 }, "ArrowUp", 3, 2), { row: 0, column: 0 });
  assert.deepEqual(cellAfter({ row: 2, column: 1 }, "ArrowRight", 3, 2), { row: 2, column: 1 });
  assert.deepEqual(cellAfter({ row: 0, column: 0 }, "ArrowDown", 3, 2), { row: 1, column: 0 });
  assert.deepEqual(cellAfter({ row: 1, column: 0 }, "End", 3, 2), { row: 1, column: 1 });
  assert.equal(cellAfter({ row: 1, column: 0 }, "x", 3, 2), null);
});

test("points carry their sign", () => {
  assert.deepEqual([points(12), points(-40), points(0)], ["+12", "−40", "0"]);
});
