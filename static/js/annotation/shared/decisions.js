// @ts-check
/* Decisions about criteria, and the rules for those on their way to the server. Nothing here touches the page.

   An entry is the whole state of one decision, with the version that its author saw, an id of its own, and in `after`
   the ids of the entries that were on the screen when it was made. */

import { afterStale as afterStaleSave, isBasedOn } from "../../core/save_queue.js";

/**
 * @typedef {{ start: number, end: number, quote?: string }} Span code points of the stored response
 * @typedef {{ outcome: string, borderline: boolean, note: string, evidence: Span[], answer?: string }} Decision
 *   `outcome` is empty where there is none; `answer`: to the checker who asked to review the criterion
 * @typedef {{ response?: string, batch?: string, number?: string }} About what a decision is about, in the words of the
 *   page
 * @typedef {Decision & { version: number, client_id: string, after?: string[], about?: About }} Entry
 * @typedef {Decision & { version: number, client_id: string, at: string }} StoredDecision
 * @typedef {{ id: number, status: "saved", version: number, current: { at: string } }
 *   | { id: number, status: "stale", version: number, current: StoredDecision }
 *   | { id: number, status: "refused", detail: string }} SaveResult what the server answers about one entry
 */

/** @param {Decision} decision */
function comparable(decision) {
  const spans = decision.evidence.map(({ start, end }) => [start, end]);
  return JSON.stringify([decision.outcome, decision.borderline, decision.note, spans, decision.answer ?? ""]);
}

/**
 * @param {Decision} first
 * @param {Decision} second
 */
export function isSameDecision(first, second) {
  return comparable(first) === comparable(second);
}

/**
 * A decision as it is kept and sent.
 * @param {Decision} decision
 * @returns {Decision} without the quotes of its evidence
 */
export function withoutQuotes({ outcome, borderline, note, evidence, answer }) {
  const spans = evidence.map(({ start, end }) => ({ start, end }));
  return { outcome, borderline, note, evidence: spans, ...(answer ? { answer } : {}) };
}

/**
 * True where a criterion that is to be reviewed has an answer, or another decision than before.
 * @param {Decision} decision
 * @param {Decision} before in the round before
 */
export function isReviewed(decision, before) {
  return Boolean(decision.answer) || !isSameDecision(decision, { ...before, answer: "" });
}

/**
 * An entry as the server takes it.
 * @param {string} id of the criterion
 * @param {Entry} entry
 */
export function payloadOf(id, entry) {
  return {
    criterion: Number(id),
    outcome: entry.outcome,
    borderline: entry.borderline,
    note: entry.note,
    evidence: entry.evidence.map(({ start, end }) => ({ start, end })),
    ...(entry.answer ? { answer: entry.answer } : {}),
    version: entry.version,
    client_id: entry.client_id,
  };
}

/**
 * What to do with an entry when the server holds another version than the one it was made on.
 * @param {Entry} entry the newest one for the criterion
 * @param {Entry} sent the one that was sent
 * @param {StoredDecision} stored
 * @returns {"done" | "rebase" | "ask"}
 */
export function afterStale(entry, sent, stored) {
  return afterStaleSave(entry, sent, stored, () => isSameDecision(entry, stored));
}

/**
 * What to do when the storage that two tabs share has changed. Storage events arrive late and in no order. So an entry
 * that was made here stays until the server has it or a later one is based on it, whatever the other tab did.
 *
 * "take" what the storage holds, "restore" what this page holds, "forget" it, or "keep" all as it is.
 * @param {{ inStorage?: Entry | null, held?: Entry, before?: Entry | null, isOwn: boolean }} change `held`: on this
 *   page; `before`: in the storage before the change; `isOwn`: `held` was made on this page
 * @returns {"take" | "restore" | "forget" | "keep"}
 */
export function afterStorageChange({ inStorage, held, before, isOwn }) {
  if (inStorage) {
    if (!held || inStorage.client_id === held.client_id || isBasedOn(inStorage, held.client_id)) return "take";
    return isBasedOn(held, inStorage.client_id) ? "restore" : "keep";
  }
  if (held && isOwn) return "restore";
  return held?.client_id === before?.client_id ? "forget" : "keep";
}

/**
 * How many criteria are decided, and how many there are; `isNearEnd`: it is time to fetch the next response.
 * @param {string[]} outcomes of all criteria
 */
export function totals(outcomes) {
  const decided = outcomes.filter(Boolean).length;
  const isNearEnd = outcomes.length - decided <= Math.max(3, outcomes.length / 5);
  return { decided, all: outcomes.length, isNearEnd };
}
