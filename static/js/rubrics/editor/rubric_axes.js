// @ts-check
/* The words for axes in the rubric editor: people read and write "context awareness", tags have `context_awareness`. */
import { AXIS } from "./rubric_model.js";
import { start } from "./rubric_state.js";

/** @type {Map<string, string>} */
const codes = new Map(); // the axis for words and for names, in lower case
/** @type {Set<string>} */
// The axes that have been shown, such as those of this rubric: just that name means them, not a common axis like it.
const used = new Set();

/**
 * @param {string} axis
 * @returns {string} the words for it, in the reader's language where there are any
 */
export function axisWord(axis) {
  const word = start.axis_words[axis] ?? axis.replaceAll("_", " ");
  for (const key of [word.toLowerCase(), axis.toLowerCase()]) if (key && !codes.has(key)) codes.set(key, axis);
  used.add(axis);
  return word;
}

/**
 * @param {string} text what is written in a field for an axis
 * @returns {string} the axis that is meant; a name that is not known is an axis of its own
 */
export function axisCode(text) {
  const name = text.trim();
  return used.has(name) ? name : (codes.get(name.toLowerCase()) ?? name);
}

/**
 * @param {string} tag
 * @returns {string} as it is shown
 */
export function tagWord(tag) {
  return tag.startsWith(AXIS) ? axisWord(tag.slice(AXIS.length)) : tag;
}

start.axes.forEach(axisWord);
