// @ts-check
/* What the person does on the grading page: outcomes, borderline, and taking steps back. */
import { toast } from "../../core/toast.js";
import { takeUndo } from "../../core/undo_offer.js";
import { wordsOf } from "../../core/words.js";
import { applyFilter, following, idOf, rowInSight, rowOf, select } from "../shared/criteria.js";
import { isSameDecision } from "../shared/decisions.js";
import { queueDecision } from "./grading_entries.js";
import { sheet } from "./grading_sheet.js";
import { lackOf, summarise } from "./grading_status.js";
import { decisionOf, show } from "../shared/rows.js";

/**
 * @typedef {import("../shared/decisions.js").Decision} Decision
 */

const text = wordsOf("grading-words");

/**
 * Show a decision as it is after a change, and save it.
 * @param {HTMLElement | null | undefined} row
 * @param {Partial<Decision>} difference
 * @param {{ remember?: boolean }} [options] `remember`: undo can take this change back
 */
export function change(row, difference, { remember = true } = {}) {
  // The row is of a sheet that was replaced. Its criterion may be on the next sheet, too, as another decision.
  if (!sheet.writable || !row?.isConnected) return;
  const before = decisionOf(row);
  const after = { ...before, ...difference };
  if (isSameDecision(before, after)) return;
  if (remember) sheet.undoSteps.push({ id: idOf(row), before });
  show(row, after);
  summarise();
  queueDecision(idOf(row), after);
}

/**
 * @param {string} outcome
 * @param {HTMLElement | null | undefined} [row]
 * @param {Partial<Decision>} [more]
 */
export function decide(outcome, row = rowInSight(), more = {}) {
  if (!sheet.writable || !row) return;
  // A note that is being written is a step of its own, before this one: it is saved as its field loses the focus.
  if (document.activeElement instanceof HTMLTextAreaElement) document.activeElement.blur();
  select(row, { focus: false });
  const next = following((other) => other !== row && !other.dataset.outcome);
  // Borderline qualifies an outcome: met or not met, but only just.
  sheet.justDecided = idOf(row);
  change(row, { outcome, ...(outcome === "cannot_assess" ? { borderline: false } : more) });
  if (lackOf(row) === "note") askForNote(row);
  else select(next ?? following((other) => other !== row && lackOf(other) === "review") ?? rowOf(idOf(row)));
}

/**
 * The batch wants a note on this outcome; grading_notes.js opens it.
 * @param {HTMLElement} row
 */
function askForNote(row) {
  document.dispatchEvent(new CustomEvent("consilium:note-needed", { detail: { row } }));
}

/** @param {HTMLElement | null | undefined} row */
export function toggleBorderline(row) {
  if (!row || row.dataset.outcome === "cannot_assess") return;
  change(row, { borderline: row.dataset.borderline !== "1" });
}

export function toggleLastBorderline() {
  const row = sheet.justDecided ? rowOf(sheet.justDecided) : null;
  if (row) toggleBorderline(row);
  else toast(text("none"));
}

export function undo() {
  const last = sheet.undoSteps.pop();
  if (!last) {
    if (!takeUndo()) toast(text("nothing"));
    return;
  }
  applyFilter("all");
  select(rowOf(last.id));
  change(rowOf(last.id), last.before, { remember: false });
}

export function clearDecision(row = rowInSight()) {
  if (row) change(row, { outcome: "" });
}
