import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesOf } from "../../../../static/js/annotation/shared/find_text.js";

/** The words of each match. */
function wordsOf(pieces, query) {
  return matchesOf(pieces, query).map(({ from, to }) =>
    pieces
      .slice(from.piece, to.piece + 1)
      .map(({ text }, index, own) =>
        text.slice(index === 0 ? from.offset : 0, index === own.length - 1 ? to.offset : undefined),
      )
      .join("|"),
  );
}

test("case and the kind of white space do not count", () => {
  const pieces = [{ text: "Warfarin, warfarin\nsodium; WARFARIN  SODIUM.", block: 1 }];
  assert.deepEqual(wordsOf(pieces, "warfarin sodium"), ["warfarin\nsodium", "WARFARIN  SODIUM"]);
});

test("an occurrence runs over pieces of one paragraph, not over two paragraphs", () => {
  const pieces = [
    { text: "Do ", block: 1 },
    { text: "not", block: 1 },
    { text: " stop", block: 1 },
    { text: "ping", block: 2 },
  ];
  assert.deepEqual(wordsOf(pieces, "do not stop"), ["Do |not| stop"]);
  assert.deepEqual(wordsOf(pieces, "stopping"), []);
  assert.deepEqual(wordsOf(pieces, "not"), ["not"]);
});

test("signs of patterns are taken as they are written", () => {
  const pieces = [{ text: "38.4 °C (axillary) + 3,84 [x] 5-FU a/b 剂量？剂量", block: 1 }];
  for (const query of ["38.4", "(axillary)", "+", "[x]", "5-FU", "a/b", "°c"]) {
    assert.equal(matchesOf(pieces, query).length, 1, query);
  }
  assert.equal(matchesOf(pieces, "剂量").length, 2);
  assert.deepEqual(matchesOf(pieces, "38_4"), []);
});

test("nothing is found for nothing, and letters of two units keep their places", () => {
  assert.deepEqual(matchesOf([{ text: "abc", block: 1 }], "  "), []);
  assert.deepEqual(matchesOf([], "a"), []);
  assert.deepEqual(wordsOf([{ text: "😀 İstanbul aspirin", block: 1 }], "ASPIRIN"), ["aspirin"]);
});
