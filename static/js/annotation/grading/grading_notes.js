// @ts-check
/* The note on a criterion. It is saved while it is being written, too: whoever closes the tab in the middle keeps
   it. */
import { find, targetWithin } from "../../core/page.js";
import { currentRow, following, idOf, rowInSight, select } from "../shared/criteria.js";
import { change } from "./grading_deciding.js";
import { sheet } from "./grading_sheet.js";
import { isStacked, showView } from "../shared/panes.js";
import { afterPress, isPressedWithin } from "../shared/press.js";
import { decisionOf, extraOf, showExtra } from "../shared/rows.js";

const KEEP_MS = 1500;
const FIELD = "textarea[data-note]";

/** @type {number | undefined} */
let timer;

/** @param {EventTarget | null} target */
function noteField(target) {
  return target instanceof HTMLTextAreaElement && target.matches(FIELD) ? target : null;
}

/** @param {HTMLElement} field */
function rowAround(field) {
  const row = field.closest("[data-row]");
  if (!(row instanceof HTMLElement)) throw new Error("The note is in no row.");
  return row;
}

/**
 * @param {HTMLElement | null | undefined} [row]
 * @param {{ afterwards?: "stay" | "next" }} [options] "next": closing it leads to the next open criterion
 */
export function openNote(row = rowInSight(), { afterwards = "stay" } = {}) {
  if (!sheet.writable || !row) return;
  showView("criteria");
  select(row, { focus: false });
  const extra = extraOf(row);
  const editor = find(extra, "[data-note-edit]", HTMLElement);
  editor.dataset.before = JSON.stringify(decisionOf(row));
  editor.dataset.afterwards = afterwards;
  editor.hidden = false;
  find(extra, "[data-note-shown]", HTMLElement).hidden = true;
  const field = find(editor, "textarea", HTMLTextAreaElement);
  field.value = row.dataset.note ?? "";
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
  // In a narrow window it would be half under the bar at the bottom.
  if (isStacked()) field.scrollIntoView({ block: "nearest" });
}

/** @param {HTMLTextAreaElement} field */
function keepNote(field) {
  clearTimeout(timer);
  change(rowAround(field), { note: field.value.trim() }, { remember: false });
}

/**
 * The note as it is now, as one step that undo takes back.
 * @param {HTMLTextAreaElement} field
 * @returns {HTMLElement | null} the open editor around the field; null where it is closed
 */
function settleNote(field) {
  const editor = field.closest("[data-note-edit]");
  if (!(editor instanceof HTMLElement) || editor.hidden || !field.isConnected) return null;
  const row = rowAround(field);
  /** @type {import("../shared/decisions.js").Decision} */
  const before = JSON.parse(editor.dataset.before ?? "");
  keepNote(field);
  if (row.dataset.note !== before.note) {
    sheet.undoSteps.push({ id: idOf(row), before });
    editor.dataset.before = JSON.stringify(decisionOf(row));
  }
  return editor;
}

/**
 * @param {HTMLTextAreaElement} field
 * @param {{ goesOn: boolean }} options `goesOn`: a note that was asked for and is written leads to the next open
 *   criterion
 * @returns {boolean} whether another criterion is the current one now
 */
function closeNote(field, { goesOn }) {
  const editor = settleNote(field);
  if (!editor) return false;
  const row = rowAround(field);
  editor.hidden = true;
  showExtra(row);
  if (!goesOn || !row.dataset.note || editor.dataset.afterwards !== "next" || currentRow() !== row) return false;
  select(following((other) => other !== row && !other.dataset.outcome));
  return currentRow() !== row;
}

/** The page is left: what is in an open note is kept. */
export function keepOpenNote() {
  const field = noteField(document.activeElement);
  if (field) keepNote(field);
}

export function leaveOpenNote() {
  noteField(document.activeElement)?.blur();
}

/** A new sheet: what was being written belongs to the old one. */
export function forgetNote() {
  clearTimeout(timer);
}

document.addEventListener("input", (event) => {
  const field = noteField(event.target);
  if (!field) return;
  clearTimeout(timer);
  timer = setTimeout(keepNote, KEEP_MS, field);
});
document.addEventListener("focusout", (event) => {
  const field = noteField(event.target);
  if (!field) return;
  settleNote(field); // at once: an outcome that is pressed next shows the decision anew, with the note that it has
  // In a narrow window the bar would still decide this criterion, when the person has gone on to the response.
  const { relatedTarget } = event;
  const row = rowAround(field);
  const isLeft = !(relatedTarget instanceof Node && row.contains(relatedTarget)) && !isPressedWithin(row);
  afterPress(() => closeNote(field, { goesOn: isStacked() && isLeft }));
});
document.addEventListener("keydown", (event) => {
  const field = noteField(event.target);
  if (!field || event.isComposing) return;
  if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
    event.preventDefault();
    event.stopImmediatePropagation();
    leaveNote(field);
  }
});
document.addEventListener("consilium:note-needed", (event) => {
  if (event instanceof CustomEvent) openNote(event.detail.row, { afterwards: "next" });
});

document.addEventListener("mousedown", (event) => {
  // The note keeps the focus until the click.
  if (targetWithin(event, "[data-note-done]")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-note-done]");
  if (button) leaveNote(find(rowAround(button), FIELD, HTMLTextAreaElement));
});

/** @param {HTMLTextAreaElement} field */
function leaveNote(field) {
  if (!closeNote(field, { goesOn: true })) rowAround(field).focus();
}

/**
 * Leaves the note that is being written on a criterion that is decided already: who presses an outcome in the bar may
 * mean the next criterion.
 * @returns {string} the number of the criterion; empty where no such note is open
 */
export function leaveNoteOfDecided() {
  const field = noteField(document.activeElement);
  const row = field && rowAround(field);
  if (!row?.dataset.outcome || !field?.value.trim()) return "";
  leaveNote(field);
  return row.dataset.number ?? "";
}
