// @ts-check
/* Words that are selected in a passage. Nothing here uses the page. */
import { contentOf } from "./function_words.js";

/* Words and numbers, decimals included. Scripts that put no blanks between words are left out. */
const WITHOUT_BLANKS = String.raw`\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}`;
const WORDS = new RegExp(String.raw`(?:(?![${WITHOUT_BLANKS}])[\p{L}\p{M}\p{N}]|(?<=\d)[.,](?=\d))+`, "gu");

/**
 * The selected words as a quotation. White space at its ends is no part of it. A word or a number that is selected in
 * part is quoted as a whole, because "5 mg" is not what "15 mg" says.
 * @param {string} text of the passage
 * @param {number} from in UTF-16 units, as the browser counts
 * @param {number} to
 * @returns {{ start: number, end: number, quote: string } | null} places in code points, as the server counts; null
 *   where no words are selected
 */
export function quoteOf(text, from, to) {
  const selected = text.slice(from, to);
  const trimmed = selected.trim();
  if (!trimmed) return null;
  let first = from + selected.indexOf(trimmed);
  let last = first + trimmed.length;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    const end = index + word.length;
    if (index < first && first < end) first = index;
    if (index < last && last < end) last = end;
  }
  return {
    start: codePoints(text.slice(0, first)),
    end: codePoints(text.slice(0, last)),
    quote: text.slice(first, last),
  };
}

/**
 * The words of a query that a passage has, each once, in the order of the passage; function words are left out, unless
 * the query has no other words.
 * @param {string} query
 * @param {string} text of the passage
 * @param {[number, number][]} matches start and end of each, in code points
 * @returns {string[]}
 */
export function matchedWords(query, text, matches) {
  const countedOf = countedIn(query);
  const characters = [...text];
  /** @type {Map<string, string>} */
  const distinct = new Map();
  for (const [start, end] of matches) {
    const word = characters.slice(start, end).join("");
    if (lettersOf(countedOf(word)) && !distinct.has(word.toLowerCase())) distinct.set(word.toLowerCase(), word);
  }
  return [...distinct.values()];
}

/**
 * How much of a query a passage has: the letters and digits of `words` among those of the query, 0 to 1. Function words
 * do not count, unless the query has no other words.
 * @param {string} query
 * @param {string[]} words the words of the query in the passage, each once
 * @returns {number}
 */
export function shareFound(query, words) {
  const countedOf = countedIn(query);
  const inQuery = lettersOf(countedOf(query));
  return inQuery ? Math.min(1, lettersOf(countedOf(words.join(" "))) / inQuery) : 0;
}

/**
 * What counts of a text: its content, or all of it where the query has function words alone, such as "ALL" for a
 * leukaemia.
 * @param {string} query
 * @returns {(text: string) => string}
 */
function countedIn(query) {
  return lettersOf(contentOf(query)) ? contentOf : (text) => text;
}

/** @param {string} text */
function lettersOf(text) {
  return codePoints(text.normalize("NFKC").replace(/[^\p{L}\p{N}]/gu, ""));
}

/** @param {string} text */
function codePoints(text) {
  return [...text].length;
}
