// @ts-check
/* The questions about a case on the page: one fieldset each. */
import { element, find, findAll } from "../../core/page.js";
import { isComplete } from "./label_answers.js";

/** @typedef {import("./label_answers.js").LabelState} LabelState */

/**
 * @param {HTMLElement} page
 * @returns {HTMLElement[]}
 */
export function rowsOf(page) {
  return findAll(page, "[data-question]", HTMLElement);
}

/**
 * @param {string} question
 * @returns {HTMLElement}
 */
export function rowOf(question) {
  return element(`question-${question}`, HTMLElement);
}

/**
 * @param {HTMLElement} row
 * @returns {string} the id of its question
 */
export function questionOf(row) {
  return row.dataset.question ?? "";
}

/** @param {HTMLElement} row */
export function isAcuity(row) {
  return row.dataset.acuity === "1";
}

/** @param {HTMLElement} row */
export function radiosOf(row) {
  return findAll(row, "input[type=radio]", HTMLInputElement);
}

/**
 * @param {HTMLElement} row
 * @returns {HTMLInputElement | null} where the question asks for a certainty
 */
export function rangeOf(row) {
  const range = row.querySelector("[data-certainty-range]");
  return range instanceof HTMLInputElement ? range : null;
}

/** @param {HTMLInputElement} radio */
export function labelOf(radio) {
  return radio.closest("label")?.querySelector("b")?.textContent ?? "";
}

/**
 * @param {HTMLElement} row
 * @returns {LabelState}
 */
export function stateOf(row) {
  return {
    value: radiosOf(row).find((radio) => radio.checked)?.value ?? "",
    certainty: row.dataset.certainty === "" ? null : Number(row.dataset.certainty),
    note: find(row, "[data-note]", HTMLTextAreaElement).value.trim(),
  };
}

/** @param {HTMLElement} row */
export function isAnswered(row) {
  return isComplete(stateOf(row), isAcuity(row));
}

/**
 * @param {HTMLElement} row
 * @param {LabelState} state
 */
export function showState(row, state) {
  for (const radio of radiosOf(row)) radio.checked = radio.value === state.value;
  find(row, "[data-note]", HTMLTextAreaElement).value = state.note;
  if (state.note) find(row, "details.note", HTMLDetailsElement).open = true;
  showCertainty(row, state.certainty);
}

/**
 * @param {HTMLElement} row
 * @param {number | null} certainty
 */
export function showCertainty(row, certainty) {
  const words = String(certainty ?? "");
  row.dataset.certainty = words;
  const range = rangeOf(row);
  if (!range) return;
  if (certainty !== null) range.value = words;
  find(row, "[data-certainty-shown]", HTMLElement).textContent = words || "–";
}
