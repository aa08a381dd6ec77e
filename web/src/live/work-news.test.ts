import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkItem, WorkRow } from "../api/types.ts";
import { changedBy, concerns } from "./work-news.ts";

const item = (parent: string | null) => ({ id: "a", parent }) as WorkRow;

test("an event names the item, what it made ready or not, and the whole that it is part of", () => {
  const changed = changedBy("a", { item: item("e"), fields: ["state"], now_ready: ["b"], now_unready: ["c"], turned: 2 });
  assert.deepEqual(
    changed?.map(({ id, withParts, asParent }) => [id, withParts, asParent]),
    [
      ["a", false, false],
      ["b", false, false],
      ["c", false, false],
      ["e", false, true],
    ],
  );
});

test("what is blocked or moved elsewhere holds what is below", () => {
  for (const field of ["relations", "parent"])
    assert.equal(changedBy("a", { item: item(null), fields: [field] })?.[0]?.withParts, true);
});

test("an event that does not name all of it stands for everything", () => {
  assert.equal(changedBy(null, {}), null);
  assert.equal(changedBy("a", { item: item(null), now_ready: ["b"], turned: 500 }), null);
});

test("an item's screen follows its own, its whole's and its neighbours' changes", () => {
  const shown = { id: "a", parent: "e", relations: [{ source: "x", target: "a" }] } as WorkItem;
  for (const id of ["a", "e", "x"]) assert.ok(concerns(shown, new Set([id])));
  assert.ok(!concerns(shown, new Set(["z"])));
});
