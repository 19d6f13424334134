// @ts-check
/* What an auditor found in a case, as it is kept and sent. */

export const QUESTIONS = ["correctness", "necessity", "consistency", "guidelines"];

/**
 * @typedef {object} Finding
 * @property {Record<string, boolean>} answers by question, true where all is sound; without those not answered yet
 * @property {number[]} criteria those at fault, in rising order
 * @property {string} outcome
 * @property {string} comment
 */
/** @typedef {Finding & { version: number }} StoredFinding what the server has, and the version it gave it */
/** @typedef {{ version: number, finding: Finding }} KeptFinding what could not be sent yet, as this browser keeps it */

/**
 * @param {(question: string) => string} choiceOf "sound", "fault", or empty where it is not answered
 * @returns {Record<string, boolean>}
 */
export function answersOf(choiceOf) {
  const answered = QUESTIONS.filter((question) => choiceOf(question));
  return Object.fromEntries(answered.map((question) => [question, choiceOf(question) === "sound"]));
}

/**
 * The finding as text; two that are the same have the same text.
 * @param {Finding} finding of which other properties, such as a version, do not count
 * @returns {string}
 */
export function textOf({ answers, criteria, outcome, comment }) {
  return JSON.stringify({ answers, criteria, outcome, comment });
}
