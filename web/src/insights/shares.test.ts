import assert from "node:assert/strict";
import { test } from "node:test";
import type { CostShares, Insights, TrackRecord, UsageRow } from "../api/types";
import { costOf, epicsFinding, faredOf, personasFinding, recordFinding, sharesOf } from "./shares.ts";

const row = (key: string, tokens: number, dollars: number | null, title: string | null = null): UsageRow => ({
  ...{ key, title, tokens, tokens_in: tokens, tokens_out: 0, turns: 2, unpriced: dollars === null ? 2 : 0 },
  cost_usd_micros: dollars === null ? null : dollars * 1_000_000,
});
const shares = (rows: UsageRow[], more: Partial<CostShares> = {}): CostShares => ({ rows, more: 0, rest: null, none: null, ...more });
const total = (tokens: number, dollars: number | null) =>
  ({ tokens, turns: 9, unpriced: 0, cost_usd_micros: dollars === null ? null : dollars * 1_000_000 }) as Insights["total"];

const EPICS = shares([row("e-1", 10, 8, "Search"), row("e-2", 90, null, "Import")], {
  ...{ more: 3, rest: row("", 5, 1), none: row("", 20, 0.5) },
});

test("rows go by what they are counted in; the others and those of none stand last", () => {
  const told = (unit: "dollars" | "tokens") => sharesOf(EPICS, unit, "No epic").map(({ name, said }) => [name, said]);
  assert.deepEqual(told("dollars"), [
    ["Search", "$8.00"],
    ["Import", "–"],
    ["3 more", "$1.00"],
    ["No epic", "$0.50"],
  ]);
  assert.deepEqual(told("tokens"), [
    ["Import", "90"],
    ["Search", "10"],
    ["3 more", "5"],
    ["No epic", "20"],
  ]);
  assert.equal(sharesOf(EPICS, "tokens").length, 3);
});

test("a cost that is short of the whole says so", () => {
  assert.equal(costOf({ cost_usd_micros: 1_500_000, unpriced: 1 }), "≥ $1.50");
  assert.equal(costOf({ cost_usd_micros: null, unpriced: 3 }), "–");
});

test("the sentence names what took the most, and its share", () => {
  assert.equal(epicsFinding({ epics: EPICS, total: total(125, 16) }, "dollars"), "Search took the most: $8.00 of $16.00, 50 %.");
  assert.equal(
    epicsFinding({ epics: EPICS, total: total(125, 16) }, "tokens"),
    "Import took the most: 90 tokens of 125 tokens, 72 %.",
  );
  assert.match(epicsFinding({ epics: EPICS, total: total(125, null) }, "dollars"), /told what it cost; count in tokens/);
  const personas = shares([row("pm", 30, 3, "PM"), row("seer", 10, 1)]);
  assert.equal(
    personasFinding({ personas, total: total(125, 16) }, "dollars"),
    "Advice took $4.00 of $16.00, 25 %; PM the most: $3.00.",
  );
});

const record = (model: string, agreement: number | null) =>
  ({ persona_id: "pm", model, agreement, pairs: 40, rankings: 2, applied: 0 }) as TrackRecord["records"][number];

test("the built-in advisor is told from models, and both are compared", () => {
  const fared = { records: [record("gemba-advisor", 0.8), record("m-1", 0.7), record("unknown", null)], rankings: [{}, {}], more: false } as TrackRecord;
  assert.deepEqual(
    faredOf(fared, () => "PM").map(({ name, said, part }) => [name, said, part]),
    [
      ["PM, the built-in advisor", "80 %", 0],
      ["PM, m-1", "70 %", 1],
      ["PM, not said", "nothing to compare yet", 1],
    ],
  );
  assert.equal(
    recordFinding(fared),
    "2 rankings. In the order in which they were finished: 80 % of 40 pairs by the built-in advisor, 70 % of 40 pairs by m-1.",
  );
  assert.equal(recordFinding({ ...fared, records: [record("m-1", null)] }), "2 rankings; none can be compared with what happened yet.");
});
