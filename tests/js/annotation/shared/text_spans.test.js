import assert from "node:assert/strict";
import { test } from "node:test";
import {
  codePointCount,
  marksWithin,
  partsOf,
  quoteOf,
  sentencesOf,
  trimmedSpan,
} from "../../../../static/js/annotation/shared/text_spans.js";

function piece(start, text) {
  return { start, characters: Array.from(text) };
}

test("a character outside the basic plane counts once", () => {
  assert.equal(codePointCount("a😀b"), 3);
});

test("a selection loses the white space at its ends, and is counted from the start of the response", () => {
  // 10 ' ' 11 'a' 12 '😀' 13 ' ' 14 'b' 15 ' '
  const spaced = piece(10, " a😀 b ");
  assert.deepEqual(trimmedSpan(spaced, 0, 6), { start: 11, end: 15 });
  assert.deepEqual(trimmedSpan(spaced, 2, 4), { start: 12, end: 13 });
  assert.equal(trimmedSpan(spaced, 3, 4), null);
  assert.equal(trimmedSpan(spaced, 4, 4), null);
});

test("marks that only touch a piece are not within it", () => {
  const before = { start: 0, end: 10, kind: "other" };
  const inside = { start: 12, end: 13, kind: "other" };
  const behind = { start: 15, end: 20, kind: "other" };
  assert.deepEqual(marksWithin(piece(10, "abcde"), [before, inside, behind]), [inside]);
});

test("a piece is cut where marks begin and end, and each label is on the last part of its mark", () => {
  const marks = [
    { start: 8, end: 12, label: "1", kind: "other" }, // began in the piece before
    { start: 11, end: 14, label: "2", kind: "current" },
  ];
  assert.deepEqual(partsOf(piece(10, "abcdef"), marks), [
    { text: "a", kind: "other", label: "" },
    { text: "b", kind: "current", label: "1" },
    { text: "cd", kind: "current", label: "2" },
    { text: "ef", kind: "", label: "" },
  ]);
});

test("a sentence that is being picked is above all marks; equal labels are written once", () => {
  const marks = [
    { start: 0, end: 3, label: "4", kind: "current" },
    { start: 1, end: 3, label: "4", kind: "other" },
    { start: 0, end: 3, label: "5", kind: "other" },
    { start: 1, end: 3, kind: "pick" },
  ];
  assert.deepEqual(partsOf(piece(0, "abc"), marks), [
    { text: "a", kind: "current", label: "" },
    { text: "bc", kind: "pick", label: "4, 5" },
  ]);
});

test("a line is cut into sentences; a point inside a number ends none", () => {
  // "Take 2.5 mg. Rest!": the first ends behind the point at 11, the second runs from 13 to 18.
  assert.deepEqual(sentencesOf([piece(0, "Take 2.5 mg. Rest!")]), [
    { start: 0, end: 12 },
    { start: 13, end: 18 },
  ]);
});

test("a sentence runs over the pieces of its line, and ends with the line", () => {
  assert.deepEqual(sentencesOf([piece(3, "  Do "), piece(10, "not"), piece(13, " skip ")]), [{ start: 5, end: 18 }]);
  assert.deepEqual(sentencesOf([piece(0, "   ")]), []);
});

test("Chinese sentences end without a space behind them", () => {
  assert.deepEqual(sentencesOf([piece(0, "休息！喝水；睡吧。")]), [
    { start: 0, end: 3 },
    { start: 3, end: 6 },
    { start: 6, end: 9 },
  ]);
});

test("a quote is what is read: pieces with a space between them, no line breaks", () => {
  const pieces = [piece(0, "Do not"), piece(8, "skip\n a"), piece(20, "dose")];
  assert.equal(quoteOf(pieces, { start: 3, end: 22 }), "not skip a do");
  assert.equal(quoteOf(pieces, { start: 6, end: 8 }), "");
});
