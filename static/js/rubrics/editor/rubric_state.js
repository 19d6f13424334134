// @ts-check
/* What the modules of the rubric editor share: the list as it is on the page, and what the server gave with it. */
import { element } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { copy } from "./rubric_model.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {{ line: number, field: string, message: string }} Fault of an item, by its place from 1; of all where
 *   `line` is 0
 * @typedef {object} Draft
 * @property {number | null} draft its id; null before the first save
 * @property {number} version
 * @property {Item[]} items
 * @property {import("./rubric_model.js").Cited[]} cited what is shown of their citations
 * @property {string} saved_at
 * @property {string} saved_by the person's name
 * @property {Fault[]} missing before it can be sent to review
 * @typedef {object} Settings
 * @property {string} who an opaque name of the person signed in
 * @property {string} name
 * @property {import("./rubric_points.js").Rules} rules
 * @property {string[]} axes
 * @property {Record<string, string>} axis_words of common axes, in the reader's language
 * @property {Record<string, string>} comments of the last reviewer, by item
 * @property {Record<string, string>} comment_texts the texts of these criteria as they were read
 * @property {Record<string, string[]>} evidence why criteria were found at fault, by stored criterion
 */

export const editor = element("editor", HTMLElement);
export const words = wordsOf("rubric-words");

/** @type {Draft & Settings} */
export const start = JSON.parse(element("start", HTMLScriptElement).textContent ?? "");

/**
 * A limit that the server keeps as well: beyond it the draft cannot be saved.
 * @param {"maxCitations" | "maxQuote"} name
 */
export const limitOf = (name) => Number(editor.dataset[name]);

export const state = {
  items: copy(start.items),
  lastId: "", // the row in which the cursor was last
};

/**
 * What is shown in fields of points although it is no number that a criterion can have, by item. Such an item has no
 * points until the number is changed.
 * @type {Map<string, string>}
 */
export const refusedPoints = new Map();

/**
 * @param {string} id
 * @returns {Item | undefined}
 */
export function findItem(id) {
  return state.items.find((item) => item.id === id);
}

/**
 * @param {string} id
 * @returns {Item} throws where the list has none
 */
export function itemOf(id) {
  const item = findItem(id);
  if (!item) throw new Error(`The list has no item "${id}".`);
  return item;
}

/**
 * @param {string | undefined} id
 * @returns {number} -1 where the list has no such item
 */
export function placeOf(id) {
  return state.items.findIndex((item) => item.id === id);
}

/**
 * Why the list has changed: an action or typing here, undoing, or a save from elsewhere.
 * @typedef {"action" | "typing" | "undo" | "others"} Cause
 */

/** @type {Set<(cause: Cause) => void>} */
const watchers = new Set();

/**
 * Call a function whenever the list on the page has changed.
 * @param {(cause: Cause) => void} watcher
 */
export function watchList(watcher) {
  watchers.add(watcher);
}

/** @param {Cause} cause */
export function tellWatchers(cause) {
  for (const watcher of watchers) watcher(cause);
}

/** @param {string} text for screen readers */
export function announce(text) {
  element("announce", HTMLElement).textContent = text;
}

/**
 * What this browser keeps of the page: what is folded, whether advice is hidden.
 * @param {string} name
 * @param {string} fallback
 */
export function remembered(name, fallback) {
  try {
    return localStorage.getItem(`consilium.rubric-${name}`) ?? fallback;
  } catch {
    return fallback;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
export function remember(name, value) {
  try {
    localStorage.setItem(`consilium.rubric-${name}`, value);
  } catch {
    // Storage is refused: it holds for this page.
  }
}
