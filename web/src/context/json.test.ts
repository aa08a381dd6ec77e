import assert from "node:assert/strict";
import { test } from "node:test";
import { asLine, countOf, differenceOf, partsOf } from "./json.ts";

test("scalars are one line, texts in quotes", () => {
  assert.deepEqual([1, true, null, "a b", ""].map(asLine), ["1", "true", "null", '"a b"', '""']);
});

test("short lists of scalars and empty things are one line, all else has parts", () => {
  assert.equal(asLine(["/a", 1, null]), '["/a", 1, null]');
  assert.equal(asLine([]), "[]");
  assert.equal(asLine({}), "{}");
  assert.equal(asLine({ a: 1 }), null);
  assert.equal(asLine([[1]]), null);
  assert.equal(asLine(["x".repeat(90)]), null);
  assert.equal(asLine(["two\nlines"]), null);
});

test("parts have names, or numbers from 0, and are counted", () => {
  assert.deepEqual(partsOf({ a: 1, b: [] }), [
    ["a", 1],
    ["b", []],
  ]);
  assert.deepEqual(partsOf(["x"]), [["0", "x"]]);
  assert.equal(partsOf(null), null);
  assert.deepEqual([{ a: 1 }, { a: 1, b: 2 }, [1], [1, 2]].map(countOf), ["1 entry", "2 entries", "1 item", "2 items"]);
});

test("a name that objects have of their own is a name like any other", () => {
  const value = JSON.parse('{"__proto__": 1, "constructor": 2}') as unknown;
  assert.deepEqual(partsOf(value), [
    ["__proto__", 1],
    ["constructor", 2],
  ]);
});

test("what was added has come, what was removed is gone, else one stands for the other", () => {
  assert.deepEqual(differenceOf({ kind: "added", after: 0 }), { come: { value: 0 }, ofItems: false });
  assert.deepEqual(differenceOf({ kind: "removed", before: null }), { gone: { value: null }, ofItems: false });
  assert.deepEqual(differenceOf({ kind: "overwritten", before: 1, after: 2 }), {
    gone: { value: 1 },
    come: { value: 2 },
    ofItems: false,
  });
});

test("of a list that grew or shrank at its end only those items are told", () => {
  const grown = differenceOf({ kind: "united", before: ["a", { id: 1 }], after: ["a", { id: 1 }, "b"] });
  assert.deepEqual(grown, { come: { value: ["b"] }, ofItems: true });
  const shrunk = differenceOf({ kind: "united", before: ["a", "b"], after: ["a"] });
  assert.deepEqual(shrunk, { gone: { value: ["b"] }, ofItems: true });
  const other = differenceOf({ kind: "united", before: ["a", "b"], after: ["b", "c"] });
  assert.deepEqual(other, { gone: { value: ["a", "b"] }, come: { value: ["b", "c"] }, ofItems: false });
});
