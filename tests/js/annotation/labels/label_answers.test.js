import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answersFirst,
  describe,
  isComplete,
  parseKey,
  resultsOf,
  sameState,
  storageKey,
  withKept,
} from "../../../../static/js/annotation/labels/label_answers.js";

const state = (value, certainty = null, note = "") => ({ value, certainty, note });

test("an answer is complete with a choice, and a level of acuity with a certainty, too", () => {
  assert.equal(isComplete(state("emergent"), false), true);
  assert.equal(isComplete(state("", 40, "note"), false), false);
  assert.equal(isComplete(state("level-4"), true), false);
  assert.equal(isComplete(state("level-4", 0), true), true);
});

test("two states are the same with the same choice, certainty and note", () => {
  assert.equal(sameState(state("a", 5, "n"), { ...state("a", 5, "n"), version: 7, at: "10:00:00" }), true);
  assert.equal(sameState(state("a", 5, "n"), state("b", 5, "n")), false);
  assert.equal(sameState(state("a", 5, "n"), state("a", 0, "n")), false);
  assert.equal(sameState(state("a", null, "n"), state("a", 0, "n")), false);
  assert.equal(sameState(state("a", 5, "n"), state("a", 5, "m")), false);
});

test("a note that waited for its answer goes along, over nothing", () => {
  assert.deepEqual(withKept(state("", 80, "kept"), state("emergent")), state("emergent", 80, "kept"));
  assert.deepEqual(withKept(state("", 80, "kept"), state("emergent", 0, "theirs")), state("emergent", 0, "theirs"));
});

test("the keys of half-saved work stay as they are", () => {
  assert.equal(storageKey("u1", "task-1", "q-1"), "consilium.labels:u1:task-1:q-1");
  assert.deepEqual(parseKey("consilium.labels:u1:task-1:q-1", "u1"), { task: "task-1", question: "q-1" });
  assert.equal(parseKey("consilium.labels:u2:task-1:q-1", "u1"), null);
  assert.equal(parseKey("consilium.writing:u1:task-1", "u1"), null);
  assert.equal(parseKey("consilium.labels:u1:", "u1"), null);
});

test("answers are sent before notes that wait for one, otherwise in their order", () => {
  const entries = [
    ["1", state("", null, "waits")],
    ["2", state("a")],
    ["3", state("", null, "waits, too")],
    ["4", state("b")],
  ];
  assert.deepEqual(
    answersFirst(new Map(entries)).map(([key]) => key),
    ["2", "4", "1", "3"],
  );
});

test("an answer in one line leaves out what it does not have", () => {
  assert.equal(describe("Emergent", state("emergent", 55, "why"), "certainty"), "Emergent · certainty 55 · why");
  assert.equal(describe("Emergent", state("emergent", 0), "certainty"), "Emergent · certainty 0");
  assert.equal(describe(undefined, state("", null, "why"), "certainty"), "why");
});

test("an answer that is refused for what it says holds up no other; what a network says refuses nothing", () => {
  const refused = [{ id: "4", status: "refused", detail: "No" }];
  assert.deepEqual(resultsOf({ status: 422, body: { detail: "No" } }, "4"), refused);
  assert.deepEqual(resultsOf({ status: 400, body: { detail: "No" } }, "4"), refused);
  assert.equal(resultsOf({ status: 400, body: null }, "4"), null);
  assert.equal(resultsOf({ status: 409, body: { detail: "Paused" } }, "4"), null);
  const results = [{ id: "4", status: "saved", version: 1 }];
  assert.deepEqual(resultsOf({ status: 200, body: { results } }, "4"), results);
});
