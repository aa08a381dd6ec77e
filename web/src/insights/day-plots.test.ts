import assert from "node:assert/strict";
import { test } from "node:test";
import type { InsightDay, Insights } from "../api/types";
import { dayName } from "../plots/days.ts";
import { COST_PLOT, mostOf, sayDay, WAITING_PLOTS, WORK_PLOTS, type DaysPlot } from "./day-plots.ts";

const NOTHING: Omit<InsightDay, "day"> = {
  ...{ tokens: 0, turns: 0, unpriced: 0, cost_usd_micros: null, dispatched: 0 },
  ...{ asked: 0, seen: 0, answered: 0, by_default: 0, blocked_minutes: 0 },
  ...{ to_see_p50: null, to_see_p90: null, to_answer_p50: null, to_answer_p90: null },
};
const NO_SHARES = { rows: [], more: 0, rest: null, none: null };
const day = (name: string, figures: Partial<InsightDay> = {}): InsightDay => ({ day: name, ...NOTHING, ...figures });
const insights = (total: Partial<Insights["total"]>, ...days: InsightDay[]): Insights => ({
  days,
  total: { ...NOTHING, ...total },
  epics: NO_SHARES,
  personas: NO_SHARES,
  as_of: 1,
});
const ALL: DaysPlot[] = [...WORK_PLOTS, ...WAITING_PLOTS, COST_PLOT.dollars, COST_PLOT.tokens];
const plot = (id: string) => ALL.find((each) => each.id === id)!;

test("what has nothing to show says how that changes", () => {
  const empty = insights({}, day("2026-01-01"), day("2026-01-02"));
  for (const each of ALL) {
    assert.ok(each.isEmpty(empty), each.id);
    assert.match(each.lesson, /\.$/);
  }
});

test("each plot says in a sentence what it shows", () => {
  const told = insights(
    {
      ...{ dispatched: 12, asked: 42, seen: 41, answered: 40, by_default: 1, blocked_minutes: 90 },
      ...{ to_see_p50: 40, to_see_p90: 360, to_answer_p50: 180, to_answer_p90: 840 },
      ...{ tokens: 3_500, turns: 3, unpriced: 1, cost_usd_micros: 1_250_000 },
    },
    day("2026-01-01", { dispatched: 4, blocked_minutes: 60, tokens: 1_000, cost_usd_micros: 250_000 }),
    day("2026-01-02", { dispatched: 8, blocked_minutes: 30, tokens: 2_500, cost_usd_micros: 1_000_000 }),
  );
  const [first, second] = ["2026-01-01", "2026-01-02"].map(dayName);

  assert.equal(plot("dispatched").finding(told), `12 dispatches in 2 days, 6 a day; the most on ${second}: 8.`);
  assert.equal(plot("asked").finding(told), "Asked 42, answered 40, 1 by default; 21 a day, 3.5 for each dispatch.");
  assert.equal(plot("to-see").finding(told), "Asked 42, seen 41; half of these within 40 s, nine of ten within 6 min.");
  assert.equal(plot("to-answer").finding(told), "Asked 42, answered 40; the median answer took 3 min, nine of ten at most 14 min.");
  assert.equal(
    plot("blocked").finding(told),
    `Agents stood still for 1 h 30 min in all; the longest for what was asked on ${first}: 1 h.`,
  );
  assert.equal(
    COST_PLOT.dollars.finding(told),
    `$1.25 in 2 days; the most on ${second}: $1.00. 1 of 3 turns told no cost.`,
  );
  assert.equal(COST_PLOT.tokens.finding(told), `3,500 tokens in 2 days; the most on ${second}: 2,500.`);
});

test("an axis reaches over bars that stand on each other, and over the highest of the lines", () => {
  const days = [
    day("2026-01-01", { asked: 9, answered: 5, by_default: 3, to_see_p50: 10, to_see_p90: 300 }),
    day("2026-01-02", { asked: 7, answered: 7 }),
  ];
  assert.equal(mostOf(plot("asked"), days), 9);
  assert.equal(mostOf(plot("to-see"), days), 300);
  assert.equal(mostOf(plot("to-answer"), days), 0);
});

test("a day says what it has, and what it lacks", () => {
  const asked = day("2026-01-01", { asked: 9, answered: 5, by_default: 3, to_see_p50: 0, to_see_p90: 300 });
  assert.equal(sayDay(plot("asked"), asked), "answered 5, by default 3, not answered 1");
  assert.equal(sayDay(plot("to-see"), asked), "median 0 s, nine of ten within 5 min");
  assert.equal(sayDay(plot("to-answer"), asked), "nothing answered");
  assert.equal(sayDay(plot("dispatched"), asked), "nothing");
});
