// @ts-check
/* A response that a physician writes: its length, and how it is kept in this browser. */

/**
 * @typedef {object} Draft as it is sent
 * @property {string} text
 * @property {number | null} reference the place of the reference that it was begun from
 * @property {number} version over which it was written
 * @property {string} client_id
 */
/** @typedef {Draft & { after?: string[] }} KeptDraft as this browser keeps it; `after`: ids of what was sent */

const REFERENCE_LETTERS = "ABCDEFGH";
// Han, kana and hangul count one by one, other scripts as words between spaces, as on the server.
const WORD = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g;

/**
 * @param {string} text
 * @returns {{ words: number, characters: number }}
 */
export function lengthOf(text) {
  return { words: (text.match(WORD) ?? []).length, characters: [...text].length };
}

/**
 * @param {number} place
 * @returns {string} under which the page shows the reference
 */
export function referenceLetter(place) {
  return REFERENCE_LETTERS[place];
}

/**
 * What is sent of a draft that this browser kept.
 * @param {KeptDraft} kept
 * @returns {Draft}
 */
export function draftOf({ text, reference, version, client_id }) {
  return { text, reference, version, client_id };
}

/**
 * @param {string} who the author
 * @param {string} task
 * @returns {string} the key in localStorage
 */
export function storageKey(who, task) {
  return `consilium.writing:${who}:${task}`;
}
