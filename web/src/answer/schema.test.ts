import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesIn, fieldsOf, memberAt, missingIn, valueFrom } from "./schema.ts";

const SERVICE = {
  type: "object",
  properties: {
    name: { type: "string" },
    port: { type: "integer", minimum: 1, title: "Port" },
    public: { type: "boolean" },
    tier: { enum: ["free", "paid", 3] },
  },
  required: ["port", "public"],
};

test("an object of simple members is a form, each with its type and whether it must be there", () => {
  const fields = fieldsOf(SERVICE) ?? [];
  assert.deepEqual(
    fields.map(({ label, type, required }) => [label, type, required]),
    [
      ["name", "string", false],
      ["Port", "integer", true],
      ["public", "boolean", true],
      ["tier", "enum", false],
    ],
  );
});

test("what was filled in becomes the value; empty optional members are left out", () => {
  const fields = fieldsOf(SERVICE) ?? [];
  assert.deepEqual(valueFrom(fields, { port: "8080", public: "false", tier: '"paid"' }), {
    port: 8080,
    public: false,
    tier: "paid",
  });
  assert.deepEqual(valueFrom(fields, { port: "many", public: "true", name: "12" }), {
    name: "12",
    port: "many",
    public: true,
  });
  assert.equal(missingIn(fields, { public: "true" })?.name, "port");
  assert.equal(missingIn(fields, { public: "true", port: "1" }), null);
});

test("a single value is a form of one field", () => {
  assert.equal(valueFrom(fieldsOf({ type: "number" }) ?? [], { "": "0.5" }), 0.5);
  assert.equal(valueFrom(fieldsOf({ type: "string" }) ?? [], { "": "8080" }), "8080");
});

test("yes or no, and a few values, are answered with one key", () => {
  assert.deepEqual(
    choicesIn({ type: "boolean" })?.map(({ value }) => value),
    [true, false],
  );
  assert.deepEqual(choicesIn({ enum: ["a", 2, null] }), [
    { label: "a", value: "a" },
    { label: "2", value: 2 },
    { label: "null", value: null },
  ]);
  assert.equal(choicesIn({ type: "string" }), null);
  assert.equal(choicesIn(SERVICE), null);
});

test("what no field can show is answered as JSON", () => {
  for (const schema of [
    { type: "array", items: { type: "string" } },
    { anyOf: [{ type: "string" }, { type: "number" }] },
    { type: "object", properties: { a: { type: "object" } } },
    { type: "object", properties: { a: { type: "string" } }, required: ["b"] },
    { type: "object" },
    { $ref: "#/$defs/a", type: "string" },
    {},
  ])
    assert.equal(fieldsOf(schema), null);
});

test("a refusal names the member that it points at", () => {
  assert.equal(memberAt("/value/port"), "port");
  assert.equal(memberAt("/value/a~1b/3"), "a/b");
  assert.equal(memberAt("/value"), "");
  assert.equal(memberAt(null), "");
});

test("members with the names of every object are members like others", () => {
  const properties = JSON.parse('{"__proto__": {"type": "string"}, "constructor": {"type": "string"}}') as object;
  const fields = fieldsOf({ type: "object", properties }) ?? [];
  assert.deepEqual(valueFrom(fields, {}), {});
  const filled = JSON.parse('{"__proto__": "a", "constructor": "b"}') as Record<string, string>;
  assert.equal(JSON.stringify(valueFrom(fields, filled)), '{"__proto__":"a","constructor":"b"}');
});

test("many values are chosen from a list, and very many are typed", () => {
  const values = (count: number) => ({ enum: Array.from({ length: count }, (_, index) => index) });
  assert.equal(choicesIn(values(9))?.length, 9);
  assert.equal(choicesIn(values(10)), null);
  assert.equal(fieldsOf(values(10))?.[0]?.type, "enum");
  assert.equal(fieldsOf(values(1_000)), null);
});
