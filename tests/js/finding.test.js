import assert from "node:assert/strict";
import { test } from "node:test";
import { answersOf, QUESTIONS, textOf } from "../../static/js/rubrics/finding.js";

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
