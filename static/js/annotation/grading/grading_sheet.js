// @ts-check
/* What the scripts of the grading page know about the response on it. `begin` in grading.js sets the whole sheet. */
import { SaveQueue } from "../../core/save_queue.js";
import { store } from "../shared/outbox.js";

/**
 * @typedef {import("../shared/decisions.js").Decision} Decision
 * @typedef {{ id: string, url: string, writable: boolean, html: string }} NextSheet
 */

export const sheet = {
  assignment: "",
  writable: false,
  /** @type {Record<string, Decision & { version?: number }>} criterion → what the server has, as far as it is known */
  stored: {},
  /** @type {{ id: string, before: Decision }[]} */
  undoSteps: [],
  /** @type {string | null} the criterion that was decided last */
  justDecided: null,
  unchangedConfirmed: false, // a returned response may be submitted as it was before
  lastSaved: "",
  /** @type {Partial<NextSheet> | null} null until it is asked for */
  prefetched: null,
};

/** @param {typeof sheet} next */
export function replaceSheet(next) {
  Object.assign(sheet, next);
}

/** @type {SaveQueue} what is on its way, by criterion; grading_saving.js makes it */
export let queue;

/** @param {import("../../core/save_queue.js").Editor} editor */
export function startQueue(editor) {
  queue = new SaveQueue(editor, store.of(sheet.assignment));
}
