// @ts-check
/* Words that are selected in a passage. Nothing here uses the page. */

/**
 * The selected words as a quotation. White space at its ends is no part of it.
 * @param {string} text of the passage
 * @param {number} from in UTF-16 units, as the browser counts
 * @param {number} to
 * @returns {{ start: number, end: number, quote: string } | null} places in code points, as the server counts; null
 *   where no words are selected
 */
export function quoteOf(text, from, to) {
  const selected = text.slice(from, to);
  const quote = selected.trim();
  if (!quote) return null;
  const start = from + selected.indexOf(quote);
  return { start: codePoints(text.slice(0, start)), end: codePoints(text.slice(0, start + quote.length)), quote };
}

/** @param {string} text */
function codePoints(text) {
  return [...text].length;
}
