import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answersFirst,
  asVote,
  codesValue,
  describe,
  isComplete,
  labelPayload,
  levelValue,
  parseKey,
  resultsOf,
  sameCodes,
  sameState,
  storageKey,
  toggled,
  withKept,
} from "../../../../static/js/annotation/labels/label_answers.js";

const state = (value, certainty = null, note = "") => ({ value, certainty, note });

test("an answer is complete with a choice, and a level of acuity with a certainty, too", () => {
  assert.equal(isComplete(state("emergent"), { isAcuity: false }), true);
  assert.equal(isComplete(state("", 40, "note"), { isAcuity: false }), false);
  assert.equal(isComplete(state("level-4"), { isAcuity: true }), false);
  assert.equal(isComplete(state("level-4", 0), { isAcuity: true }), true);
});

test("on a scale, cannot tell is complete with a reason and needs no certainty", () => {
  const levels = { isAcuity: true, isLevels: true };
  assert.equal(isComplete(state("cannot-tell"), levels), false);
  assert.equal(isComplete({ ...state("cannot-tell"), reason: "missing-fact" }, levels), true);
  assert.equal(isComplete({ ...state("cannot-tell"), reason: "other" }, levels), false);
  assert.equal(isComplete({ ...state("cannot-tell"), reason: "other", note: "Two people ask." }, levels), true);
  assert.equal(isComplete(state("self-care"), levels), false);
  assert.equal(isComplete({ ...state("self-care", 5), upper: "primary-care" }, levels), true);
});

test("a certainty and an upper level belong to a level, and a reason to cannot tell", () => {
  const full = { upper: "primary-care", reason: "other" };
  assert.deepEqual(asVote({ ...state("cannot-tell", 5, "n"), ...full }), {
    ...state("cannot-tell", null, "n"),
    upper: "",
    reason: "other",
  });
  assert.deepEqual(asVote({ ...state("self-care", 5, "n"), ...full }), {
    ...state("self-care", 5, "n"),
    upper: "primary-care",
    reason: "",
  });
});

test("a vote between two levels is named by both, and is another one than for the lower", () => {
  const between = { ...state("self-care", 5), upper: "primary-care" };
  assert.equal(levelValue(between), "self-care|primary-care");
  assert.equal(levelValue(state("self-care", 5)), "self-care");
  assert.equal(sameState(between, state("self-care", 5)), false);
  assert.equal(sameState({ ...state("self-care", 5), upper: "" }, state("self-care", 5)), true);
  assert.equal(sameState({ ...state("cannot-tell"), reason: "other" }, state("cannot-tell")), false);
});

test("an entry from before there were votes is sent without an upper level and a reason", () => {
  const payload = labelPayload("q", { ...state("a", 5), version: 1, client_id: "c" });
  assert.deepEqual([payload.upper, payload.reason], ["", ""]);
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

test("codes are marked and unmarked, and an answer has codes, none of these, or nothing", () => {
  const one = toggled([], "wrong-dose");
  assert.deepEqual(one, [{ code: "wrong-dose", criterion: null, evidence: [] }]);
  const two = toggled(one, "overconfidence");
  assert.deepEqual(
    toggled(two, "wrong-dose").map(({ code }) => code),
    ["overconfidence"],
  );
  const before = { code: "wrong-dose", criterion: 7, evidence: [{ start: 0, end: 4 }] };
  assert.deepEqual(toggled([], "wrong-dose", before), [before]);
  assert.deepEqual(toggled([before], "wrong-dose", before), []);
  assert.deepEqual([codesValue(two, false), codesValue([], true), codesValue([], false)], ["coded", "none", ""]);
});

test("codes are the same in whatever order, with the same criterion and words", () => {
  const dose = { code: "wrong-dose", criterion: 7, evidence: [{ start: 0, end: 4 }] };
  const sure = { code: "overconfidence", criterion: null, evidence: [] };
  assert.ok(sameCodes([dose, sure], [sure, { ...dose, evidence: [{ start: 0, end: 4, quote: "Take" }] }]));
  assert.ok(!sameCodes([dose], [dose, sure]));
  assert.ok(!sameCodes([dose], [{ ...dose, criterion: 8 }]));
  assert.ok(!sameCodes([dose], [{ ...dose, evidence: [{ start: 1, end: 4 }] }]));
  const state = { value: "coded", certainty: null, note: "", codes: [dose] };
  assert.ok(!sameState(state, { ...state, codes: [sure] }));
});

test("a code is sent with the places of its words alone", () => {
  const evidence = [{ start: 0, end: 4, quote: "Take" }];
  const entry = { value: "coded", certainty: null, note: "", version: 2, client_id: "id" };
  const payload = labelPayload("q", { ...entry, codes: [{ code: "wrong-dose", criterion: 7, evidence }] });
  assert.deepEqual(payload.codes, [{ code: "wrong-dose", criterion: 7, evidence: [{ start: 0, end: 4 }] }]);
  assert.ok(!("codes" in labelPayload("q", entry)));
});
