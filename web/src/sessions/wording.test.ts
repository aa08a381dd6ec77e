import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session, Worktree } from "../api/types";
import {
  didNotArrive,
  endingOf,
  inputWords,
  isAtWork,
  livingFirst,
  lookOf,
  needsWords,
  releaseWords,
  saysOf,
  unsavedWords,
  usageWords,
  whyNotTyped,
  worktreeName,
  worktreeWords,
} from "./wording.ts";

const RUN: NonNullable<Session["run"]> = {
  title: "Do it",
  backend: "process",
  headless: false,
  folder: "/w",
  branch: "gemba/s",
  dispatch_id: null,
  wanted: true,
  started_by: "operator",
  started_at: "2026-01-01T00:00:00Z",
  ended_at: null,
  code: null,
  signal: null,
  trouble: null,
  unsaved: null,
  released_at: null,
  kept_as: null,
  cleared_at: null,
};

function session(given: Partial<Session> = {}, run: Partial<typeof RUN> = {}): Session {
  return {
    id: "s",
    agent_type: "claude",
    mode: "balanced",
    role: null,
    lifecycle: "running",
    reported_state: null,
    note: null,
    bead_id: null,
    first_seen_at: "2026-01-01T00:00:00Z",
    last_frame_at: "2026-01-01T00:00:00Z",
    needs_you: false,
    waiting: 0,
    usage: null,
    close_reason: null,
    run: { ...RUN, ...run },
    ...given,
  };
}

const ends: [string, Partial<Session>, Partial<typeof RUN>, string | null][] = [
  ["one that lives has no end", {}, {}, null],
  ["a code", { lifecycle: "failed", close_reason: "provider_exit" }, { code: 3 }, "It ended by itself, with code 3"],
  ["a signal", { lifecycle: "failed", close_reason: "killed" }, { signal: 9 }, "Something else killed it, by SIGKILL"],
  ["a rare signal", { lifecycle: "failed", close_reason: "killed" }, { signal: 64 }, "Something else killed it, by signal 64"],
  ["trouble", { lifecycle: "failed", close_reason: "not_started" }, { trouble: "no disk" }, "It could not be started: no disk"],
  ["a pane", { lifecycle: "lost", close_reason: "pane_gone" }, {}, "Somebody closed its pane"],
  ["a reason of tomorrow", { lifecycle: "failed", close_reason: "out_of_fuel" }, {}, "out of fuel"],
  ["nobody says why", { lifecycle: "completed", close_reason: null, run: null }, {}, "It is over"],
];
for (const [name, given, run, words] of ends)
  test(`how it ended: ${name}`, () => assert.equal(endingOf(session(given, run)), words));

test("nobody types to what is over, somebody else's, being stopped, or headless", () => {
  assert.equal(whyNotTyped(session()), null);
  assert.match(whyNotTyped(session({ lifecycle: "completed" }))!, /over/);
  assert.match(whyNotTyped(session({ run: null }))!, /Somebody else/);
  assert.match(whyNotTyped(session({}, { wanted: false }))!, /being stopped/);
  assert.match(whyNotTyped(session({}, { headless: true }))!, /one prompt/);
});

test("what it says of itself counts while it lives", () => {
  assert.equal(saysOf(session({ reported_state: "bead-done" })), "bead done");
  assert.equal(saysOf(session({ reported_state: "working", lifecycle: "lost" })), null);
  assert.equal(lookOf(session({}, { wanted: false })).label, "Being stopped");
  assert.equal(lookOf(session({ lifecycle: "stopped" }, { wanted: false })).label, "Stopped");
});

test("who somebody else started is at work as long as something is heard of it", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  const met = { run: null, last_frame_at: "2026-01-01T11:30:00Z" };
  assert.equal(isAtWork(session(met), now), true);
  assert.equal(isAtWork(session({ ...met, last_frame_at: "2026-01-01T10:59:00Z" }), now), false);
  assert.equal(isAtWork(session({ last_frame_at: "2026-01-01T10:59:00Z" }), now), true);
  assert.equal(isAtWork(session({ lifecycle: "completed" }), now), false);
  assert.equal(lookOf(session({ run: null })).label, "Not heard of lately");
});

