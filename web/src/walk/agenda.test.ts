import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgendaItem, Decide, Escalation, Walk } from "../api/types.ts";
import { activeOf, cameMeanwhile, canTakeBack, countsBy, nextAfter, partsOf, placeAfterStep, saidOf, toGo, withDecided, withSent } from "./agenda.ts";

const item = (id: string, place: number, more: Partial<AgendaItem> = {}): AgendaItem => ({
  id,
  place,
  topic: `Topic ${id}`,
  priority: 0,
  status: "queued",
  source: { kind: "escalation", ref: `e-${id}`, worker: "agent-1" },
  since: "2026-01-01T00:00:00Z",
  ...{ settled: null, framing: null, decision: null },
  ...more,
});

function walkOf(...agenda: AgendaItem[]): Walk {
  const many = (status: string) => agenda.filter((one) => one.status === status).length;
  const left = many("queued") + many("active") + many("deferred");
  const totals = {
    ...{ items: agenda.length, left, decided: many("decided"), deferred: many("deferred"), dismissed: many("dismissed") },
    ...{ decisions: {}, applied: 0, work_touched: [], consults: 0, dollars: 0, seconds: 0 },
  };
  return {
    ...{ id: "w-1", label: "", status: "active", persona_id: "project-manager", started_by: "ana" },
    ...{ started_at: "2026-01-01T00:00:00Z", changed_at: "2026-01-01T00:00:00Z", ended_at: null },
    ...{ items: agenda.length, left, agenda, transcript: [], consults: [], synopsis: null, summary: null, as_of: 1 },
    active_item: agenda.find(({ status }) => status === "active")?.id ?? null,
    totals,
  } as Walk;
}

const ratify: Decide = { kind: "ratify" };
const statuses = (walk: Walk) => walk.agenda.map(({ status }) => status).join(" ");

test("after an item comes the next that is queued, round and round, and nothing that was settled elsewhere", () => {
  const agenda = [item("a", 1), item("b", 2, { status: "active" }), item("c", 3, { settled: "answered" }), item("d", 4)];
  assert.equal(nextAfter(agenda, agenda[1]!)?.id, "d");
  assert.equal(nextAfter(agenda, agenda[3]!)?.id, "a");
  assert.equal(nextAfter([agenda[1]!, agenda[2]!], agenda[1]!), null);
});

test("what is on its way counts as decided, and the next one is on the table at once", () => {
  const walk = walkOf(item("a", 1, { status: "active" }), item("b", 2), item("c", 3));
  const after = withSent(walk, [{ item: "a", body: ratify }]);
  assert.equal(statuses(after), "decided active queued");
  assert.equal(activeOf(after)?.id, "b");
  assert.deepEqual([toGo(after.totals), after.totals.decided, after.totals.decisions], [2, 1, { ratify: 1 }]);
  assert.equal(statuses(walk), "active queued queued");

  const twice = withSent(walk, [{ item: "a", body: ratify }, { item: "b", body: { kind: "reject", rationale: "no" } }]);
  assert.equal(statuses(twice), "decided decided active");
  assert.equal(withSent(twice, [{ item: "c", body: ratify }]).active_item, null);
});

test("what is put off or handed on can be taken up again, what goes to the backlog is decided", () => {
  const walk = walkOf(item("a", 1, { status: "active" }), item("b", 2));
  const one = (body: Decide) => withSent(walk, [{ item: "a", body }]);
  assert.equal(statuses(one({ kind: "defer" })), "deferred active");
  assert.equal(statuses(one({ kind: "handoff", persona: "dev" })), "deferred active");
  assert.equal(statuses(one({ kind: "defer", until: "backlog" })), "decided active");
  assert.deepEqual([one({ kind: "defer" }).totals.left, toGo(one({ kind: "defer" }).totals)], [2, 1]);

  const again = walkOf(item("a", 1, { status: "deferred" }));
  const taken = withSent(again, [{ item: "a", body: ratify }]);
  assert.deepEqual([statuses(taken), taken.totals.left, taken.totals.deferred], ["decided", 0, 0]);
});

test("what has arrived changes nothing more, and what was refused leaves no trace", () => {
  const arrived = walkOf(item("a", 1, { status: "decided" }), item("b", 2, { status: "active" }));
  assert.equal(withSent(arrived, [{ item: "a", body: ratify }]), arrived);
  assert.equal(withSent(arrived, [{ item: "gone", body: ratify }]), arrived);
});

