// @ts-check
/* What the scripts of the checking and adjudication pages know about the work on the page, and what they keep of it in
   the browser, for its author alone, until the server has it. */
import { SaveQueue } from "../../core/save_queue.js";
import { SaveStore } from "../../core/save_store.js";
import { who } from "../shared/outbox.js";

/**
 * @typedef {import("./review_entries.js").KeptEntry} KeptEntry
 * @typedef {{ id: string, outcome: string, reason: string, early: string }} UndoStep what a criterion goes back to;
 *   `early`: the reason, if it was written before the outcome
 */

export const sheet = {
  work: "",
  adjudicating: false,
  writable: false,
  /** @type {UndoStep[]} */
  undoSteps: [],
  savedAt: "",
};

/** @param {typeof sheet} next */
export function replaceSheet(next) {
  Object.assign(sheet, next);
}

/** `busy`: an accept, a return or a finish is under way. */
export const finishing = { busy: false };

/** @type {SaveQueue} what is on its way; reviewing_saving.js makes it */
export let queue;

/** @param {import("../../core/save_queue.js").Editor} editor */
export function startQueue(editor) {
  queue = new SaveQueue(editor, storeOfSheet());
}

/** Another piece of work is on the page. Its entries have their own keys in the browser's storage. */
export function openQueue() {
  queue.open(storeOfSheet());
}

function storeOfSheet() {
  return new SaveStore(() => localStorage, `consilium.review:${who}:${sheet.work}:`);
}

/**
 * Keeps what is not sent yet: a reason that is being written, or a note.
 * @param {string} id of the criterion, or "note"
 * @param {KeptEntry | null} entry null removes it
 */
export function keep(id, entry) {
  if (entry) queue.store.put(id, entry);
  else queue.store.remove(id);
}

/** @returns {Record<string, KeptEntry>} */
export function keptEntries() {
  return queue.store.entries();
}

export function forgetKept() {
  for (const id of Object.keys(keptEntries())) keep(id, null);
}
