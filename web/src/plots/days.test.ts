import assert from "node:assert/strict";
import { test } from "node:test";
import { dayAfter, daysBetween } from "./days.ts";

test("days are counted over the ends of months, of years and of summer time", () => {
  assert.equal(daysBetween("2026-12-30", "2027-01-02"), 3);
  assert.equal(daysBetween("2026-03-28", "2026-03-30"), 2);
  assert.equal(dayAfter("2026-02-27", 2), "2026-03-01");
  assert.equal(dayAfter("2026-03-01", -1), "2026-02-28");
  assert.equal(dayAfter("2026-10-24", 2), "2026-10-26");
});
