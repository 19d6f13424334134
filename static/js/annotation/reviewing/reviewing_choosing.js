// @ts-check
/* What the person chooses on the checking and adjudication pages: an outcome for a criterion, with a reason where one
   is needed. */
import { find, targetWithin } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { takeUndo } from "../../core/undo_offer.js";
import { wordsOf } from "../../core/words.js";
import { applyFilter, currentRow, following, idOf, rowInSight, rowOf, select } from "../shared/criteria.js";
import { needsReason } from "./review_entries.js";
import { addEntry } from "./reviewing_entries.js";
import {
  closeReason,
  existingReasonField,
  isReasonOpen,
  openReason,
  press,
  reasonBox,
  storedReason,
} from "./reviewing_reasons.js";
import { finishing, keep, queue, sheet } from "./reviewing_sheet.js";
import { showSaving, summarise } from "./reviewing_status.js";

const text = wordsOf("reviewing-words");

/** Nothing is chosen or written while the piece is being finished: it would come too late and be lost. */
export function mayWrite() {
  if (finishing.busy) toast(text("busy"));
  return sheet.writable && !finishing.busy;
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome
 */
function isReasonNeeded(row, outcome) {
  return needsReason(outcome, { adjudicating: sheet.adjudicating, default: row.dataset.default });
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome an outcome, or "review" in a check
 */
function canBeSet(row, outcome) {
  return outcome === "review" ? !sheet.adjudicating : row.querySelector(`[data-set="${outcome}"]`);
}

/** @param {HTMLElement} row that the checker amended or marked for review */
function isTouched(row) {
  return row.dataset.amended || row.dataset.marked;
}

/**
 * @param {string} outcome
 * @param {HTMLElement | null | undefined} [row]
 */
export function choose(outcome, row = rowInSight()) {
  if (!mayWrite() || !row || !canBeSet(row, outcome)) return;
  const isSame = outcome === row.dataset.outcome;
  if (isSame && isReasonOpen(row)) closeReason(row);
  if (isSame && (sheet.adjudicating || !isTouched(row))) goOn(row);
  else if (isReasonNeeded(row, outcome)) openReason(row, outcome);
  else save(row, outcome, sheet.adjudicating ? existingReasonField(row).value : "");
}

/** @param {HTMLElement} row */
export function isOpenConflict(row) {
  return row.dataset.conflict && !row.dataset.outcome;
}

/** @param {HTMLElement} row that is done with */
function goOn(row) {
  const next = sheet.adjudicating ? following((other) => other !== row && isOpenConflict(other)) : null;
  select(next ?? rowOf(idOf(row)));
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome
 * @param {string} reason
 * @param {{ remember?: boolean }} [options] `remember`: undo leads back
 */
function save(row, outcome, reason, { remember = true } = {}) {
  const before = row.dataset.outcome ?? "";
  if (remember) sheet.undoSteps.push({ id: idOf(row), outcome: before, reason: storedReason(row) });
  addEntry(row, { outcome, reason });
  // Shown before the server has answered: an adjudicator at the keyboard is on the next conflict by then.
  row.dataset.outcome = outcome;
  press(row, outcome);
  const box = reasonBox(row);
  if (box) box.hidden = true;
  if (remember) goOn(row);
  else select(row);
  showSaving();
  summarise();
}

/** @param {HTMLElement} row */
function saveWithReason(row) {
  if (!mayWrite()) return;
  const { outcome = "" } = find(row, "[data-reason-box]", HTMLElement).dataset;
  const field = existingReasonField(row);
  if (!field.value.trim() && isReasonNeeded(row, outcome)) {
    field.setAttribute("aria-invalid", "true");
    field.focus();
    return;
  }
  field.removeAttribute("aria-invalid");
  save(row, outcome, field.value);
}

export function undo() {
  const last = sheet.undoSteps.pop();
  const row = last ? rowOf(last.id) : null;
  if (!last || !row) {
    if (!takeUndo()) toast(text("nothing"));
    return;
  }
  applyFilter("all");
  select(row);
  save(row, last.outcome, last.reason, { remember: false });
}

export function selectNextFlagged() {
  const current = currentRow();
  const next = following((row) => row.dataset.flagged && row !== current);
  if (next) select(next);
  else if (!current?.dataset.flagged) toast(text("none"));
}

export function writeReason() {
  const row = rowInSight();
  if (!sheet.writable || !row?.dataset.outcome) return;
  if ((sheet.adjudicating || isTouched(row)) && mayWrite()) openReason(row, row.dataset.outcome);
}

document.addEventListener("click", (event) => {
  const row = targetWithin(event, "#criteria [data-row]");
  if (!row) return;
  const outcome = targetWithin(event, "[data-set]")?.dataset.set;
  if (outcome !== undefined) choose(outcome, row);
  else if (targetWithin(event, "[data-send]")) saveWithReason(row);
  else if (targetWithin(event, "[data-do=cancel]")) closeReason(row);
  else if (targetWithin(event, "[data-do=unmark]")) choose(row.dataset.default ?? "", row);
  else if (targetWithin(event, "[data-do=reason]") && row.dataset.outcome && mayWrite()) {
    openReason(row, row.dataset.outcome);
  }
});

/** @param {Event} event */
function rowOfReason(event) {
  const { target } = event;
  const row = target instanceof Element && target.matches("[data-reason]") ? target.closest("[data-row]") : null;
  return row instanceof HTMLElement ? row : null;
}

document.addEventListener("input", (event) => {
  const row = rowOfReason(event);
  if (row) keepReason(row);
});

/** @param {HTMLElement} row whose reason is being written */
function keepReason(row) {
  if (queue.pending.has(idOf(row))) return; // the entry that is being sent keeps its place in the storage
  const { outcome } = find(row, "[data-reason-box]", HTMLElement).dataset;
  const reason = existingReasonField(row).value;
  keep(idOf(row), reason ? { outcome, reason, unsent: false } : null);
}

document.addEventListener("keydown", (event) => {
  const row = rowOfReason(event);
  if (!row || event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    saveWithReason(row);
  } else if (event.key === "Escape") {
    event.preventDefault();
    closeReason(row);
  }
});
