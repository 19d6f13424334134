// @ts-check
/* Where words occur in a text that is made of pieces. */

const BETWEEN_BLOCKS = "\u0000";

/**
 * @typedef {{ text: string, block: unknown }} Piece text, and the paragraph that it belongs to
 * @typedef {{ piece: number, offset: number }} Place a piece, and UTF-16 units within it
 * @typedef {{ from: Place, to: Place }} Match
 */

/**
 * The occurrences of `query`, in order and without overlap. Case does not count, and any white space fits any other. An
 * occurrence may run over several pieces of one paragraph, not over two paragraphs.
 * @param {Piece[]} pieces
 * @param {string} query
 * @returns {Match[]}
 */
export function matchesOf(pieces, query) {
  const words = query.trim().split(/\s+/u).filter(Boolean);
  if (!words.length) return [];
  /** @type {number[]} */
  const starts = [];
  let whole = "";
  pieces.forEach(({ text, block }, place) => {
    if (place && pieces[place - 1].block !== block) whole += BETWEEN_BLOCKS;
    starts.push(whole.length);
    whole += text;
  });
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");
  return Array.from(whole.matchAll(new RegExp(pattern, "giu")), (match) => ({
    from: placeOf(starts, match.index),
    to: endOf(starts, match.index + match[0].length),
  }));
}

/**
 * @param {number[]} starts where each piece begins
 * @param {number} index of a character
 * @returns {Place}
 */
function placeOf(starts, index) {
  const piece = starts.findLastIndex((start) => start <= index);
  return { piece, offset: index - starts[piece] };
}

/**
 * @param {number[]} starts
 * @param {number} end behind the last character
 * @returns {Place}
 */
function endOf(starts, end) {
  const { piece, offset } = placeOf(starts, end - 1);
  return { piece, offset: offset + 1 };
}
