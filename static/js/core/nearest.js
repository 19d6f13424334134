// @ts-check
/* The known words that are nearest to one that somebody typed. Nothing here uses the page. */

const MAX_MATCHES = 3;
const MIN_LENGTH = 3; // of Latin letters; shorter ones are near to too many words
const LETTERS_PER_SLIP = 4; // one slip of typing for every four letters

/** @param {string} text */
function plain(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[\s_-]+/g, " ")
    .trim();
}

/**
 * How many letters must be added, left out, changed, or swapped with the next one.
 * @param {string} first
 * @param {string} second
 * @param {number} most no exact number beyond it is needed
 */
export function distance(first, second, most = Number.POSITIVE_INFINITY) {
  const [a, b] = [[...first], [...second]];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  /** @type {number[]} */
  let before = [];
  let row = b.map((_, at) => at).concat(b.length);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, change);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        next[j] = Math.min(next[j], before[j - 2] + 1);
      }
    }
    before = row;
    row = next;
  }
  return row[b.length];
}

/**
 * @param {string} typed
 * @param {string[]} known
 * @returns {string | undefined} the known word that is the same but for case, width, blanks, hyphens or accents
 */
export function sameWord(typed, known) {
  return known.includes(typed) ? typed : known.find((word) => plain(word) === plain(typed));
}

/**
 * Known words that may be meant by a word that is none of them: those that it begins or ends, or that differ in a few
 * letters; the nearest first.
 * @param {string} typed
 * @param {string[]} known
 * @returns {string[]} at most three
 */
export function nearest(typed, known) {
  const own = plain(typed);
  const isLatin = /^[\p{ASCII}]*$/u.test(own);
  if (own.length < (isLatin ? MIN_LENGTH : 1)) return [];
  const slips = Math.floor(own.length / LETTERS_PER_SLIP);
  /** @type {{ word: string, far: number }[]} */
  const matches = [];
  for (const word of new Set(known)) {
    const other = plain(word);
    const [short, long] = own.length < other.length ? [own, other] : [other, own];
    const isPart = short.length >= (isLatin ? MIN_LENGTH : 2) && long.startsWith(short);
    const isWordOf = short.length >= (isLatin ? MIN_LENGTH : 2) && ` ${long} `.includes(` ${short} `);
    const isCharacter = !isLatin && long.startsWith(short);
    if (isPart || isWordOf || isCharacter) matches.push({ word, far: (long.length - short.length) / long.length });
    else if (slips && isLatin) {
      const far = distance(own, other, slips);
      if (far <= slips) matches.push({ word, far: far / own.length });
    }
  }
  return matches
    .sort((a, b) => a.far - b.far)
    .slice(0, MAX_MATCHES)
    .map(({ word }) => word);
}
