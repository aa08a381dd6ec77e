import assert from "node:assert/strict";
import { test } from "node:test";
import type { TaskTransfers } from "../api/types.ts";
import { analysisOf, bodyOf, isFromText, rolesOf } from "./analysis.ts";
import { publishersOf } from "./flows.ts";
import { checksOf, gateOf, noteOf, points } from "./gate.ts";

const transfers = (task_id: string, more: Partial<TaskTransfers> = {}): TaskTransfers => ({
  ...{ task_id, artifacts: [], ref: null, key_findings: [], wisdom: [], angles: [], accumulated: false, got: [] },
  ...more,
});

const got = (channel: TaskTransfers["got"][number]["channel"], ref: string, source: string | null) => ({
  ...{ channel, ref, source, version: 1, attempt: 1, at: "" },
});

const artifact = (name: string, version: number) => ({ name, version, digest: "", size: 10, lines: 1, at: "" });

test("each thing stands with who published it, and names everybody it reached once", () => {
  const tasks = [
    transfers("A-1", { artifacts: [artifact("a.md", 1), artifact("a.md", 2)], key_findings: ["one", "two"] }),
    transfers("B-1", { got: [got("artifact", "a.md@1", "A-1"), got("artifact", "a.md@1", "A-1"), got("state", "A-1", "A-1")] }),
    transfers("C-1", { got: [got("artifact", "a.md@1", "A-1"), got("wisdom", "1", null)] }),
  ];
  const [a, people, ...others] = publishersOf({ tasks });
  assert.deepEqual(others, []);
  assert.deepEqual(
    a!.flows.map(({ channel, name, note, to }) => [channel, name, note, to.join(" ")]),
    [
      ["artifact", "a.md", "version 1, 1 line", "B-1 C-1"],
      ["artifact", "a.md", "version 2, 1 line", ""],
      ["state", "Findings", "one · two", "B-1"],
    ],
  );
  assert.deepEqual(people, { task: null, flows: [{ channel: "wisdom", name: "Wisdom 1", note: "", to: ["C-1"] }] });
});

test("a gate of another form shows nothing, and one without a part leaves that out", () => {
  assert.equal(gateOf(null), null);
  assert.equal(gateOf({ score: "high" }), null);
  assert.deepEqual(gateOf({ score: 50, dimensions: [{ dimension: "depth", score: 50 }, "x"] })!.dimensions, [
    { dimension: "depth", score: 50, computed: null, reviewed: 0, failed: [], reason: "" },
  ]);
  assert.deepEqual(checksOf({ checks: [{ name: "n", passed: "yes" }] as never }), [{ dimension: "", name: "n", passed: false, evidence: "" }]);
  assert.equal(noteOf({ review: { note: 5 } as never }), "");
  assert.equal(points(86.254), "86.25");
});

test("an analysis is read with its words, and a given plan is told from one of the text", () => {
  const analysis = analysisOf({
    analysis: { capabilities: [{ name: "tester", words: [{ word: "test", found: "tests", times: 2 }] }], roles: [{ name: "tester" }] },
  });
  assert.deepEqual(analysis.capabilities[0]!.words, [{ word: "test", found: "tests", times: 2 }]);
  assert.equal(analysis.complexity, null);
  const roles = rolesOf({ roles: [{ name: "tester", spec: "---\nrole: tester\n---\n# Tester" }] as never });
  assert.equal(isFromText(analysis, roles), true);
  assert.equal(isFromText(analysis, []), false);
  assert.equal(bodyOf(roles[0]!.spec), "# Tester");
});
