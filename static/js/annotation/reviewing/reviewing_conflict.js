// @ts-check
/* Two versions of one criterion: the person chooses which one holds. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { optionalElement } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { rowOf, select } from "../shared/criteria.js";
import { afterStaleReview } from "./review_entries.js";
import { goOnFrom, renewRow } from "./reviewing_entries.js";
import { storedReason } from "./reviewing_reasons.js";
import { finishing, queue, sheet } from "./reviewing_sheet.js";
import { summarise } from "./reviewing_status.js";

/** @typedef {import("../../core/save_queue.js").Entry} Entry */

const text = wordsOf("reviewing-words");

/**
 * What to do with an entry when another version is stored.
 * @param {Entry} entry
 * @param {HTMLElement} newRow as the server has it
 */
export function afterStale(entry, newRow) {
  const { outcome = "", client = "", default: own } = newRow.dataset;
  const stored = { outcome, client, default: own, reason: storedReason(newRow) };
  return afterStaleReview(/** @type {any} */ (entry), stored, { adjudicating: sheet.adjudicating });
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
  const isUntouched = newRow.dataset.amended === "" && !newRow.dataset.marked && "default" in newRow.dataset;
  const reason = isUntouched ? text("own") : storedReason(newRow);
  return [inWords(outcome, reason), at].filter(Boolean).join(" · ");
}

/** @type {ReturnType<typeof startConflicts> | null} null on a page that is read only */
let conflicts = null;

export function startAsking() {
  if (!optionalElement("choice", HTMLDialogElement)) return;
  conflicts = startConflicts({
    queue,
    describe: (_id, entry, { row }) => ({
      changed: text("changed").replace("NUMBER", row.dataset.number ?? ""),
      theirs: storedInWords(row),
      mine: inWords(entry.outcome, entry.reason),
    }),
    onChosen: (id, { row }, { keepsMine }) => {
      if (keepsMine) goOnFrom(id, row);
      else {
        sheet.undoSteps = sheet.undoSteps.filter((step) => step.id !== id); // these restore what is no longer stored
        renewRow(id, row);
      }
      select(rowOf(id));
      summarise();
    },
    mayAsk: () => !finishing.busy && !isTyping(),
  });
}

/** Somebody who is typing would answer with a stray Enter: the question comes up when they leave the field. */
function isTyping() {
  return document.activeElement?.matches("[data-reason], textarea") ?? false;
}

/** Ask the first question, unless one is open. */
export function askWhichHolds({ evenWhileTyping = false } = {}) {
  if (evenWhileTyping && isTyping() && document.activeElement instanceof HTMLElement) document.activeElement.blur();
  conflicts?.askNext();
}

export function closeQuestion() {
  conflicts?.close();
}

document.addEventListener("focusout", () => queue.questions.size && setTimeout(askWhichHolds));
