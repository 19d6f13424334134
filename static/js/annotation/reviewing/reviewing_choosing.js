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
  earlyReason,
  existingReasonField,
  isReasonOpen,
  openReason,
  reasonBox,
  reasonField,
  showLack,
  showReason,
  storedReason,
} from "./reviewing_reasons.js";
import { finishing, keep, queue, sheet } from "./reviewing_sheet.js";
import { clearRefusal, showSaving, summarise } from "./reviewing_status.js";
import { endReplaced, offerReplaced } from "./reviewing_replaced.js";
import { showOutcome, showWaiting } from "./reviewing_waiting.js";

const text = wordsOf("reviewing-words");

/** @type {HTMLElement | null} the message that there is nothing to undo, until something is chosen */
let nothing = null;

function sayNothing() {
  nothing = toast(text("nothing"));
}

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

/** @param {HTMLElement} row where the annotator kept what an earlier round amended, and that was not amended again */
export function isKept(row) {
  return Boolean(row.dataset.kept && !isTouched(row));
}

/**
 * @param {string} outcome
 * @param {HTMLElement | null | undefined} [row]
 */
export function choose(outcome, row = rowInSight()) {
  if (!mayWrite() || !row || !canBeSet(row, outcome)) return;
  const isSame = outcome === row.dataset.outcome;
  if (isSame && isReasonOpen(row)) {
    // A reason belongs to its outcome; a reason for another outcome is given up with that outcome.
    if (isRewritten(row, outcome)) {
      saveWithReason(row);
      return;
    }
    if (!sheet.adjudicating && !isTouched(row) && earlyReason(row)) {
      showLack(row, text("early_same"));
      existingReasonField(row).focus();
      return;
    }
    closeReason(row);
  }
  if (isSame && (sheet.adjudicating || !isTouched(row))) goOn(row);
  else if (earlyReason(row)) save(row, outcome, earlyReason(row), { early: earlyReason(row) });
  else if (isReasonNeeded(row, outcome)) askReason(row, outcome);
  else save(row, outcome, sheet.adjudicating ? existingReasonField(row).value : "");
}

/**
 * Opens the field for the reason. The reason of an earlier round is filled in where its amendment is repeated and
 * nothing is written yet: it may be another checker's, so it is saved only by Enter.
 * @param {HTMLElement} row
 * @param {string} outcome
 */
function askReason(row, outcome) {
  const { earlier, earlierReason = "" } = row.dataset;
  const field = reasonField(row);
  if (!field || !isKept(row)) {
    openReason(row, outcome);
    return;
  }
  const isRepeated = outcome === earlier;
  if (isRepeated && !field.value.trim()) field.value = earlierReason;
  // The reason belongs to the earlier outcome: as long as it is unchanged, it does not go over to another one.
  else if (!isRepeated && field.value === earlierReason) field.value = field.defaultValue;
  openReason(row, outcome);
  if (field.value === earlierReason) field.select();
}

