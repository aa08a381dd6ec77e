import assert from "node:assert/strict";
import { test } from "node:test";
import { differenceOf } from "./difference.ts";

test("the same words have no difference, however they are set", () => {
  assert.equal(differenceOf("Which port\ndo we use?", "Which  port do we use?"), null);
});

test("only the words that differ are shown, with a sign for what stands around them", () => {
  assert.equal(differenceOf("Which port do we use?", "Which port should we use?"), "… should …");
  assert.equal(differenceOf("Which port?", "Please: which port?"), "Please: which …");
  assert.equal(differenceOf("Which port?", "Which port, please?"), "… port, please?");
});

test("words that are missing are told by their neighbours", () => {
  assert.equal(differenceOf("Which port do we really use?", "Which port do we use?"), "… do we use?");
});
