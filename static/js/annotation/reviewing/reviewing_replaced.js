// @ts-check
/* Says that a choice of a checker took the place of another one, whose reason is gone with it, and offers it back. */
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";

/** @typedef {import("./reviewing_sheet.js").UndoStep} UndoStep */

const text = wordsOf("reviewing-words");
const SHOWN_MS = 10_000;

/** @type {{ id: string, item: HTMLElement | null } | null} the message that is shown, and its criterion */
let shown = null;

/** @param {string} [id] only a message about this criterion */
export function endReplaced(id) {
  if (!shown || (id !== undefined && shown.id !== id)) return;
  shown.item?.remove();
  shown = null;
}

/**
 * @param {HTMLElement} row of a check as it is now
 * @param {{ amended?: string, marked?: string }} before the state that the choice replaced
 * @param {UndoStep} step that was taken
 * @param {() => void} undo
 */
export function offerReplaced(row, before, step, undo) {
  const { amended, marked, number = "" } = row.dataset;
  const what = before.amended && !amended ? (marked ? "amendment_by_mark" : "amendment_removed") : "";
  const mark = before.marked && !marked ? (amended ? "mark_by_amendment" : "mark_removed") : "";
  const key = what || mark;
  if (!key) return;
  endReplaced();
  const action = { label: text("undo"), run: undo };
  const item = toast(text(key).replace("NUMBER", number), "info", { action, shownMs: SHOWN_MS });
  shown = { id: step.id, item };
}

document.addEventListener("consilium:sheet", () => endReplaced());
