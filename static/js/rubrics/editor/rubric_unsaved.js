// @ts-check
/* What a page could not save: how it is kept in this browser's storage, and what of it may have arrived. Nothing here
   uses the page. */
import { sameList } from "./rubric_model.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {object} Unsaved what is stored
 * @property {Item[]} items
 * @property {Item[]} base the list that `items` was changed from
 * @property {number} version of that list, as the server counts
 * @property {number | null} [draft] that the version belongs to; older entries have none
 * @property {Item[][]} [unsure] lists that were sent and not answered: they may have arrived
 * @property {number} at when it was stored
 * @typedef {Unsaved & { name: string }} Entry with its name in the storage
 */

const MAX_UNSURE = 4;

/**
 * The prefix of the keys under which pages of this person and case store what is not saved. The page's own id follows.
 * @param {string} who
 * @param {string} caseId
 */
export function storagePrefix(who, caseId) {
  return `consilium.rubric:${who}:${caseId}:`;
}

/**
 * What other pages could not save, oldest first.
 * @param {() => Storage} storage throws where the browser forbids it
 * @param {string} prefix
 * @param {string} own the name of this page's entry
 * @returns {Entry[]}
 */
export function unsavedEntries(storage, prefix, own) {
  /** @type {Entry[]} */
  const entries = [];
  try {
    for (const name of Object.keys(storage())) {
      if (!name.startsWith(prefix) || name === own) continue;
      try {
        entries.push({ name, ...JSON.parse(storage().getItem(name) ?? "null") });
      } catch {
        storage().removeItem(name);
      }
    }
  } catch {
    // Storage is forbidden: then nothing was kept.
  }
  entries.sort((entry, other) => entry.at - other.at);
  return entries.filter((entry) => Array.isArray(entry.items) && Array.isArray(entry.base));
}

/**
 * The lists that were sent without an answer, with one more; the oldest is left out where they are too many.
 * @param {Item[][]} unsure
 * @param {Item[]} list
 * @returns {Item[][]}
 */
export function addUnsure(unsure, list) {
  return [...unsure.filter((sent) => !sameList(sent, list)).slice(1 - MAX_UNSURE), list];
}

/**
 * The list that the server has, if this browser sent it and never got the answer: then nobody else has changed
 * anything.
 * @param {Item[][]} unsure
 * @param {Item[]} stored
 * @returns {Item[] | undefined}
 */
export function arrivedList(unsure, stored) {
  return unsure.find((list) => sameList(list, stored));
}

/**
 * Whether a version is stored after another one; drafts of one case are numbered in their order.
 * @param {{ draft?: number | null, version: number }} stored
 * @param {{ draft: number | null, version: number }} other
 */
export function isLater(stored, other) {
  if ((stored.draft ?? null) === other.draft) return stored.version > other.version;
  return (stored.draft ?? 0) > (other.draft ?? 0);
}
