import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkBoard, WorkCard, WorkState } from "../api/types.ts";
import { cardIn, extended, inOrder, merged, touchedBy } from "./columns.ts";

function card(id: string, more: Partial<WorkCard> = {}): WorkCard {
  const usual = { state: "unstarted", kind: "task", priority: 2, version: 1, user_order: null, parent: null } as const;
  const texts = { title: id, created_at: "2026-01-01T00:00:00.000000Z", updated_at: "2026-01-01T00:00:00.000000Z" };
  const rest = { labels: [], assignee: null, estimated_tokens: null, ready: true, claim: null, blockers: 0 };
  return { id, ...usual, ...texts, ...rest, blocked_by: [], held_by: [], ...more };
}

function board(cards: WorkCard[], cursors: Partial<Record<WorkState, string>> = {}, names = {}): WorkBoard {
  const states: WorkState[] = ["unstarted", "review", "done"];
  const columns = states.map((state) => {
    const own = cards.filter((one) => one.state === state);
    return { state, total: own.length, cards: own, next_cursor: cursors[state] ?? null };
  });
  return { columns, names, as_of: 1 };
}

const idsIn = (all: WorkBoard, state: WorkState) =>
  all.columns.find((column) => column.state === state)!.cards.map(({ id }) => id);

test("open cards stand by the operator's order, priority and age; finished ones by their last change", () => {
  const late = card("late", { created_at: "2026-02-01T00:00:00.000000Z" });
  const urgent = card("urgent", { priority: 0 });
  const ordered = card("ordered", { user_order: 7, priority: 4 });
  const sorted = [late, card("a"), card("b"), urgent, ordered].sort(inOrder).map(({ id }) => id);
  assert.deepEqual(sorted, ["ordered", "urgent", "a", "b", "late"]);

  const first = card("first", { state: "done", updated_at: "2026-03-02T00:00:00.000000Z" });
  const last = card("last", { state: "done", updated_at: "2026-03-01T00:00:00.000000Z", priority: 0 });
  assert.deepEqual([last, first].sort(inOrder), [first, last]);
});

test("a card that moved leaves its column and takes its place in the other", () => {
  const before = board([card("a"), card("b"), card("c", { state: "review" })]);
  const after = merged(before, board([card("a", { state: "review", version: 2 })]), ["a"]);

  assert.deepEqual(idsIn(after, "unstarted"), ["b"]);
  assert.deepEqual(idsIn(after, "review"), ["a", "c"]);
});

test("an item that was asked about and no longer fits goes away; the others stay the same objects", () => {
  const before = board([card("a"), card("b"), card("c", { state: "review" })]);
  const after = merged(before, { ...board([]), columns: before.columns.map((one) => ({ ...one, cards: [] })) }, ["a"]);

  assert.deepEqual(idsIn(after, "unstarted"), ["b"]);
  assert.equal(after.columns[1], before.columns[1]);
});

test("an older word on a card does not take the place of a newer one", () => {
  const before = board([card("a", { state: "review", version: 3 })]);
  const after = merged(before, board([card("a", { version: 2 })]), ["a"]);

  assert.equal(cardIn(after, "a")?.version, 3);
  assert.deepEqual(idsIn(after, "unstarted"), []);
});

test("a card that belongs behind what was read of its column comes with the next page", () => {
  const before = board([card("a"), card("b")], { unstarted: "cursor" });
  const after = merged(before, board([card("z"), card("aa")]), ["z", "aa"]);

  assert.deepEqual(idsIn(after, "unstarted"), ["a", "aa", "b"]);
});

test("the next page follows the last card, and brings none twice", () => {
  const before = board([card("a"), card("b")], { unstarted: "one" });
  const page = board([card("b"), card("c")], { unstarted: "two" });

  const after = extended(before, page, "unstarted", "one");
  assert.deepEqual(idsIn(after, "unstarted"), ["a", "b", "c"]);
  assert.equal(after.columns[0]!.next_cursor, "two");
  assert.deepEqual(extended(after, page, "unstarted", "one").columns, after.columns);
});

test("a title that others are named by follows its own card", () => {
  const before = board([card("e"), card("a", { parent: "e" })], {}, { e: "Old", x: "X" });
  const after = merged(before, board([card("e", { title: "New", version: 2 })]), ["e"]);

  assert.deepEqual(after.names, { e: "New", x: "X" });
});

test("a change shows on the cards that name it, and on all that is below where that is held", () => {
  const all = board([
    card("epic"),
    card("part", { parent: "epic" }),
    card("deeper", { parent: "part" }),
    card("waits", { blocked_by: ["x"] }),
    card("with", { held_by: ["x"] }),
    card("else"),
  ]);
  assert.deepEqual(touchedBy(all, ["x"], []).sort(), ["waits", "with", "x"]);
  assert.deepEqual(touchedBy(all, ["epic"], []), ["epic"]);
  assert.deepEqual(touchedBy(all, ["epic"], ["epic"]).sort(), ["deeper", "epic", "part"]);
});
