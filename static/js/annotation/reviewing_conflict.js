// @ts-check
/* Two versions of one criterion: the person chooses which one holds. */
import { element, find, optionalElement, targetWithin } from "../core/page.js";
import { wordsOf } from "../core/words.js";
import { rowOf, select } from "./criteria.js";
import { afterStaleReview } from "./review_entries.js";
import { rebaseEntry, removeEntry, renewRow } from "./reviewing_entries.js";
import { storedReason } from "./reviewing_reasons.js";
import { finishing, sheet } from "./reviewing_sheet.js";
import { showSaving, summarise } from "./reviewing_status.js";

const text = wordsOf("reviewing-words");
const dialog = optionalElement("choice", HTMLDialogElement);

/**
 * @param {string} id of the criterion
 * @param {HTMLElement} newRow as the server has it
 */
export function settleStale(id, newRow) {
  const entry = sheet.pending.get(id);
  if (!entry) return;
  const { outcome = "", client = "", default: own } = newRow.dataset;
  const stored = { outcome, client, default: own, reason: storedReason(newRow) };
  const next = afterStaleReview(entry, stored, { adjudicating: sheet.adjudicating });
  if (next === "done") {
    removeEntry(id);
    renewRow(id, newRow);
  } else if (next === "rebase") rebaseEntry(id, newRow, { was: outcome });
  else sheet.questions.set(id, newRow);
}

/**
 * @param {string} outcome
 * @param {string} reason
 */
function inWords(outcome, reason) {
  return [outcome ? text(outcome) : text("undecided"), reason].filter(Boolean).join(" · ");
}

/** @param {HTMLElement} newRow */
function storedInWords(newRow) {
  const { outcome = "", at } = newRow.dataset;
  const isUntouched = newRow.dataset.amended === "" && "default" in newRow.dataset;
  const reason = isUntouched ? text("own") : storedReason(newRow);
  return [inWords(outcome, reason), at].filter(Boolean).join(" · ");
}

/** Put the first question, unless one is open. */
export function askWhichHolds({ evenWhileTyping = false } = {}) {
  const [next] = sheet.questions;
  // Somebody who is typing would answer it with a stray Enter: it comes up when they leave the field.
  if (!next || !dialog || dialog.open || finishing.busy) return;
  if (!evenWhileTyping && document.activeElement?.matches("[data-reason], textarea")) return;
  const [id, newRow] = next;
  const entry = sheet.pending.get(id);
  if (!entry) {
    sheet.questions.delete(id);
    askWhichHolds();
    return;
  }
  dialog.dataset.of = id;
  const number = newRow.dataset.number ?? "";
  find(dialog, "[data-changed]", HTMLElement).textContent = text("changed").replace("NUMBER", number);
  find(dialog, "[data-theirs]", HTMLElement).textContent = storedInWords(newRow);
  find(dialog, "[data-mine]", HTMLElement).textContent = inWords(entry.outcome, entry.reason);
  dialog.showModal();
  element("choice-title", HTMLElement).focus();
}

/** @param {() => unknown} listener called with each answer */
export function onAnswer(listener) {
  dialog?.addEventListener("click", (event) => {
    const id = dialog.dataset.of ?? "";
    const newRow = sheet.questions.get(id);
    const keepsMine = targetWithin(event, "[data-keep-mine]");
    if (!newRow || !(keepsMine || targetWithin(event, "[data-take-saved]"))) return;
    sheet.questions.delete(id);
    dialog.close();
    if (keepsMine && sheet.pending.has(id)) rebaseEntry(id, newRow, { was: newRow.dataset.outcome });
    else {
      removeEntry(id);
      sheet.undoSteps = sheet.undoSteps.filter((step) => step.id !== id); // what it led back to is not what is stored
      renewRow(id, newRow);
    }
    select(rowOf(id));
    summarise();
    showSaving();
    listener();
    askWhichHolds();
  });
}

// Escape would leave the question open with nothing to answer it.
dialog?.addEventListener("cancel", (event) => event.preventDefault());
dialog?.addEventListener("close", () => setTimeout(askWhichHolds)); // a second Escape closes it all the same
document.addEventListener("focusout", () => sheet.questions.size && setTimeout(askWhichHolds));
