// @ts-check
/* Decisions in the browser's storage that the server does not have yet, by assignment and criterion. */
import { SaveStore } from "../../core/save_store.js";

/** @typedef {import("./decisions.js").Entry} Entry */

export class OutboxStore {
  /**
   * @param {() => Storage} storage called each time, since a browser may refuse it
   * @param {string} who the author of the decisions
   */
  constructor(storage, who) {
    /** @type {SaveStore<Entry>} */
    this.saves = new SaveStore(storage, `consilium.outbox:${who}:`);
  }

  /**
   * The entries of one assignment, by criterion.
   * @param {string} assignment
   */
  of(assignment) {
    return this.saves.within(`${assignment}:`);
  }

  /**
   * @param {string | null} key
   * @returns {{ assignment: string, id: string } | null} null where the key is not one of ours
   */
  placeOf(key) {
    const place = this.saves.idOf(key);
    if (place === null) return null;
    const [assignment, id] = place.split(":");
    return { assignment, id };
  }

  /** @returns {Record<string, Record<string, Entry>>} assignment → criterion → entry */
  all() {
    /** @type {Record<string, Record<string, Entry>>} */
    const entries = {};
    for (const [place, entry] of Object.entries(this.saves.entries())) {
      const [assignment, id] = place.split(":");
      entries[assignment] ??= {};
      entries[assignment][id] = entry;
    }
    return entries;
  }

  /**
   * @param {string} assignment
   * @returns {Record<string, Entry>} criterion → entry
   */
  entriesOf(assignment) {
    return this.of(assignment).entries();
  }

  /**
   * @param {string} assignment
   * @param {string} id
   * @param {Entry} entry
   */
  put(assignment, id, entry) {
    this.of(assignment).put(id, entry);
  }

  /**
   * Removes the entry only if it has this id: another tab may have put a newer one there.
   * @param {string} assignment
   * @param {string} id
   * @param {string} clientId
   */
  drop(assignment, id, clientId) {
    this.of(assignment).drop(id, clientId);
  }
}
