// @ts-check
/* The answer to a checker who asked to review a criterion. It is saved while it is being written, like a note. */
import { idOf, select } from "../shared/criteria.js";
import { decisionOf } from "../shared/rows.js";
import { change } from "./grading_deciding.js";
import { sheet } from "./grading_sheet.js";
import { showView } from "../shared/panes.js";

const KEEP_MS = 1500;
const FIELD = "textarea[data-answer-field]";

/** @typedef {import("../shared/decisions.js").Decision} Decision */

/** @type {{ timer?: number, before: Decision | null }} `before`: the decision when its answer got the focus */
const writing = { before: null };

/** @param {EventTarget | null} target */
function answerField(target) {
  return target instanceof HTMLTextAreaElement && target.matches(FIELD) ? target : null;
}

/** @param {HTMLTextAreaElement} field */
function rowAround(field) {
  const row = field.closest("[data-row]");
  return row instanceof HTMLElement ? row : null;
}

/** @param {HTMLTextAreaElement} field */
function keepAnswer(field) {
  clearTimeout(writing.timer);
  change(rowAround(field), { answer: field.value.trim() }, { remember: false });
}

/** The page is left, or the work handed in: what is in the field is kept. */
export function keepOpenAnswer() {
  const field = answerField(document.activeElement);
  if (field) keepAnswer(field);
}

/** @param {HTMLElement} row */
export function openAnswer(row) {
  const field = answerField(row.querySelector(FIELD));
  if (!sheet.writable || !field) return;
  showView("criteria");
  select(row, { focus: false });
  field.focus();
}

document.addEventListener("focusin", (event) => {
  const field = answerField(event.target);
  const row = field && rowAround(field);
  if (row) writing.before = decisionOf(row);
});
document.addEventListener("input", (event) => {
  const field = answerField(event.target);
  if (!field) return;
  clearTimeout(writing.timer);
  writing.timer = setTimeout(keepAnswer, KEEP_MS, field);
});
document.addEventListener("focusout", (event) => {
  const field = answerField(event.target);
  const row = field && rowAround(field);
  if (!field || !row?.isConnected) return;
  keepAnswer(field);
  const { before } = writing;
  if (before && before.answer !== row.dataset.answer) sheet.undoSteps.push({ id: idOf(row), before });
  writing.before = null;
});
document.addEventListener("keydown", (event) => {
  const field = answerField(event.target);
  if (!field || event.isComposing || event.key !== "Escape") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  rowAround(field)?.focus();
});
