// @ts-check
/* The decisions of this page that are on their way to the server. */
import { rowOf, sheetElement } from "../shared/criteria.js";
import { withoutQuotes } from "../shared/decisions.js";
import { queue, sheet } from "./grading_sheet.js";
import { broadcast } from "../shared/outbox.js";

/** @typedef {import("../shared/decisions.js").Decision} Decision */

/** @type {Set<string>} ids of the entries made on this page */
const ownEntries = new Set();

/** @param {string} clientId */
export function isOwnEntry(clientId) {
  return ownEntries.has(clientId);
}

/**
 * Keep a decision until the server has it, and send it.
 * @param {string} id of the criterion
 * @param {Decision} decision
 */
export function queueDecision(id, decision) {
  const before = queue.pending.get(id);
  // Another tab may have sent what is waiting.
  const after = before ? [before.client_id] : [];
  const { heading: response, batch } = sheetElement().dataset;
  const { number, version } = rowOf(id)?.dataset ?? {};
  const state = { ...withoutQuotes(decision), about: { response, batch, number } };
  const entry = queue.put(id, state, Number(version), { after });
  queue.addToTrail(id, entry.client_id);
  ownEntries.add(entry.client_id);
  broadcast({ type: "shown", assignment: sheet.assignment, id, state: decision, client: entry.client_id });
}
