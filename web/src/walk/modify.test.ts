import assert from "node:assert/strict";
import { test } from "node:test";
import type { WalkAction } from "../api/types.ts";
import { bodyFrom, bodyOf, editedBody, editedValue, editedWords, formOf } from "./modify.ts";

const action = (path: string, body: object, label = "Do it"): WalkAction =>
  ({ label, verb: "POST", path, body }) as unknown as WalkAction;

test("a reply is modified in words: those that were proposed, those of an option, or none", () => {
  const reply = (body: object) => formOf(action("/api/escalations/e-1/respond", body, "Port 80"));
  assert.deepEqual(reply({ text: "Go on" }), { as: "words", text: "Go on" });
  assert.deepEqual(reply({ option: 2 }), { as: "words", text: "Port 80" });
  assert.deepEqual(reply({ decision: "yes" }), { as: "words", text: "" });
  assert.deepEqual(reply({ action: "revise", text: "Mend it" }), { as: "words", text: "Mend it" });
  assert.deepEqual(formOf(action("/api/escalations/e-1/snooze", { seconds: 3600 })), { as: "words", text: "" });
  assert.deepEqual(editedWords("Go"), { text: "Go" });
});

test("a command is modified as a command", () => {
  assert.deepEqual(formOf(action("/api/approvals/a-1/approve", { seals: ["x"] })), { as: "command" });
});

test("a request is modified member by member, a new item by what it is made of", () => {
  const change = formOf(action("/api/work-items/w-1", { priority: 1, ratified: true, title: "Do", labels: ["a"] }));
  assert.deepEqual(change, {
    as: "fields",
    within: null,
    fields: [
      { name: "priority", kind: "number", input: "1" },
      { name: "ratified", kind: "flag", input: "true" },
      { name: "title", kind: "text", input: "Do" },
      { name: "labels", kind: "json", input: '[\n  "a"\n]' },
    ],
  });
  const made = action("/api/work-items", { item: { title: "A" }, relations: [] });
  const form = formOf(made);
  assert.ok(form.as === "fields" && form.within === "item");
  const whole = bodyOf(made, form.within, [{ ...form.fields[0]!, input: "B" }]);
  assert.deepEqual(whole, { body: { item: { title: "B" }, relations: [] } });
});

test("what cannot be read is told by its field, and nothing is made of it", () => {
  const fields = [
    { name: "priority", kind: "number", input: "high" } as const,
    { name: "labels", kind: "json", input: "[" } as const,
    { name: "title", kind: "text", input: "" } as const,
  ];
  const made = bodyOf({ body: {} as WalkAction["body"] }, null, fields);
  assert.ok("faults" in made);
  assert.deepEqual([...made.faults], [["priority", "A number is needed."], ["labels", "This is no JSON."]]);
});

test("a whole body is typed as JSON, and has to be an object", () => {
  assert.deepEqual(bodyFrom('{"title": "A"}'), { body: { title: "A" } });
  assert.deepEqual(bodyFrom("{"), { fault: "This is no JSON." });
  assert.deepEqual(bodyFrom("[1]"), { fault: "An object is needed: { … }." });
});

test("an edited body and a value go out as the server takes them", () => {
  assert.deepEqual(editedBody({ priority: 2 }), { body: { priority: 2 } });
  assert.deepEqual(editedValue("e/1", 5), { verb: "POST", path: "/api/escalations/e%2F1/respond", body: { value: 5 } });
});
