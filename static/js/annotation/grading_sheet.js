// @ts-check
/* What the scripts of the grading page know about the response on it. `begin` in grading.js sets the whole sheet. */

/**
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Entry} Entry
 * @typedef {import("./decisions.js").StoredDecision} StoredDecision
 * @typedef {{ id: string, url: string, writable: boolean, html: string }} NextSheet
 */

export const sheet = {
  assignment: "",
  writable: false,
  /** @type {Record<string, Entry>} criterion → what is on its way */
  entries: {},
  /** @type {Record<string, Decision & { version?: number }>} criterion → what the server has, as far as it is known */
  stored: {},
  /** @type {Record<string, string[]>} criterion → ids of the entries that were on the screen, the oldest first */
  trail: {},
  /** @type {Map<string, StoredDecision>} criterion → another version of it, until the person has chosen */
  questions: new Map(),
  /** @type {{ id: string, before: Decision }[]} */
  undoSteps: [],
  /** @type {string | null} the criterion that was decided last */
  justDecided: null,
  lastSaved: "",
  /** @type {Partial<NextSheet> | null} null until it is asked for */
  prefetched: null,
};

/** @param {typeof sheet} next */
export function replaceSheet(next) {
  Object.assign(sheet, next);
}

/** What holds from one sheet to the next. */
export const connection = {
  failures: 0,
  /** @type {"" | "signed-out" | "somebody" | "refused"} why nothing is sent now: somebody else is signed in; it is
   *   paused or handed in */
  halted: "",
};

/** @returns {[id: string, entry: Entry][]} what may be sent: the person is not asked about it */
export function waitingEntries() {
  return Object.entries(sheet.entries).filter(([id]) => !sheet.questions.has(id));
}
