import assert from "node:assert/strict";
import { test } from "node:test";
import type { PurviewView } from "../api/types";
import { activeWords, changeOfPurviews, listed, phasesOf, sharesOf } from "./wording.ts";

const purview = (more: Partial<PurviewView>): PurviewView => ({
  persona_id: "qa",
  persona_name: "QA",
  variety: "manager",
  domain: "testing",
  active_phases: ["validating", "shipping"],
  authority: "blocking",
  active: false,
  ...more,
});

test("when a purview holds is told in words", () => {
  assert.equal(phasesOf(purview({})), "in validating and shipping");
  assert.equal(phasesOf(purview({ active_phases: [] })), "in every phase, for work that is labelled so");
  assert.equal(activeWords(purview({}), "design"), "Not active in design");
  assert.equal(activeWords(purview({ active: true }), "shipping"), "Active now, in shipping");
  assert.equal(activeWords(purview({ active_phases: [] }), "design"), "Active now for work that is labelled so");
});

test("what another phase changes is told before it is changed", () => {
  const architect = purview({ persona_name: "Architect", domain: "design", active_phases: ["design"], authority: "strong" });
  const found = changeOfPurviews([purview({}), architect, purview({ active_phases: [] })], "design", "shipping");
  assert.deepEqual(found, { begin: ["QA (testing, blocking)"], end: ["Architect (design, strong)"] });
});

test("lists read as people say them", () => {
  assert.deepEqual([listed([]), listed(["a"]), listed(["a", "b", "c"])], ["", "a", "a, b and c"]);
});

test("a day without a budget has no shares", () => {
  const today = { settled_dollars: 1, reserved_dollars: 1, left_dollars: 0, day_dollars: 0 };
  assert.deepEqual(sharesOf({ today }), { settled: 0, reserved: 0 });
  assert.deepEqual(sharesOf({ today: { ...today, day_dollars: 4 } }), { settled: 25, reserved: 25 });
});
