// @ts-check
/* Answers to the questions about a case, as they are shown, kept in this browser and sent. */

/**
 * @typedef {object} LabelState
 * @property {string} value the chosen option, empty where none is chosen
 * @property {number | null} certainty
 * @property {string} note
 */
/** @typedef {LabelState & { version: number, client_id: string, after?: string[] }} LabelEntry as it is kept */
/** @typedef {LabelEntry & { at: string }} StoredLabel as the server has it */

const NEVER_TAKEN = [400, 422];

/**
 * @param {LabelState} state
 * @param {boolean} isAcuity a level of acuity needs a certainty, too
 * @returns {boolean}
 */
export function isComplete(state, isAcuity) {
  return Boolean(state.value) && !(isAcuity && state.certainty === null);
}

/**
 * @param {LabelState} state
 * @param {LabelState} other
 * @returns {boolean}
 */
export function sameState(state, other) {
  return state.value === other.value && state.certainty === other.certainty && state.note === other.note;
}

/**
 * The state of a question whose note or certainty was kept without an answer, and which was answered elsewhere since:
 * that answer, completed with the kept certainty and note where it has none.
 * @param {LabelState} kept
 * @param {LabelState} shown
 * @returns {LabelState}
 */
export function withKept(kept, shown) {
  return { value: shown.value, certainty: shown.certainty ?? kept.certainty, note: shown.note || kept.note };
}

/**
 * An answer as the server takes it.
 * @param {string} question
 * @param {LabelEntry} entry
 */
export function labelPayload(question, { value, certainty, note, version, client_id }) {
  return { question, value, certainty, note, version, client_id };
}

/** @param {string} who the author */
export const prefixOf = (who) => `consilium.labels:${who}:`;

/**
 * @param {string} who the author
 * @param {string} task
 * @param {string} question
 * @returns {string} the key in localStorage
 */
export function storageKey(who, task, question) {
  return `${prefixOf(who)}${task}:${question}`;
}

/**
 * @param {string} key in localStorage
 * @param {string} who
 * @returns {{ task: string, question: string } | null} null where it is no answer of this author
 */
export function parseKey(key, who) {
  if (!key.startsWith(prefixOf(who))) return null;
  const parts = key.slice(prefixOf(who).length).split(":");
  return parts[0] ? { task: parts[0], question: parts[parts.length - 1] } : null;
}

/**
 * Answers before notes that wait for an answer, otherwise in their order.
 * @param {Iterable<[string, LabelEntry]>} entries by their keys
 * @returns {[string, LabelEntry][]}
 */
export function answersFirst(entries) {
  return [...entries].sort(([, entry], [, other]) => Number(Boolean(other.value)) - Number(Boolean(entry.value)));
}

/**
 * An answer in one line.
 * @param {string | undefined} label of the chosen option
 * @param {LabelState} state
 * @param {string} certaintyWord
 * @returns {string}
 */
export function describe(label, state, certaintyWord) {
  const certainty = state.certainty === null ? "" : `${certaintyWord} ${state.certainty}`;
  return [label, certainty, state.note].filter(Boolean).join(" · ");
}

/**
 * What became of an answer that was sent.
 * @param {import("../../core/server.js").Answer} answer
 * @param {string} question
 * @returns {import("../../core/save_queue.js").SaveResult[] | null}
 */
export function resultsOf({ status, body }, question) {
  // The content is refused and always would be: it would hold up the answers after it.
  const isRefused = NEVER_TAKEN.includes(status) && body?.detail;
  return isRefused ? [{ id: question, status: "refused", detail: body.detail }] : (body?.results ?? null);
}
