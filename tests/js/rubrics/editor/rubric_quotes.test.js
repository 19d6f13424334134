import assert from "node:assert/strict";
import { test } from "node:test";
import { quoteOf } from "../../../../static/js/rubrics/editor/rubric_quotes.js";

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
