import assert from "node:assert/strict";
import { test } from "node:test";
import { asLine, countOf, differenceOf, partsOf, titleOf } from "./json.ts";

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
  assert.deepEqual(differenceOf({ pointer: "/a", kind: "added", after: 0 }), { gone: [], come: [0], ofItems: false });
  assert.deepEqual(differenceOf({ pointer: "/a", kind: "removed", before: null }), { gone: [null], come: [], ofItems: false });
  assert.deepEqual(differenceOf({ pointer: "/a", kind: "overwritten", before: 1, after: [2] }), {
    gone: [1],
    come: [[2]],
    ofItems: false,
  });
});

test("of a list only the items are told that went and came", () => {
  const grown = differenceOf({ pointer: "/a", kind: "united", before: ["a", { id: 1 }], after: ["a", { id: 1 }, "b", 1] });
  assert.deepEqual(grown, { gone: [], come: ["b", 1], ofItems: true });
  const merged = differenceOf({ pointer: "/a", kind: "united", before: ["a", { id: 1 }], after: ["a", { id: 1, x: 2 }, "b"] });
  assert.deepEqual(merged, { gone: [{ id: 1 }], come: [{ id: 1, x: 2 }, "b"], ofItems: true });
  const taken = differenceOf({ pointer: "/a", kind: "united", before: ["a", "b"], after: ["a"] });
  assert.deepEqual(taken, { gone: ["b"], come: [], ofItems: true });
});

test("of items that were merged a change of their own tells", () => {
  const list = { pointer: "/a", kind: "united", before: [{ id: 1 }], after: [{ id: 1, x: 2 }, "b"] } as const;
  const item = { pointer: "/a/0", kind: "merged", before: { id: 1 }, after: { id: 1, x: 2 } } as const;
  const elsewhere = { pointer: "/ab/0", kind: "merged", before: "b", after: "b" } as const;
  const changes = [list, item, elsewhere].map((one) => ({ ...one }));
  assert.deepEqual(differenceOf(changes[0]!, changes), { gone: [], come: ["b"], ofItems: true });
});

test("a list that only lost what it held twice is told as a whole", () => {
  const once = differenceOf({ pointer: "/a", kind: "united", before: ["a", "a"], after: ["a"] });
  assert.deepEqual(once, { gone: [["a", "a"]], come: [["a"]], ofItems: false });
});

test("of what is too long to be listed nothing is told but that it changed", () => {
  const long = differenceOf({ pointer: "/a", kind: "added", shortened: true });
  assert.deepEqual(long, { gone: [], come: [], ofItems: false });
  const list = differenceOf({ pointer: "/a", kind: "united", before: [], after: ["b"], shortened: true });
  assert.deepEqual(list, { gone: [], come: ["b"], ofItems: true });
});

test("an item is called by its id or its name, if that is text", () => {
  assert.deepEqual([{ id: "a", name: "b" }, { name: "b" }, { id: 1 }, { id: " " }, ["a"], null, "a"].map(titleOf), [
    ...["a", "b", null, null, null, null, null],
  ]);
});
