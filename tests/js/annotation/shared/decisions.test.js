import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterStale,
  afterStorageChange,
  isSameDecision,
  payloadOf,
  totals,
  withoutQuotes,
} from "../../../../static/js/annotation/shared/decisions.js";

const MET = { outcome: "met", borderline: false, note: "", evidence: [] };
const NOT_MET = { ...MET, outcome: "not_met" };

function entry(clientId, { decision = MET, after = [], version = 3 } = {}) {
  return { ...decision, version, client_id: clientId, after };
}

function stored(clientId, decision) {
  return { ...decision, version: 7, client_id: clientId, at: "10:00:00" };
}

test("two decisions are the same if they say the same; the quotes of the evidence do not count", () => {
  const quoted = { ...MET, evidence: [{ start: 1, end: 4, quote: "abc" }] };
  assert.ok(isSameDecision(quoted, { ...MET, evidence: [{ start: 1, end: 4 }] }));
  assert.ok(!isSameDecision(quoted, { ...MET, evidence: [{ start: 1, end: 5 }] }));
  assert.ok(!isSameDecision(MET, { ...MET, outcome: "" }));
  assert.ok(!isSameDecision(MET, { ...MET, borderline: true }));
  assert.ok(!isSameDecision(MET, { ...MET, note: "n" }));
});

test("a decision is kept without the quotes of its evidence", () => {
  const decision = { outcome: "met", borderline: true, note: "n", evidence: [{ start: 1, end: 5, quote: "text" }] };
  assert.deepEqual(withoutQuotes(decision), { ...decision, evidence: [{ start: 1, end: 5 }] });
});

test("the server gets the criterion as a number, and not the trail", () => {
  assert.deepEqual(payloadOf("12", entry("a", { after: ["b"] })), {
    criterion: 12,
    outcome: "met",
    borderline: false,
    note: "",
    evidence: [],
    version: 3,
    client_id: "a",
  });
});

test("an entry that says what is stored is done, whoever stored it", () => {
  assert.equal(afterStale(entry("b"), entry("a"), stored("stranger", MET)), "done");
});

test("an entry made on top of the stored one goes on from it", () => {
  assert.equal(afterStale(entry("b", { after: ["a"] }), entry("a"), stored("a", NOT_MET)), "rebase");
});

test("an entry also goes on from what the sent one was based on", () => {
  // The newest entry is twenty steps further on and names that id no more.
  assert.equal(afterStale(entry("c"), entry("b", { after: ["a"] }), stored("a", NOT_MET)), "rebase");
});

test("a stored version that was never seen here is a question to the person", () => {
  assert.equal(afterStale(entry("b", { after: ["a"] }), entry("b"), stored("stranger", NOT_MET)), "ask");
  const old = { ...entry("b"), after: undefined }; // entries of older pages have no trail
  assert.equal(afterStale(old, old, stored("stranger", NOT_MET)), "ask");
});

test("what another tab puts into the storage is taken if it is based on what this tab holds", () => {
  const held = entry("a");
  assert.equal(afterStorageChange({ inStorage: entry("x"), isOwn: false }), "take");
  assert.equal(afterStorageChange({ inStorage: entry("a"), held, isOwn: true }), "take");
  assert.equal(afterStorageChange({ inStorage: entry("b", { after: ["a"] }), held, isOwn: true }), "take");
});

test("an older entry in the storage gives way to the one that is based on it", () => {
  const held = entry("b", { after: ["a"] });
  assert.equal(afterStorageChange({ inStorage: entry("a"), held, isOwn: false }), "restore");
});

test("two entries that know nothing of each other are left alone", () => {
  assert.equal(afterStorageChange({ inStorage: entry("x"), held: entry("a"), isOwn: true }), "keep");
});

test("an own entry that vanished from the storage is put back; another tab's is forgotten", () => {
  const held = entry("a");
  assert.equal(afterStorageChange({ inStorage: null, held, before: held, isOwn: true }), "restore");
  assert.equal(afterStorageChange({ inStorage: null, held, before: held, isOwn: false }), "forget");
  assert.equal(afterStorageChange({ inStorage: null, held, before: entry("x"), isOwn: false }), "keep");
});

test("the next response is fetched when three criteria, or a fifth of them, are open", () => {
  const outcomes = (decided, open) => [...Array(decided).fill("met"), ...Array(open).fill("")];
  assert.deepEqual(totals(outcomes(6, 4)), { decided: 6, all: 10, isNearEnd: false });
  assert.deepEqual(totals(outcomes(7, 3)), { decided: 7, all: 10, isNearEnd: true });
  assert.equal(totals(outcomes(24, 6)).isNearEnd, true); // a fifth of 30
  assert.equal(totals(outcomes(23, 7)).isNearEnd, false);
});
