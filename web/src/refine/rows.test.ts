import assert from "node:assert/strict";
import { test } from "node:test";
import type { BacklogItem } from "../api/refine-queries";
import { actionIn, adviceOf, changeIn, inOrder, isNews, itemIn, labelsIn, matching, shortNumber } from "./rows.ts";

const item = (id: string, more: Partial<BacklogItem> = {}) =>
  ({
    id,
    title: `Item ${id}`,
    kind: "task",
    state: "unstarted",
    priority: 2,
    parent: null,
    labels: [],
    created_at: "2026-05-04T09:00:00Z",
    ...more,
  }) as BacklogItem;

const change = (id: string, body: object) => ({ verb: "PATCH", path: `/api/work-items/${id}`, body });

test("what matters most stands first, and of the same what is oldest", () => {
  const items = [
    item("c", { created_at: "2026-05-05T09:00:00Z" }),
    item("b"),
    item("a"),
    item("d", { priority: 0, created_at: "2026-06-01T00:00:00Z" }),
  ];
  assert.deepEqual(
    inOrder(items).map(({ id }) => id),
    ["d", "a", "b", "c"],
  );
});

test("every word is looked for, in ids, titles, labels, kinds and parents", () => {
  const items = [item("shop-1", { title: "Build the INDEX", labels: ["api"] }), item("shop-2", { parent: "shop-9", state: "backlog" })];
  const found = (text: string, state = "") => matching(items, text, state).map(({ id }) => id);
  assert.deepEqual(found(" index  api "), ["shop-1"]);
  assert.deepEqual(found("shop-9"), ["shop-2"]);
  assert.deepEqual(found("index shop-9"), []);
  assert.deepEqual(found("", "backlog"), ["shop-2"]);
  assert.deepEqual(found(""), ["shop-1", "shop-2"]);
});

test("labels are what stands between commas, each once", () => {
  assert.deepEqual(labelsIn(" api, auth ,,api"), ["api", "auth"]);
  assert.deepEqual(labelsIn(" "), []);
});

test("tokens are short", () => {
  assert.deepEqual([null, 0, 999, 1_500, 2_400_000].map(shortNumber), ["", "0", "999", "2k", "2,400k"]);
});

test("what is said stands with the item that it is about, and the rest apart", () => {
  const lines = [
    { type: "strategy", reasoning: "One by one" },
    { type: "finding", text: "It says nothing", refs: ["README.md", "a"] },
    { type: "finding", text: "Two are one", refs: ["elsewhere"] },
    { type: "proposal", title: "Sooner", rationale: "so", confidence: 0.7, suggested_action: change("a", { priority: 0 }) },
    {
      type: "proposal",
      title: "A milestone",
      rationale: "so",
      confidence: 0.4,
      suggested_action: { verb: "POST", path: "/api/work-items", body: { item: { kind: "milestone", title: "Beta" } } },
    },
    { type: "summary", notes: "Done" },
  ];
  const { strategy, summary, byItem, rest } = adviceOf(lines, new Set(["a", "b"]));
  assert.deepEqual([strategy, summary], ["One by one", "Done"]);
  assert.deepEqual(byItem.get("a"), {
    findings: [{ idx: 1, text: "It says nothing" }],
    proposals: [{ idx: 3, title: "Sooner", rationale: "so", confidence: 0.7, does: "priority → 0" }],
  });
  assert.equal(byItem.has("b"), false);
  assert.deepEqual(rest.findings, [{ idx: 2, text: "Two are one" }]);
  assert.equal(rest.proposals[0]?.does, "make the milestone “Beta”");
});

test("whatever a line is, reading it does not fail", () => {
  const lines = [null, 7, "text", [], {}, { type: "proposal" }, { type: "finding", refs: "a" }, { type: "proposal", suggested_action: 3 }];
  const { byItem, rest } = adviceOf(lines, new Set(["a"]));
  assert.equal(byItem.size, 0);
  assert.equal(rest.proposals.length, 2);
});

test("an action names its item by its path alone", () => {
  assert.equal(itemIn(change("shop%3A1", {})), "shop:1");
  for (const path of ["/api/work-items/", "/api/work-items/a/claim", "/api/sessions/a", "/api/work-items/%", 3])
    assert.equal(itemIn({ verb: "PATCH", path, body: {} }), undefined, String(path));
});

test("a change is said in words, without the version it was decided on", () => {
  assert.equal(actionIn(change("a", { priority: 0, labels: ["x", "y"], parent: null, version: 3 })), "priority → 0, labels → x, y, parent → none");
  assert.equal(changeIn({ state: "deferred", labels: [] }), "state → deferred, labels → none");
});

test("only what differs is a change", () => {
  const known = item("a", { labels: ["x"], parent: "e" });
  assert.equal(isNews(known, { labels: ["x"], parent: "e", priority: 2 }), false);
  assert.equal(isNews(known, { labels: ["y"] }), true);
  assert.equal(isNews(known, { parent: null }), true);
});