test("the server's answer takes the place of what was expected, and only one is on the table", () => {
  const walk = walkOf(item("a", 1, { status: "active" }), item("b", 2), item("c", 3));
  const next = item("c", 3, { status: "active", framing: { sentence: "It asks", summary: "", actions: [] } });
  const totals = { ...walk.totals, decided: 1, left: 2 };
  const after = withDecided(walk, { item: item("a", 1, { status: "decided" }), next, totals });
  assert.equal(statuses(after), "decided queued active");
  assert.equal(activeOf(after)?.framing?.sentence, "It asks");
  const last = withDecided(after, { item: item("c", 3, { status: "decided" }), next: null, totals });
  assert.equal(last.active_item, null);
});

test("the agenda stands in its order, what is done behind it with the last first", () => {
  const at = (time: string) => ({ kind: "ratify", by: "ana", at: time, rationale: "" }) as AgendaItem["decision"];
  const parts = partsOf([
    item("done-1", 1, { status: "decided", decision: at("2026-01-01T10:00:00Z") }),
    item("late", 4),
    item("off", 3, { status: "deferred" }),
    item("done-2", 2, { status: "decided", decision: at("2026-01-01T11:00:00Z") }),
    item("now", 5, { status: "active" }),
  ]);
  const ids = (found: AgendaItem[]) => found.map(({ id }) => id);
  assert.deepEqual([ids(parts.open), ids(parts.deferred), ids(parts.done)], [["late", "now"], ["off"], ["done-2", "done-1"]]);
});

test("an item moves among those that are not decided, and not beyond them", () => {
  const agenda = [item("a", 1, { status: "decided" }), item("b", 2), item("c", 3, { status: "active" }), item("d", 4)];
  assert.equal(placeAfterStep(agenda, "b", 1), 2);
  assert.equal(placeAfterStep(agenda, "b", -1), null);
  assert.equal(placeAfterStep(agenda, "d", 1), null);
  assert.equal(placeAfterStep(agenda, "a", 1), null);
});

test("what came meanwhile is what waits and is not on the agenda", () => {
  const waits = (id: string, state = "open") => ({ id, state }) as Escalation;
  const came = cameMeanwhile(walkOf(item("a", 1)), [waits("e-a"), waits("e-b"), waits("e-c", "snoozed")]);
  assert.deepEqual(came.map(({ id }) => id), ["e-b"]);
});

test("what the PM said when an item was taken up is not said twice", () => {
  const said = (number: number, speaker: string, text: string, item_id: string | null = "a") =>
    ({ number, speaker, text, item_id, at: "", who: "", consult_id: null }) as Walk["transcript"][number];
  const one = item("a", 1, { framing: { sentence: "agent-1 asks: Which port?", summary: "", actions: [] } });
  const transcript = [said(1, "manager", "agent-1 asks: Which port?\n1) 80"), said(2, "operator", "Why?"), said(3, "operator", "x", "b")];
  assert.deepEqual(saidOf({ transcript }, one).map(({ number }) => number), [2]);
});

test("a decision may be taken back while its answer is held, and where its effect can be undone", () => {
  const NOW = Date.parse("2026-01-01T10:00:00Z");
  const decided = (path: string | null, held_until: string | null = null) =>
    ({
      decision: {
        kind: "ratify",
        action: path === null ? null : { label: "", verb: "POST", path, body: {} },
        applied: path === null ? null : { status: 200, ref: "x", change: null, held_until },
      },
    }) as unknown as AgendaItem;
  const may = (one: AgendaItem) => canTakeBack(one, NOW);
  assert.equal(may({ decision: null } as AgendaItem), false);
  assert.equal(may(decided(null)), true);
  assert.equal(may(decided("/api/escalations/e/respond")), false);
  assert.equal(may(decided("/api/escalations/e/respond", "2026-01-01T10:00:05Z")), true);
  assert.equal(may(decided("/api/escalations/e/dismiss", "2026-01-01T09:59:59Z")), false);
  for (const path of ["/api/escalations/e/snooze", "/api/approvals/a/approve", "/api/work-items", "/api/work-items/x-1"])
    assert.equal(may(decided(path)), true, path);
  for (const path of ["/api/sessions", "/api/teams/r/tasks/t/retry", "/api/approvals/a/edit"])
    assert.equal(may(decided(path)), false, path);
});

test("kinds are counted, the most first", () => {
  assert.deepEqual(countsBy(["b", "a", "b", "c"], (one) => one), [["b", 2], ["a", 1], ["c", 1]]);
});
