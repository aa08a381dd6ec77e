import assert from "node:assert/strict";
import { test } from "node:test";
import { SseParser } from "./sse-parser.ts";

const stream = 'id: 7\nevent: escalation_opened\ndata: {"ref":"a"}\n\n: beat\n\nevent: gap\ndata: {}\n\n';
const expected = [
  { id: "7", event: "escalation_opened", data: '{"ref":"a"}' },
  { id: null, event: "gap", data: "{}" },
];

test("reads messages and skips heartbeats", () => {
  assert.deepEqual(new SseParser().feed(stream), expected);
});

test("gives the same messages wherever the chunks are cut, with either line ending", () => {
  for (const text of [stream, stream.replaceAll("\n", "\r\n")]) {
    for (let cut = 0; cut <= text.length; cut += 1) {
      const parser = new SseParser();
      assert.deepEqual([...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))], expected);
    }
  }
});

test("joins data lines and keeps what follows the first colon", () => {
  assert.deepEqual(new SseParser().feed("data: a: b\ndata:  c\n\n"), [
    { id: null, event: "message", data: "a: b\n c" },
  ]);
});

test("waits for the blank line", () => {
  const parser = new SseParser();
  assert.deepEqual(parser.feed("data: a\n"), []);
  assert.deepEqual(parser.feed("\n"), [{ id: null, event: "message", data: "a" }]);
});
