import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf, keptEntry, QUESTIONS, textOf } from "../../../../static/js/rubrics/audits/finding.js";

test("the keys 1 to 4 stand for the four questions in this order", () => {
  assert.deepEqual(QUESTIONS, ["correctness", "necessity", "consistency", "guidelines"]);
});

test("an answer is true where all is sound, and missing where nothing is chosen", () => {
  const chosen = { correctness: "fault", necessity: "", consistency: "sound", guidelines: "" };
  assert.deepEqual(
    answersOf((question) => chosen[question]),
    { correctness: false, consistency: true },
  );
  assert.deepEqual(
    answersOf(() => ""),
    {},
  );
  assert.equal(answersOf(() => "unknown").necessity, false);
});

test("two findings with the same content have the same text, whatever else they carry", () => {
  const finding = { answers: { necessity: true }, criteria: [3, 12], outcome: "revise", comment: "why" };
  const text = '{"answers":{"necessity":true},"criteria":[3,12],"outcome":"revise","comment":"why"}';
  assert.equal(textOf(finding), text);
  assert.equal(textOf({ version: 4, comment: "why", outcome: "revise", ...finding }), text);
  assert.notEqual(textOf({ ...finding, comment: "Why" }), text);
});

test("neither the order of the answers nor a blank at the end of the comment is a difference", () => {
  const finding = { answers: { correctness: true, guidelines: false }, criteria: [], outcome: "", comment: "why" };
  const typed = { ...finding, answers: { guidelines: false, correctness: true }, comment: " why \n" };
  assert.equal(textOf(typed), textOf(finding));
  assert.notEqual(textOf({ ...finding, answers: { correctness: true } }), textOf(finding));
});

test("what the version before kept is an entry with its version, too", () => {
  const finding = { answers: { necessity: false }, criteria: [3], outcome: "revise", comment: "why" };
  const newId = () => "new";
  assert.deepEqual(keptEntry({ version: 4, finding }, newId), { ...finding, version: 4, client_id: "new", after: [] });
  const entry = { ...finding, version: 5, client_id: "b", after: ["a"] };
  assert.deepEqual(keptEntry(entry, newId), entry);
  const malformed = [
    null,
    {},
    { version: 4, finding: "why" },
    { version: 4, finding: null },
    { version: 4, finding: { ...finding, answers: null } },
    { version: 4, finding: { ...finding, criteria: undefined } },
    { finding },
  ];
  for (const kept of malformed) assert.equal(keptEntry(kept, newId), null);
});
