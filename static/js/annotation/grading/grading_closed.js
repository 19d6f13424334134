// @ts-check
/* A response that can only be read: its rows show what is on record. What this browser could not send is listed above
   them. */
import { targetWithin } from "../../core/page.js";
import { undo } from "../../core/undo_offer.js";
import { rowOf, sheetElement } from "../shared/criteria.js";
import { isSameDecision } from "../shared/decisions.js";
import { store } from "../shared/outbox.js";
import { decisionOf } from "../shared/rows.js";
import { discardButton, listOf } from "../shared/unsent.js";
import { keepOpenAnswer } from "./grading_answers.js";
import { keepOpenNote } from "./grading_notes.js";
import { queue, sheet } from "./grading_sheet.js";

/** The decisions of this browser that differ from the record. Those that do not are forgotten. */
export function showUnsent() {
  const notice = document.getElementById("not-sent");
  if (!notice) return;
  const { assignment } = sheet;
  const entries = store.entriesOf(assignment);
  for (const [id, entry] of Object.entries(entries)) {
    const row = rowOf(id);
    if (row && !isSameDecision(decisionOf(row), entry)) {
      entries[id] = { ...entry, about: { ...entry.about, number: row.dataset.number } };
    } else {
      store.drop(assignment, id, entry.client_id);
      delete entries[id];
    }
  }
  notice.hidden = !Object.keys(entries).length;
  notice.querySelector("ul")?.remove();
  notice.querySelector("button")?.remove();
  if (notice.hidden) return;
  notice.append(listOf(entries), discardButton(assignment, entries, showUnsent));
}

/** Undo of the submission is offered as long as the server accepts it. */
export function offerUndoWhilePossible() {
  const line = document.querySelector("[data-undo-seconds]");
  if (line instanceof HTMLElement) setTimeout(() => line.remove(), Number(line.dataset.undoSeconds) * 1000);
}

document.addEventListener("click", (event) => {
  if (targetWithin(event, "[data-undo-submission]")) undo(sheetElement().dataset.undoUrl ?? "");
});

/**
 * Whether a refusal is for good: the response was submitted or released elsewhere, or its batch is closed.
 * @param {any} body of the answer
 * @returns {boolean}
 */
export function isFinal(body) {
  return body?.reason === "no-longer-open" || Boolean(body?.closed);
}

/** Nothing can be changed any more: the page is loaded again, and shows why, and what was not sent. */
export function showFinalState() {
  if (!sheet.writable) return;
  keepOpenNote();
  keepOpenAnswer();
  sheet.writable = false;
  // The browser's storage has them; nothing is lost by leaving.
  if (queue.isKept) queue.pending.clear();
  location.reload();
}
