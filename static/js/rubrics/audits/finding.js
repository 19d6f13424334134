// @ts-check
/* What an auditor found in a case, as it is kept and sent. */

export const QUESTIONS = ["correctness", "necessity", "consistency", "guidelines"];

/**
 * @typedef {object} Finding
 * @property {Record<string, boolean>} answers by question, true where all is sound; questions without an answer are
 *   left out
 * @property {number[]} criteria criteria at fault, in rising order
 * @property {string} outcome
 * @property {string} comment
 */
/**
 * What could not be sent yet, as this browser keeps it. Earlier versions of the page kept `{ version, finding }`,
 * without ids.
 * @typedef {Finding & import("../../core/save_queue.js").Entry} FindingEntry
 */

/**
 * @param {(question: string) => string} choiceOf "sound", "fault", or empty where it is not answered
 * @returns {Record<string, boolean>}
 */
export function answersOf(choiceOf) {
  const answered = QUESTIONS.filter((question) => choiceOf(question));
  return Object.fromEntries(answered.map((question) => [question, choiceOf(question) === "sound"]));
}

/**
 * The finding as text; equal findings have equal texts. The server puts the answers into the order of the page, and
 * strips the comment.
 * @param {Finding} finding other properties, such as a version, do not count
 * @returns {string}
 */
export function textOf({ answers, criteria, outcome, comment }) {
  const answered = QUESTIONS.filter((question) => question in answers);
  const inOrder = Object.fromEntries(answered.map((question) => [question, answers[question]]));
  return JSON.stringify({ answers: inOrder, criteria, outcome, comment: comment.trim() });
}

/**
 * What this version of the page, or an earlier one, kept in this browser, as an entry.
 * @param {any} kept
 * @param {() => string} newId for what was kept without an id
 * @returns {FindingEntry | null} null where it is malformed
 */
export function keptEntry(kept, newId) {
  const { answers, criteria, outcome, comment } = kept?.finding ?? kept ?? {};
  const isFinding =
    answers !== null &&
    typeof answers === "object" &&
    Array.isArray(criteria) &&
    typeof outcome === "string" &&
    typeof comment === "string";
  if (!isFinding || !Number.isInteger(kept.version)) return null;
  const { version, client_id = newId(), after = [] } = kept;
  return { answers, criteria, outcome, comment, version, client_id, after };
}
