import assert from "node:assert/strict";
import { test } from "node:test";
import { savingState } from "../../../static/js/core/saving_state.js";

const QUIET = { unsent: 0, early: 0, failures: 0, online: true, halted: false, asking: false, saved: false };
const stateWith = (changes) => savingState({ ...QUIET, ...changes });

test("nothing is waiting", () => {
  assert.equal(stateWith({}), "unchanged");
  assert.equal(stateWith({ saved: true }), "saved");
  assert.equal(stateWith({ early: 1, saved: true }), "early");
});

test("without anything unsent it does not matter that the connection is lost", () => {
  assert.equal(stateWith({ saved: true, online: false, failures: 2, halted: true, asking: true }), "saved");
  assert.equal(stateWith({ early: 1, online: false }), "early");
});

test("what is unsent is being saved, unless something is in its way", () => {
  assert.equal(stateWith({ unsent: 2, early: 1, saved: true }), "saving");
  assert.equal(stateWith({ unsent: 1, online: false }), "offline");
  assert.equal(stateWith({ unsent: 1, failures: 1 }), "offline");
  assert.equal(stateWith({ unsent: 1, halted: true }), "kept");
  assert.equal(stateWith({ unsent: 1, asking: true }), "kept");
  assert.equal(stateWith({ unsent: 1, halted: true, failures: 3 }), "kept");
  assert.equal(stateWith({ unsent: 1, halted: true, online: false }), "offline");
});

test("a page without early entries leaves them out", () => {
  const { early, ...others } = QUIET;
  assert.equal(early, 0);
  assert.equal(savingState({ ...others, unsent: 1 }), "saving");
  assert.equal(savingState(others), "unchanged");
});