/** @param {HTMLElement} row whose amendment of an earlier round is repeated, with its reason */
function amendAgain(row) {
  if (!mayWrite() || !isKept(row)) return;
  const { earlier = "", earlierReason = "" } = row.dataset;
  // Undo shows again what was being written.
  const written = isReasonOpen(row) ? existingReasonField(row).value.trim() : "";
  if (isReasonOpen(row)) closeReason(row);
  save(row, earlier, earlierReason, { early: written === earlierReason ? "" : written });
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome that is stored
 */
function isRewritten(row, outcome) {
  const field = existingReasonField(row);
  return reasonBox(row)?.dataset.outcome === outcome && field.value !== field.defaultValue;
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
 * @param {{ remember?: boolean, early?: string }} [options] `remember`: undo leads back; `early`: the reason, if it was
 *   written before the outcome
 */
function save(row, outcome, reason, { remember = true, early = "" } = {}) {
  const step = { id: idOf(row), outcome: row.dataset.outcome ?? "", reason: lastReason(row), early };
  const before = { amended: row.dataset.amended, marked: row.dataset.marked };
  if (remember) sheet.undoSteps.push(step);
  addEntry(row, { outcome, reason });
  nothing?.remove();
  // Shown before the server has answered: an adjudicator at the keyboard is on the next conflict by then.
  showOutcome(row, outcome);
  const box = reasonBox(row);
  if (box) box.hidden = true;
  showWaiting(row, reason);
  clearRefusal(idOf(row));
  if (remember) goOn(row);
  else select(row);
  showSaving();
  summarise();
  endReplaced(step.id);
  if (remember) offerReplaced(row, before, step, () => takeBack(step));
}

/**
 * The reason that was chosen last, whether the server has it by now or not.
 * @param {HTMLElement} row
 * @returns {string}
 */
function lastReason(row) {
  const waiting = /** @type {{ reason?: string } | undefined} */ (queue.pending.get(idOf(row)));
  return waiting?.reason ?? storedReason(row);
}

/**
 * Undoes this step, though others may have been taken since on other criteria.
 * @param {import("./reviewing_sheet.js").UndoStep} step
 */
function takeBack(step) {
  if (!mayWrite()) return;
  if (!sheet.undoSteps.includes(step)) {
    sayNothing();
    return;
  }
  sheet.undoSteps = sheet.undoSteps.filter((other) => other !== step);
  restore(step);
}

/** @param {HTMLElement} row */
function saveWithReason(row) {
  if (!mayWrite()) return;
  const { outcome = "" } = find(row, "[data-reason-box]", HTMLElement).dataset;
  const field = existingReasonField(row);
  if (!outcome) {
    // The reason waits for its outcome. The row takes the focus, so that the keys of the outcomes work.
    showLack(row, text("early"));
    select(row);
    return;
  }
  if (!field.value.trim() && isReasonNeeded(row, outcome)) {
    showLack(row, text(outcome === "review" ? "empty_mark" : sheet.adjudicating ? "empty_faulty" : "empty"));
    field.focus();
    return;
  }
  showLack(row, "");
  save(row, outcome, field.value);
}

export function undo() {
  const last = sheet.undoSteps.pop();
  if (!last || !restore(last)) {
    if (!takeUndo()) sayNothing();
  }
}

/**
 * False where the criterion is not on the page.
 * @param {import("./reviewing_sheet.js").UndoStep} last
 */
function restore(last) {
  const row = rowOf(last.id);
  if (!row) return false;
  if (row.hidden) applyFilter("all");
  select(row);
  save(row, last.outcome, last.reason, { remember: false });
  if (!last.early) return true;
  // The reason waits for another outcome, as before.
  existingReasonField(row).defaultValue = last.reason;
  showReason(row, "", last.early);
  row.dataset.undone = "1"; // the row is renewed around the open field
  return true;
}

export function selectNextFlagged() {
  const current = currentRow();
  const next = following((row) => row.dataset.flagged && row !== current);
  if (next) select(next);
  else if (!current?.dataset.flagged) toast(text("none"));
}

/**
 * Opens the field for the reason in any case: letters that are meant for it must not act as keys. Before an outcome is
 * chosen, the reason waits for it.
 * @param {HTMLElement | null} [row]
 */
export function writeReason(row = rowInSight()) {
  if (!row || !mayWrite()) return;
  if (!reasonField(row)) {
    toast(text("agreed"));
    return;
  }
  if (isReasonOpen(row)) existingReasonField(row).focus();
  else openReason(row, sheet.adjudicating || isTouched(row) ? (row.dataset.outcome ?? "") : "");
}

document.addEventListener("click", (event) => {
  const row = targetWithin(event, "#criteria [data-row]");
  if (!row) return;
  const outcome = targetWithin(event, "[data-set]")?.dataset.set;
  if (outcome !== undefined) choose(outcome, row);
  else if (targetWithin(event, "[data-send]")) saveWithReason(row);
  else if (targetWithin(event, "[data-do=cancel]")) closeReason(row);
  else if (targetWithin(event, "[data-do=amend-again]")) amendAgain(row);
  else if (targetWithin(event, "[data-do=unmark]")) choose(row.dataset.default ?? "", row);
  else if (targetWithin(event, "[data-do=reason]")) writeReason(row);
});

/** @param {Event} event */
function rowOfReason(event) {
  const { target } = event;
  const row = target instanceof Element && target.matches("[data-reason]") ? target.closest("[data-row]") : null;
  return row instanceof HTMLElement ? row : null;
}

document.addEventListener("input", (event) => {
  const row = rowOfReason(event);
  if (!row) return;
  showLack(row, "");
  keepReason(row);
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
