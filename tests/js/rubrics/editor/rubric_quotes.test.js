import assert from "node:assert/strict";
import { test } from "node:test";
import { matchedWords, quoteOf, shareFound } from "../../../../static/js/rubrics/editor/rubric_quotes.js";

test("selected words are a quotation without the blanks at their ends", () => {
  assert.deepEqual(quoteOf("Give 15 mg/kg now", 4, 14), { start: 5, end: 13, quote: "15 mg/kg" });
  assert.equal(quoteOf("Give 15 mg/kg now", 4, 4), null);
  assert.equal(quoteOf("Give  now", 4, 6), null);
});

test("places count characters as the server does, not halves of them", () => {
  // The pill is one character of two UTF-16 units.
  const text = "\u{1f48a} \u{1f48a} 每日4克";
  assert.deepEqual(quoteOf(text, 6, text.length), { start: 4, end: 8, quote: "每日4克" });
});

test("a word or a number that is selected in part is quoted as a whole", () => {
  const text = "Give 15 mg, then 2.5 mg slowly. 每日4克";
  const words = (/** @type {string} */ part) => {
    const from = text.indexOf(part);
    return quoteOf(text, from, from + part.length)?.quote;
  };
  assert.equal(words("5 mg"), "15 mg");
  assert.equal(words("mg, then 2"), "mg, then 2.5");
  assert.equal(words("5 mg slow"), "2.5 mg slowly");
  assert.equal(words("日4"), "日4");
  assert.equal(words("slowly."), "slowly.");
});

test("the words of a query that a passage has are each named once, by code points", () => {
  assert.deepEqual(
    matchedWords("dose in fever", "😀 Dose and dose of fever", [
      [2, 6],
      [11, 15],
      [19, 24],
    ]),
    ["Dose", "fever"],
  );
  assert.deepEqual(matchedWords("dose", "Dose", []), []);
});

test("a passage has as much of a query as the letters and digits of its words", () => {
  assert.equal(shareFound("Advise bleeding on warfarin", ["bleeding"]), 8 / 16);
  assert.equal(shareFound("给予 15 mg", ["给予", "15 mg"]), 1);
  assert.equal(shareFound("dose", ["doses"]), 1);
  assert.equal(shareFound(" – ", []), 0);
});

test("function words do not count, in English and Chinese", () => {
  const text = "Take the tablets with food and not to the fasting";
  const matches = ["Take", "the", "with", "not", "to"].map((word) => [
    text.indexOf(word),
    text.indexOf(word) + word.length,
  ]);
  const query = "Says not to take it with the other tablets";
  assert.deepEqual(matchedWords(query, text, matches), []);
  assert.equal(shareFound(query, ["Take", "the", "with", "not", "to"]), 0);
  assert.ok(
    shareFound("Advises to stop ibuprofen and to use paracetamol instead.", ["ibuprofen", "paracetamol"]) > 0.8,
  );
  assert.equal(shareFound("建议患者停用布洛芬", ["布洛芬"]), 3 / 5);
  assert.equal(shareFound("建议患者停用", ["建议"]), 0);
});

test("in a query of function words alone, such as an abbreviation, every word counts", () => {
  assert.deepEqual(matchedWords("ALL", "Relapsed ALL", [[9, 12]]), ["ALL"]);
  assert.equal(shareFound("ALL", ["ALL"]), 1);
  assert.deepEqual(matchedWords("AS", "Severe AS", [[7, 9]]), ["AS"]);
  assert.equal(shareFound("AS", ["AS"]), 1);
  assert.deepEqual(matchedWords("use or", "Use or stop", [[0, 3]]), ["Use"]);
  assert.equal(shareFound("use or", ["Use"]), 3 / 5);
  assert.deepEqual(matchedWords("患者", "老年患者", [[2, 4]]), ["患者"]);
  assert.equal(shareFound("患者", ["患者"]), 1);
  assert.equal(shareFound("ALL", []), 0);
  assert.equal(shareFound(" – ", []), 0);
});
