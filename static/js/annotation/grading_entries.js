// @ts-check
/* The entries of the response on the page, in memory and in the browser's storage. */
import { newId } from "../core/ids.js";
import { rowOf } from "./criteria.js";
import { newEntry } from "./decisions.js";
import { sheet } from "./grading_sheet.js";
import { broadcast, store } from "./outbox.js";

/**
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Entry} Entry
 */

/** @type {Set<string>} ids of the entries made on this page */
const ownEntries = new Set();

/** @param {string} clientId */
export function isOwnEntry(clientId) {
  return ownEntries.has(clientId);
}

/**
 * @param {string} id of the criterion
 * @param {string} clientId of an entry that is on the screen now
 */
export function addToTrail(id, clientId) {
  sheet.trail[id] ??= [];
  sheet.trail[id].push(clientId);
}

/**
 * Keep a decision until the server has it.
 * @param {string} id of the criterion
 * @param {Decision} decision
 */
export function keepEntry(id, decision) {
  const version = sheet.entries[id]?.version ?? Number(rowOf(id)?.dataset.version);
  const clientId = newId();
  const entry = newEntry(decision, { version, trail: sheet.trail[id] ?? [], clientId });
  addToTrail(id, clientId);
  ownEntries.add(clientId);
  sheet.entries[id] = entry;
  store.put(sheet.assignment, id, entry);
  broadcast({ type: "shown", assignment: sheet.assignment, id, state: decision, client: clientId });
}

/**
 * An entry is done with; what was decided on top of it goes on from there.
 * @param {string} id
 * @param {Entry} sent
 * @param {number} version
 */
export function finishEntry(id, sent, version) {
  store.drop(sheet.assignment, id, sent.client_id);
  const entry = sheet.entries[id];
  if (entry?.client_id === sent.client_id) delete sheet.entries[id];
  else if (entry && entry.version < version) rebaseEntry(id, version);
}

/**
 * The entry goes on from the version that is stored by now.
 * @param {string} id
 * @param {number} version
 */
export function rebaseEntry(id, version) {
  sheet.entries[id] = { ...sheet.entries[id], version };
  store.put(sheet.assignment, id, sheet.entries[id]);
}
