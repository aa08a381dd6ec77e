import assert from "node:assert/strict";
import { test } from "node:test";
import type { Policy } from "../api/types.ts";
import { endWords, sentenceOf, spelledOut, stepsOf, subjectOf, verifyWords } from "./sentence.ts";

const PLAIN: Policy = {
  name: "plain",
  urgency: null,
  kinds: [],
  remind_after: null,
  repeat_every: null,
  repeat_at_most: null,
  notify: [],
  then_notify: [],
  expire_after: null,
  default_answer: null,
  default_option: null,
  verify: null,
};

test("durations are spelled out", () => {
  assert.equal(spelledOut("1h30m"), "1 hour 30 minutes");
  assert.equal(spelledOut("45s"), "45 seconds");
});

test("a policy says what it takes", () => {
  assert.equal(subjectOf(PLAIN), "Everything");
  assert.equal(subjectOf({ ...PLAIN, urgency: "blocking" }), "Everything blocking");
  const both: Policy = { ...PLAIN, urgency: "advisory", kinds: ["question", "gate_failure"] };
  assert.equal(subjectOf(both), "Advisory questions and gate failures");
});

test("and what happens when nobody answers", () => {
  const urgent: Policy = {
    ...PLAIN,
    kinds: ["blocker"],
    remind_after: "10m",
    repeat_every: "30m",
    repeat_at_most: 5,
    notify: ["phone"],
    then_notify: ["team", "page"],
    expire_after: "8h",
    default_answer: "go on",
  };
  assert.deepEqual(stepsOf(urgent), [
    { when: "after 10 minutes", what: "remind, notify phone" },
    { when: "every 30 minutes", what: "again, notify team and page, at most 5 times, until somebody looks" },
    { when: "after 8 hours", what: "it is answered “go on” for you" },
  ]);
  assert.equal(sentenceOf(PLAIN), "Everything waits until you answer.");
  const ends = "Everything waits for your answer: after 1 day it expires without an answer.";
  assert.equal(sentenceOf({ ...PLAIN, expire_after: "1d" }), ends);
  const quoted = "Everything waits for your answer: after 1 day it is answered “Go on.” for you.";
  assert.equal(sentenceOf({ ...PLAIN, expire_after: "1d", default_answer: "Go on." }), quoted);
});

test("a card counts down to what will happen", () => {
  assert.equal(endWords(undefined), "expires");
  assert.equal(endWords(PLAIN), "expires");
  assert.equal(endWords({ ...PLAIN, default_answer: "go on" }), "answered “go on” for you");
  assert.equal(endWords({ ...PLAIN, default_option: 2 }), "answered with option 2 for you");
});

test("what an answer must pass is said", () => {
  assert.equal(verifyWords(PLAIN), null);
  assert.match(verifyWords({ ...PLAIN, verify: { check: [], seconds: 30, person: true } }) ?? "", /second person/);
  const checked: Policy = { ...PLAIN, verify: { check: ["./ok", "-q"], seconds: 5, person: false } };
  assert.match(verifyWords(checked) ?? "", /\.\/ok -q within 5/);
});
