// @ts-check
/* Entries in the browser's storage, one key for each decision, so that two tabs never write over each other's. What
   the storage cannot take (it is full, or forbidden) is kept in memory. */

/** @typedef {import("./decisions.js").Entry} Entry */

/**
 * @param {string | null} text
 * @returns {any} null where it is not JSON
 */
export function parseStored(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

export class OutboxStore {
  /**
   * @param {() => Storage} storage asked anew each time, since a browser may refuse it
   * @param {string} who the author of the decisions
   */
  constructor(storage, who) {
    this.storage = storage;
    this.prefix = `consilium.outbox:${who}:`;
    /** @type {Map<string, Entry>} */
    this.memory = new Map();
  }

  /**
   * @param {string} assignment
   * @param {string} id of the criterion
   */
  keyOf(assignment, id) {
    return `${this.prefix}${assignment}:${id}`;
  }

  /**
   * @param {string | null} key
   * @returns {{ assignment: string, id: string } | null} null where the key is not one of ours
   */
  placeOf(key) {
    if (!key?.startsWith(this.prefix)) return null;
    const [assignment, id] = key.slice(this.prefix.length).split(":");
    return { assignment, id };
  }

  /** @returns {Record<string, Record<string, Entry>>} assignment → criterion → entry */
  all() {
    /** @type {Record<string, Record<string, Entry>>} */
    const entries = {};
    /** @type {(key: string, entry: Entry | null) => void} */
    const add = (key, entry) => {
      const place = this.placeOf(key);
      if (!place || !entry) return;
      entries[place.assignment] ??= {};
      entries[place.assignment][place.id] = entry;
    };
    try {
      const storage = this.storage();
      for (const key of Object.keys(storage)) {
        if (key.startsWith(this.prefix)) add(key, parseStored(storage.getItem(key)));
      }
    } catch {
      // Forbidden: what there is, is in memory.
    }
    this.memory.forEach((entry, key) => {
      add(key, entry);
    });
    return entries;
  }

  /**
   * @param {string} assignment
   * @returns {Record<string, Entry>} criterion → entry
   */
  entriesOf(assignment) {
    return this.all()[assignment] ?? {};
  }

  /**
   * @param {string} assignment
   * @param {string} id
   * @param {Entry} entry
   */
  put(assignment, id, entry) {
    const key = this.keyOf(assignment, id);
    try {
      this.storage().setItem(key, JSON.stringify(entry));
      this.memory.delete(key);
    } catch {
      this.memory.set(key, entry);
    }
  }

  /**
   * Only the entry that was meant: another tab may have put a newer one there.
   * @param {string} assignment
   * @param {string} id
   * @param {string} clientId
   */
  drop(assignment, id, clientId) {
    const key = this.keyOf(assignment, id);
    if (this.memory.get(key)?.client_id === clientId) this.memory.delete(key);
    try {
      const storage = this.storage();
      if (parseStored(storage.getItem(key))?.client_id === clientId) storage.removeItem(key);
    } catch {
      // Nothing was stored.
    }
  }
}
