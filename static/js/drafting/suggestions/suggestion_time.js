// @ts-check
/* How long each suggestion was looked at: the time for which it was the active one, while the page was seen and the
   person did something. */

const MAX_IDLE_MS = 120_000; // of one look without a key or a movement

export class ReadingTime {
  /** @type {Map<string, number>} milliseconds by suggestion */
  #read = new Map();
  #active = "";
  #since = 0;

  /**
   * Another suggestion is the active one, or none.
   * @param {string} id empty where none is
   * @param {number} now in milliseconds
   */
  look(id, now) {
    if (this.#active) {
      const passed = Math.min(Math.max(0, now - this.#since), MAX_IDLE_MS);
      this.#read.set(this.#active, (this.#read.get(this.#active) ?? 0) + passed);
    }
    this.#active = id;
    this.#since = now;
  }

  /**
   * Takes out the whole seconds of a suggestion; the rest counts towards the next time.
   * @param {string} id
   * @param {number} now
   * @returns {number}
   */
  take(id, now) {
    if (id === this.#active) this.look(id, now);
    const read = this.#read.get(id) ?? 0;
    const seconds = Math.floor(read / 1000);
    this.#read.set(id, read - seconds * 1000);
    return seconds;
  }
}
