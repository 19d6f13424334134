// @ts-check
/* What the scripts of the checking and adjudication pages know about the work on the page, and what they keep of it in
   the browser, for its author alone, until the server has it. */
import { who } from "./outbox.js";

/**
 * @typedef {import("./review_entries.js").ReviewEntry} ReviewEntry
 * @typedef {import("./review_entries.js").KeptEntry} KeptEntry
 */

export const sheet = {
  work: "",
  adjudicating: false,
  writable: false,
  /** @type {Map<string, ReviewEntry>} criterion → what is on its way, in the order in which it is sent */
  pending: new Map(),
  /** @type {Map<string, HTMLElement>} criterion → its row as it was saved elsewhere, until the person has chosen */
  questions: new Map(),
  /** @type {{ id: string, outcome: string, reason: string }[]} */
  undoSteps: [],
  savedAt: "",
  /** @type {"" | "signed-out" | "somebody"} why nothing is sent now */
  halted: "",
  failures: 0,
};

/** @param {typeof sheet} next */
export function replaceSheet(next) {
  Object.assign(sheet, next);
}

/** `busy`: an accept, a return or a finish is under way. */
export const finishing = { busy: false };

function prefix() {
  return `consilium.review:${who}:${sheet.work}:`;
}

/**
 * @param {string} id of the criterion, or "note"
 * @param {KeptEntry | null} entry null removes it
 */
export function keep(id, entry) {
  try {
    if (entry) localStorage.setItem(prefix() + id, JSON.stringify(entry));
    else localStorage.removeItem(prefix() + id);
  } catch {
    // Forbidden or full: then it is on the page alone.
  }
}

/** @returns {Record<string, KeptEntry | null>} */
export function keptEntries() {
  /** @type {Record<string, KeptEntry | null>} */
  const entries = {};
  try {
    for (const key of Object.keys(localStorage)) {
      if (!key.startsWith(prefix())) continue;
      entries[key.slice(prefix().length)] = JSON.parse(localStorage.getItem(key) ?? "null");
    }
  } catch {
    // Nothing to be had.
  }
  return entries;
}

export function forgetKept() {
  for (const id of Object.keys(keptEntries())) keep(id, null);
}
