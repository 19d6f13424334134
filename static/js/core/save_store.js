// @ts-check
/* Entries that the server does not have yet, in the browser's storage: one key for each, so that two tabs never write
   over each other's. What the storage cannot take (it is full, or forbidden) is kept in memory, as long as the page. */

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

/** @template {{ client_id?: string, after?: string[] }} E */
export class SaveStore {
  /**
   * @param {() => Storage} storage called each time, since a browser may refuse it
   * @param {string} prefix of all its keys; the id of an entry follows
   */
  constructor(storage, prefix) {
    this.storage = storage;
    this.prefix = prefix;
    /** @type {Map<string, E>} by key */
    this.memory = new Map();
    /** @type {Map<string, string | undefined>} by key, the id of the entry that was stored last from here */
    this.written = new Map();
  }

  /**
   * The entries whose ids begin with this; theirs begin after it.
   * @param {string} part
   * @returns {SaveStore<E>}
   */
  within(part) {
    /** @type {SaveStore<E>} */
    const inner = new SaveStore(this.storage, this.prefix + part);
    inner.memory = this.memory;
    inner.written = this.written;
    return inner;
  }

  /**
   * @param {string | null} key in the storage
   * @returns {string | null} the id of the entry; null where the key is not one of ours
   */
  idOf(key) {
    return key?.startsWith(this.prefix) ? key.slice(this.prefix.length) : null;
  }

  /** @returns {Record<string, E>} all entries by id */
  entries() {
    /** @type {Record<string, E>} */
    const entries = {};
    try {
      const storage = this.storage();
      for (const key of Object.keys(storage)) {
        const id = this.idOf(key);
        const entry = id === null ? null : parseStored(storage.getItem(key));
        if (id !== null && entry && typeof entry === "object") entries[id] = entry;
      }
    } catch {
      // Forbidden: what there is, is in memory.
    }
    this.memory.forEach((entry, key) => {
      const id = this.idOf(key);
      if (id !== null) entries[id] = entry;
    });
    return entries;
  }

  /**
   * @param {string} id
   * @returns {E | null}
   */
  get(id) {
    return this.entries()[id] ?? null;
  }

  /**
   * @param {string} id
   * @param {E} entry
   * @returns {boolean} whether the browser keeps it; else it is kept as long as the page
   */
  put(id, entry) {
    try {
      this.storage().setItem(this.prefix + id, JSON.stringify(entry));
      this.memory.delete(this.prefix + id);
      this.written.set(this.prefix + id, entry.client_id);
      return true;
    } catch {
      // An older entry of the same id stays in the storage: it is what is left if the page is killed.
      this.memory.set(this.prefix + id, entry);
      return false;
    }
  }

  /**
   * Removes this entry, and the earlier ones it replaced; another tab may have put a newer one there.
   * @param {string} id
   * @param {string} clientId
   */
  drop(id, clientId) {
    const held = this.memory.get(this.prefix + id);
    const isHeld = held?.client_id === clientId;
    if (isHeld) this.memory.delete(this.prefix + id);
    try {
      const stored = parseStored(this.storage().getItem(this.prefix + id))?.client_id;
      const isOlder = stored === this.written.get(this.prefix + id) || held?.after?.includes(stored);
      if (stored === clientId || (isHeld && stored && isOlder)) this.#remove(id);
    } catch {
      // Nothing was stored.
    }
  }

  /** @param {string} id whatever is stored under it */
  remove(id) {
    this.memory.delete(this.prefix + id);
    this.#remove(id);
  }

  /** @param {string} id */
  #remove(id) {
    try {
      this.storage().removeItem(this.prefix + id);
    } catch {
      // Nothing was stored.
    }
  }
}
