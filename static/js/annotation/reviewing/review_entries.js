// @ts-check
/* What a checker or an adjudicator chose for a criterion, and the rules for it on its way to the server. Nothing here
   touches the page. */

/**
 * @typedef {{
 *   outcome: string, reason: string, was: string, version: number, client_id: string, after: string[],
 * }} ReviewEntry `outcome` is empty where a ruling is taken back; `was`: the outcome that the server has; `after`: ids
 *   of saves of ours that may have arrived though no answer did
 * @typedef {Partial<ReviewEntry> & { unsent?: boolean, note?: string }} KeptEntry what the browser's storage holds:
 *   an entry to be sent, a reason that is being written, or the note of a return
 * @typedef {{ outcome: string, reason: string, client: string, default?: string }} StoredReview `default`: the
 *   annotator's own outcome, where there is one
 */

/**
 * An entry from the browser's storage goes on from the row as the page has it.
 * @param {KeptEntry} kept
 * @param {{ was: string, version: number, clientId: string }} row
 */
export function resumedEntry(kept, { was, version, clientId }) {
  return /** @type {ReviewEntry} */ ({ version, client_id: clientId, after: [], ...kept, was });
}

/**
 * An entry as the server takes it.
 * @param {ReviewEntry} entry
 * @returns {Record<string, string>}
 */
export function reviewPayload({ outcome, reason, version, client_id }) {
  return { outcome: outcome || "none", reason, version: String(version), client_id };
}

/**
 * What to do with an entry when the server holds another version than the one it was made on.
 *
 * "done": the same is stored. "rebase": what is stored is an earlier save of ours. "ask": it is somebody else's.
 * @param {ReviewEntry} entry
 * @param {StoredReview} stored
 * @param {{ adjudicating: boolean }} options
 * @returns {"done" | "rebase" | "ask"}
 */
export function afterStaleReview(entry, stored, { adjudicating }) {
  // Taking back an amendment needs no reason, so reasons are not compared. The reason of a ruling is part of it.
  const takesBack = !adjudicating && entry.outcome === stored.default;
  if (stored.outcome === entry.outcome && (takesBack || stored.reason === entry.reason.trim())) return "done";
  return entry.after.includes(stored.client) ? "rebase" : "ask";
}

/**
 * @param {string} outcome
 * @param {{ adjudicating: boolean, default?: string }} row
 */
export function needsReason(outcome, row) {
  return row.adjudicating ? outcome === "faulty" : outcome !== row.default;
}
