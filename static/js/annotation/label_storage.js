// @ts-check
/* Answers about cases in localStorage, which may be full or forbidden. */

/** @typedef {import("./label_answers.js").LabelEntry} LabelEntry */

/**
 * @param {string} key
 * @param {LabelEntry} entry
 * @returns {boolean} whether the browser keeps it
 */
export function keepEntry(key, entry) {
  try {
    localStorage.setItem(key, JSON.stringify(entry));
    return true;
  } catch {
    return false;
  }
}

/** @param {string} key */
export function forgetEntry(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}

/**
 * @param {string} key
 * @returns {LabelEntry | null}
 */
export function keptEntry(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}
