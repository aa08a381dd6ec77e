import assert from "node:assert/strict";
import { test } from "node:test";
import type { WorkCard } from "../api/types.ts";
import { isKind, isState, notPossible, standingOf } from "./wording.ts";

const CARD: WorkCard = {
  ...{ id: "s-1", title: "One", kind: "task", state: "unstarted", priority: 2, parent: null, labels: [], assignee: null },
  ...{ estimated_tokens: null, user_order: null, created_at: "", updated_at: "", version: 1, ready: true, claim: null },
  ...{ blockers: 0, blocked_by: [], held_by: [] },
};
const claim = { owner: "ses-\u202e1", claimed_at: "", expires_at: "" };

test("a blocked card says by what, with titles where there is room", () => {
  const blocked = { ...CARD, ready: false, blockers: 22, blocked_by: ["s-2", "s-3"] };
  const standing = standingOf(blocked, { "s-2": "Build the index" });
  assert.equal(standing?.short, "Blocked by s-2 +21");
  assert.equal(standing?.long, "Blocked by s-2 (Build the index), s-3 and 20 more");
});

test("a card whose whole is blocked names the whole", () => {
  const held = { ...CARD, ready: false, held_by: ["s-9"] };
  assert.equal(standingOf(held, { "s-9": "Search" })?.long, "Blocked, because it is part of s-9 (Search)");
});

test("what is claimed is told, with nothing hidden in the name; what is only ready is ready", () => {
  assert.equal(standingOf({ ...CARD, ready: false, claim }, {})?.short, "Claimed by ses-⟨U+202E⟩1");
  assert.equal(standingOf(CARD, {})?.short, "Ready");
  assert.equal(standingOf({ ...CARD, ready: false, state: "review" }, {}), null);
});

test("words of an address are taken for states and kinds only if they are", () => {
  assert.ok(isState("in_progress") && isKind("bug"));
  assert.ok(!isState("toString") && !isKind("constructor") && !isState(""));
  assert.equal(notPossible("done", "review"), "Not from done");
});
