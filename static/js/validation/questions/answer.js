// @ts-check
/* The answer to a question, as it is sent and kept in the browser. */

/**
 * @typedef {object} Kept
 * @property {string} url where it is sent
 * @property {[name: string, value: string][]} fields without the token of the page, which changes
 * @property {string} answered when the person had last answered the question, as the page said; empty: not yet
 */

/**
 * @param {Iterable<[string, FormDataEntryValue]>} entries of a form
 * @returns {[string, string][]}
 */
export function fieldsOf(entries) {
  /** @type {[string, string][]} */
  const fields = [];
  for (const [name, value] of entries) {
    if (name !== "csrfmiddlewaretoken" && typeof value === "string") fields.push([name, value]);
  }
  return fields;
}

/**
 * @param {any} kept what the browser has
 * @param {string} origin of this page: nothing is sent elsewhere
 * @returns {Kept | null} null where it is malformed
 */
export function keptAnswer(kept, origin) {
  const isField = (/** @type {any} */ field) => Array.isArray(field) && field.every((part) => typeof part === "string");
  if (typeof kept?.url !== "string" || !kept.url.startsWith(`${origin}/`)) return null;
  if (!Array.isArray(kept.fields) || !kept.fields.every(isField)) return null;
  return { url: kept.url, fields: kept.fields, answered: String(kept.answered ?? "") };
}
