import assert from "node:assert/strict";
import { test } from "node:test";
import type { Memory } from "../api/types.ts";
import { asEdited, changesOf } from "./edit.ts";
import { reachOf, titleOf } from "./wording.ts";

const MEMORY = {
  slug: "proxy-port",
  type: "hunch",
  class: "thread",
  description: "The proxy's port",
  body: "8000 is the proxy's",
  surfaces: ["api", "web"],
} as Memory;

test("nothing is sent when nothing was changed, whatever the agent wrote", () => {
  assert.deepEqual(changesOf(MEMORY, asEdited(MEMORY)), {});
});

test("each field that was changed is sent", () => {
  const edited = { slug: " port ", type: "decision", class: "anchor", body: " 8000 ", surfaces: "web, , ops,web" };
  assert.deepEqual(changesOf(MEMORY, edited), {
    slug: "port",
    type: "decision",
    class: "anchor",
    body: "8000",
    surfaces: ["web", "ops"],
  });
});

test("surfaces that were taken away are sent as none", () => {
  assert.deepEqual(changesOf(MEMORY, { ...asEdited(MEMORY), surfaces: " " }), { surfaces: [] });
});

test("whom a memory reaches depends on its class, and for a thread on its surfaces", () => {
  assert.equal(reachOf({ class: "anchor", surfaces: ["api"] }), "for every turn");
  assert.equal(reachOf({ class: "log", surfaces: ["api"] }), "for turns that ask for logs");
  assert.equal(reachOf({ class: "thread", surfaces: ["api", "web"] }), "for turns on api, web");
  assert.equal(reachOf({ class: "forever", surfaces: [] }), "for turns on no surface");
});

test("a title is the description, and none where that says the same as the body", () => {
  assert.equal(titleOf(MEMORY), "The proxy's port");
  assert.equal(titleOf({ description: "use UTC", body: "use\n UTC" }), null);
});
