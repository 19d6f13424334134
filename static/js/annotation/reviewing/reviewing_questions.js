// @ts-check
/* What a checker is asked before a check is accepted, and what the dialog of a return tells beforehand. */
import { element, optionalElement } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { rows } from "../shared/criteria.js";
import { isKept } from "./reviewing_choosing.js";
import { keptEntries } from "./reviewing_sheet.js";

const text = wordsOf("reviewing-words");

/** @type {[string, () => boolean][]} each question by its dialog, and whether it is to be asked; in this order */
const QUESTIONS = [
  ["accept-kept", () => rows().some(isKept)],
  ["accept-check", () => Boolean(keptEntries().note?.note?.trim())],
];

/** @param {string[]} numbers */
export function listOf(numbers) {
  return new Intl.ListFormat(document.documentElement.lang).format(numbers);
}

/** @param {(row: HTMLElement) => unknown} isWanted */
function numbersOf(isWanted) {
  return rows()
    .filter(isWanted)
    .map(({ dataset }) => dataset.number ?? "");
}

/**
 * False where nothing is left to ask.
 * @param {string} [answered] the dialog that was answered; those before it were answered too
 */
export function askBeforeAccepting(answered) {
  const place = QUESTIONS.findIndex(([id]) => id === answered);
  const next = QUESTIONS.slice(place + 1).find(([, asks]) => asks());
  const dialog = next && optionalElement(next[0], HTMLDialogElement);
  if (!dialog) return false;
  const line = dialog.querySelector("[data-kept-criteria]");
  const numbers = numbersOf(isKept);
  if (line)
    line.textContent = text(numbers.length === 1 ? "kept_one" : "kept_many").replace("NUMBERS", listOf(numbers));
  if (!dialog.open) dialog.showModal();
  return true;
}

/** The dialog of a return names the criteria that are marked for review; without any, a note is needed. */
export function showMarked() {
  const line = element("marked-criteria", HTMLElement);
  const numbers = numbersOf((row) => row.dataset.marked);
  const key = ["marked_none", "marked_one"][numbers.length] ?? "marked_many";
  line.textContent = text(key).replace("NUMBERS", listOf(numbers));
}

/** The dialog of a return tells how many amendments the next round shows again. */
export function showAmended() {
  const line = element("amendments-shown-again", HTMLElement);
  const { length } = numbersOf((row) => row.dataset.amended);
  line.textContent = text(length === 1 ? "amendments_one" : "amendments_many").replace("NUMBER", String(length));
  line.hidden = !length;
}
