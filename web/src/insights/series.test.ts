import assert from "node:assert/strict";
import { test } from "node:test";
import type { InsightDay } from "../api/types";
import { SERIES, sentenceOf } from "./series.ts";

const NOTHING = { tokens: 0, turns: 0, dispatched: 0, asked: 0, answered: 0, to_answer_p50: null, to_answer_p90: null };
const day = (name: string, figures: Partial<InsightDay> = {}): InsightDay => ({
  ...{ day: name, blocked_minutes: 0, ...NOTHING },
  ...figures,
});
const said = (id: string, days: InsightDay[]) => sentenceOf(SERIES.find((one) => one.id === id)!, days);

test("days without anything say so", () => {
  for (const { id } of SERIES) assert.equal(said(id, [day("2026-01-01"), day("2026-01-02")]), "Nothing in 2 days.");
});

test("counts are summed, times have a usual day", () => {
  const days = [
    day("2026-01-01", { tokens: 1_000, asked: 1, to_answer_p50: 30 }),
    day("2026-01-02", { tokens: 2_500, asked: 0 }),
    day("2026-01-03", { asked: 1, to_answer_p50: 120 }),
    day("2026-01-04", { asked: 1, to_answer_p50: 60 }),
  ];
  assert.equal(said("tokens", days), "3,500 tokens in 4 days; the most on 2026-01-02: 2,500 tokens.");
  assert.equal(said("asked", days), "3 escalations in 4 days; the most on 2026-01-01: 1 escalation.");
  assert.equal(said("to-answer", days), "1 min on a usual day; the most on 2026-01-03: 2 min.");
});
