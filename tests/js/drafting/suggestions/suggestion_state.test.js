import assert from "node:assert/strict";
import { test } from "node:test";
import { nextAfter, stateOf, undecided } from "../../../../static/js/drafting/suggestions/suggestion_state.js";
import { newItem } from "../../../../static/js/rubrics/editor/rubric_model.js";

const quote = { passage: "p", start: 0, end: 4, quote: "Give" };
const item = (id, fields = {}) =>
  newItem({ id: `s${id}`, text: "Gives four doses", points: 5, tags: ["axis:safety"], suggestion: id, ...fields });
const known = (id, fields = {}, details = {}) => ({
  id,
  item: item(id, { citations: [quote], ...details }),
  cited: [],
  state: "open",
  aside: false,
  reason: null,
  ...fields,
});
const decision = (state, aside = false, reason = null) => ({ state, aside, reason });

test("the state follows from the list: words, points and another axis count, white space and tags do not", () => {
  const suggestion = known("a");
  const states = (fields) => stateOf(suggestion, [item("a", fields)], undefined).state;
  assert.equal(states({}), "accepted");
  assert.equal(states({ text: " Gives  four\ndoses " }), "accepted");
  assert.equal(states({ tags: ["axis:safety", "dose"] }), "accepted");
  assert.equal(states({ text: "Gives five doses" }), "edited");
  assert.equal(states({ points: 6 }), "edited");
  assert.equal(states({ tags: ["axis:accuracy"] }), "edited");
  assert.equal(states({ tags: ["dose"] }), "accepted"); // no axis is no other axis
  // Composed and decomposed characters are the same words.
  assert.equal(stateOf(known("b", {}, { text: "é" }), [item("b", { text: "e\u0301" })], undefined).state, "accepted");
  // One criterion of several is as it was.
  assert.equal(stateOf(suggestion, [item("a", { text: "x" }), item("a")], undefined).state, "accepted");
});

test("a suggestion that is not in the list is what was decided here, else what the server says", () => {
  assert.deepEqual(stateOf(known("a"), [], undefined), decision("open"));
  assert.deepEqual(stateOf(known("a"), [], decision("rejected", false, 2)), decision("rejected", false, 2));
  assert.deepEqual(
    stateOf(known("a", { state: "rejected", reason: 3 }), [], undefined),
    decision("rejected", false, 3),
  );
  // Taken by the server's last word, and removed since.
  assert.deepEqual(stateOf(known("a", { state: "accepted" }), [], undefined), decision("rejected"));
  // The list counts before what was decided here.
  assert.equal(stateOf(known("a"), [item("a")], decision("rejected")).state, "accepted");
});

test("undecided ones are shown with a source first, then those put aside, then those without a source", () => {
  const all = [
    known("bare", {}, { citations: [] }),
    known("aside", { aside: true }),
    known("done", { state: "rejected" }),
    known("first"),
    known("second"),
  ];
  const decisionOf = (id) =>
    stateOf(
      all.find((other) => other.id === id),
      [],
      undefined,
    );
  assert.deepEqual(undecided(all, decisionOf), ["first", "second", "aside", "bare"]);
});

test("after a decision comes the next one that is neither decided nor put aside", () => {
  const states = { a: decision("accepted"), b: decision("open", true), c: decision("open"), d: decision("rejected") };
  const decisionOf = (id) => states[id];
  assert.equal(nextAfter(["a", "b", "c", "d"], "a", decisionOf), "c");
  assert.equal(nextAfter(["a", "b", "c", "d"], "d", decisionOf), "c"); // from the end to the beginning
  states.c = decision("accepted");
  assert.equal(nextAfter(["a", "b", "c", "d"], "c", decisionOf), "b");
  states.b = decision("edited");
  assert.equal(nextAfter(["a", "b", "c", "d"], "b", decisionOf), "");
});