test("the living come first, those that need somebody before the others, then what ended last", () => {
  const list = [
    session({ id: "old end", lifecycle: "completed" }, { ended_at: "2026-01-02T00:00:00Z" }),
    session({ id: "new end", lifecycle: "failed" }, { ended_at: "2026-01-03T00:00:00Z" }),
    session({ id: "early" }),
    session({ id: "late", first_seen_at: "2026-01-01T01:00:00Z" }),
    session({ id: "asks", needs_you: true }),
  ];
  assert.deepEqual(list.sort(livingFirst).map(({ id }) => id), ["asks", "late", "early", "new end", "old end"]);
});

test("an input says how far it got, and why no further", () => {
  assert.equal(inputWords({ state: "read", trouble: null }), "Typed, and read.");
  assert.equal(inputWords({ state: "not_typed", trouble: "the pane is gone" }), "Not typed. the pane is gone");
  assert.equal(didNotArrive({ state: "typed", trouble: null }), false);
  assert.equal(didNotArrive({ state: "typed", trouble: "killed while it typed" }), true);
  assert.equal(didNotArrive({ state: "not_typed", trouble: null }), true);
});

test("a worktree says what is only there", () => {
  const tree: Worktree = {
    ...{ path: "/w", branch: "gemba/s", base_branch: "main", is_there: true, dirty: 0, files: [], ahead: 0 },
    ...{ unmerged: 0, commits: [], unpushed: null, locked: null, seal: null },
  };
  assert.deepEqual(worktreeWords(tree), ["Nothing uncommitted", "no commits"]);
  assert.deepEqual(worktreeWords({ ...tree, dirty: 1, ahead: 2, unmerged: 2 }), [
    ...["1 file not committed", "2 commits that main does not have"],
  ]);
  assert.deepEqual(worktreeWords({ ...tree, ahead: 3, is_there: false }), ["Its folder is gone", "3 commits, all merged"]);
});

test("a release says what goes and where the rest is kept", () => {
  const tree: Worktree = {
    ...{ path: "/w", branch: "gemba/s", base_branch: "main", is_there: true, dirty: 0, files: [], ahead: 0 },
    ...{ unmerged: 0, commits: [], unpushed: null, locked: null, seal: null },
  };
  assert.equal(releaseWords(tree), "Its folder and its branch go. Nothing is only there.");
  assert.match(releaseWords({ ...tree, dirty: 2, unmerged: 1 }), /2 files not committed: .*; 1 commit not merged: kept on gemba\/s\.$/);
});

test("a card says what waits, what is only there and what it took", () => {
  assert.equal(needsWords({ needs_you: false, waiting: 0 }), null);
  assert.equal(needsWords({ needs_you: true, waiting: 0 }), "needs you");
  assert.equal(needsWords({ needs_you: false, waiting: 1 }), "1 ask waits");
  assert.equal(needsWords({ needs_you: true, waiting: 2 }), "needs you: 2 asks wait");
  const seen = (dirty: number, unmerged: number) => session({}, { unsaved: { dirty, unmerged, seen_at: "2026-01-01T00:00:00Z" } });
  assert.equal(unsavedWords(session()), null);
  assert.equal(unsavedWords(seen(0, 0)), "nothing only there");
  assert.equal(unsavedWords(seen(1, 2)), "1 file not committed, 2 commits not merged");
  assert.equal(worktreeName("/srv/shop/.gemba/worktrees/s"), ".gemba/worktrees/s");
  assert.equal(worktreeName("/srv/shop"), "/srv/shop");
  assert.equal(usageWords(null), "–");
  assert.equal(usageWords({ tokens_in: 12_345, tokens_out: 6, cost_usd_micros: 1_234_567 }), "12.3K tokens in, 6 out, $1.23");
  assert.equal(usageWords({ tokens_in: null, tokens_out: 6, cost_usd_micros: null }), "– tokens in, 6 out, cost –");
  assert.equal(usageWords({ tokens_in: 1, tokens_out: 6, cost_usd_micros: 900 }), "1 tokens in, 6 out, under $0.01");
});
