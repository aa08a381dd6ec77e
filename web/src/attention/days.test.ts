import assert from "node:assert/strict";
import { test } from "node:test";
import type { Attention, AttentionRow } from "../api/types.ts";
import { daysOf, valuesOf } from "./days.ts";

const row = (day: string, agent_type: string, asked: number) =>
  ({ day, agent_type, kind: "question", asked, answered: asked, by_default: 0, blocked_minutes: 2 }) as AttentionRow;
const report = {
  from: "2026-03-01T00:00:00Z",
  to: "2026-03-03T12:00:00Z",
  rows: [row("2026-03-01", "claude", 2), row("2026-03-01", "codex", 3), row("2026-03-03", "claude", 1)],
} as Attention;

test("each day has its sums, and days without asks are there too", () => {
  assert.deepEqual(
    daysOf(report, report.rows).map(({ day, asked, blocked_minutes }) => [day, asked, blocked_minutes]),
    [
      ["2026-03-01", 5, 4],
      ["2026-03-02", 0, 0],
      ["2026-03-03", 1, 2],
    ],
  );
});

test("what can be chosen is what was asked", () => {
  assert.deepEqual(valuesOf(report, "agent_type"), ["claude", "codex"]);
  assert.deepEqual(valuesOf(report, "kind"), ["question"]);
});
