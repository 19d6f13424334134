// @ts-check
/* The outcome of a criterion as its buttons show it, and the field for the reason. */
import { find, findAll } from "../../core/page.js";
import { idOf, select } from "../shared/criteria.js";
import { showInDock } from "../shared/dock.js";
import { showView } from "../shared/panes.js";
import { wordsOf } from "../../core/words.js";
import { keep, queue } from "./reviewing_sheet.js";
import { clearRefusal } from "./reviewing_status.js";

const text = wordsOf("reviewing-words");

/**
 * @param {HTMLElement} row
 * @returns {HTMLInputElement | null} null where no reason can be given
 */
export function reasonField(row) {
  const field = row.querySelector("[data-reason]");
  return field instanceof HTMLInputElement ? field : null;
}

/** @param {HTMLElement} row */
export function reasonBox(row) {
  const box = row.querySelector("[data-reason-box]");
  return box instanceof HTMLElement ? box : null;
}

/** @param {HTMLElement} row that has a field for a reason */
export function existingReasonField(row) {
  return find(row, "[data-reason]", HTMLInputElement);
}

/**
 * The reason that the server has.
 * @param {HTMLElement} row
 */
export function storedReason(row) {
  return reasonField(row)?.defaultValue ?? "";
}

/** @param {HTMLElement} row */
export function isReasonOpen(row) {
  const box = reasonBox(row);
  return box !== null && !box.hidden;
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome
 */
export function press(row, outcome) {
  // A criterion that is marked for review keeps the annotator's outcome.
  const pressed = outcome === "review" ? ["review", row.dataset.default] : [outcome];
  for (const button of findAll(row, "[data-set]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(pressed.includes(button.dataset.set)));
  }
  showInDock(); // the bar shows the same outcome, also while a reason is open
}

/**
 * Open the field for the reason; false where the row has none.
 * @param {HTMLElement} row
 * @param {string} outcome that the reason is for; empty where none is chosen yet
 * @param {string} [reason]
 */
export function showReason(row, outcome, reason) {
  const box = reasonBox(row);
  if (!box) return false;
  box.dataset.outcome = outcome;
  nameReason(box, outcome);
  find(box, "[data-not-yet]", HTMLElement).hidden = !outcome || outcome === row.dataset.outcome;
  showLack(row, "");
  box.hidden = false;
  press(row, outcome || (row.dataset.outcome ?? ""));
  if (reason !== undefined) existingReasonField(row).value = reason;
  return true;
}

/**
 * What the field and its button say depends on what the reason is for.
 * @param {HTMLElement} box
 * @param {string} outcome
 */
function nameReason(box, outcome) {
  const field = find(box, "[data-reason]", HTMLInputElement);
  const button = find(box, "[data-send]", HTMLElement);
  const label = find(box, "label", HTMLElement);
  const number = box.closest("[data-row]")?.getAttribute("data-number") ?? "";
  box.dataset.fieldLabel ??= label.textContent ?? "";
  box.dataset.whyLabel ??= field.placeholder;
  box.dataset.sendLabel ??= button.textContent ?? "";
  const isMark = outcome === "review";
  field.placeholder = isMark ? text("mark_why") : box.dataset.whyLabel;
  label.textContent = isMark ? text("mark_label").replace("NUMBER", number) : box.dataset.fieldLabel;
  // Before an outcome is chosen, nothing can be saved.
  find(box, "[data-reason-early]", HTMLElement).hidden = Boolean(outcome);
  find(box, "[data-reason-keys]", HTMLElement).hidden = !outcome;
  button.hidden = !outcome;
  find(box, "[data-not-yet]", HTMLElement).textContent = text(isMark ? "mark_unsaved" : "outcome_unsaved");
  button.textContent = isMark ? text("mark") : box.dataset.sendLabel;
}

/**
 * Says beside the field what is missing; an empty text removes it.
 * @param {HTMLElement} row
 * @param {string} lack
 */
export function showLack(row, lack) {
  const line = find(row, "[data-reason-lack]", HTMLElement);
  const field = existingReasonField(row);
  line.textContent = lack;
  line.hidden = !lack;
  if (lack) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", line.id);
  } else {
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
  }
}

/**
 * @param {HTMLElement} row
 * @param {string} outcome
 */
export function openReason(row, outcome) {
  select(row, { focus: false });
  if (!showReason(row, outcome)) return;
  showView("criteria");
  const field = existingReasonField(row);
  field.focus();
  if (field.value === field.defaultValue) field.select();
}

/**
 * The reason that was written before an outcome was chosen.
 * @param {HTMLElement} row
 */
export function earlyReason(row) {
  return isReasonOpen(row) && !reasonBox(row)?.dataset.outcome ? existingReasonField(row).value.trim() : "";
}

/** @param {HTMLElement} row with an outcome or a reason that is shown and not saved */
export function isUnsaved(row) {
  const field = reasonField(row);
  if (!field || !isReasonOpen(row)) return false;
  const outcome = reasonBox(row)?.dataset.outcome;
  return Boolean(outcome && outcome !== row.dataset.outcome) || field.value !== field.defaultValue;
}

/** @param {HTMLElement} row */
export function closeReason(row) {
  const field = existingReasonField(row);
  field.value = field.defaultValue;
  showLack(row, "");
  find(row, "[data-reason-box]", HTMLElement).hidden = true;
  const unsent = queue.pending.get(idOf(row));
  keep(idOf(row), unsent ? { ...unsent, unsent: true } : null);
  press(row, row.dataset.outcome ?? "");
  clearRefusal(idOf(row));
  row.focus();
}
