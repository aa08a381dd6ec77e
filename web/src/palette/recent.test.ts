import assert from "node:assert/strict";
import { test } from "node:test";
import { readRecent, recentOf, titleIn, withPlace, type Recent } from "./recent.ts";

const item = (id: string, title = id): Recent => ({ what: "item", id, title });

test("the newest place stands first, once, and the oldest goes", () => {
  let places: Recent[] = [];
  for (let number = 0; number < 12; number += 1) places = withPlace(places, item(`gem-${number}`));
  places = withPlace(places, item("gem-5"));
  assert.equal(places[0]?.id, "gem-5");
  assert.equal(places.filter(({ id }) => id === "gem-5").length, 1);
  assert.equal(places.length, 9);
});

test("a title that is known is not replaced by the id, and one that was read since is taken", () => {
  const known = withPlace([], item("gem-1", "Refresh of tokens"));
  assert.equal(withPlace(known, item("gem-1"))[0]?.title, "Refresh of tokens");
  assert.equal(withPlace(known, item("gem-1", "Tokens"))[0]?.title, "Tokens");
});

test("a thing is called by its title, or else by what it asks for", () => {
  assert.equal(titleIn({ id: "gem-1", title: "Tokens", text: "More" }, "gem-1"), "Tokens");
  assert.equal(titleIn({ id: "team-1", title: null, text: "Look" }, "team-1"), "Look");
  for (const data of [undefined, null, 7, { id: "gem-2", title: "Other" }, { id: "gem-1", title: 7 }])
    assert.equal(titleIn(data, "gem-1"), null);
});

test("a place that is nowhere is none", () => {
  assert.equal(recentOf({ name: null, title: null }), null);
  assert.deepEqual(recentOf({ name: "board", title: "Board" }), { what: "board", id: null, title: "Board" });
});

test("what was kept and cannot be read is nothing", () => {
  for (const kept of [null, "", "{", "7", '{"what":"item"}', '[null,7,{"what":"item"}]'])
    assert.deepEqual(readRecent(kept), []);
  assert.deepEqual(readRecent('[{"what":"item","id":"gem-1","title":"A"}]'), [item("gem-1", "A")]);
});
