// @ts-check
/* Evidence on the grading page: passages of the response for a criterion. While words are selected, a bar below the
   response names the criteria that they can go to: the one that was just decided, and the current one. */
import { element, find, isTouch, targetWithin } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { currentRow, rowInSight, rowOf, sheetElement } from "../shared/criteria.js";
import { bringIntoView, isStacked, showView } from "../shared/panes.js";
import { pick, selectedSpan } from "../shared/passages.js";
import { afterPress } from "../shared/press.js";
import { evidenceOf } from "../shared/rows.js";
import { change } from "./grading_deciding.js";
import { sheet } from "./grading_sheet.js";

/** @typedef {import("../shared/decisions.js").Span} Span */

const HEADING_PX = 48; // above the text of the response
const UNDER_MESSAGE_PX = 200;
const text = wordsOf("grading-words");

/** @type {HTMLElement | null} the message that asks for a passage; it goes once evidence was added */
let asking = null;

/** The criterion that was decided last, unless it is the current one. */
function lastRow() {
  const row = sheet.justDecided ? rowOf(sheet.justDecided) : null;
  return row === currentRow() ? null : row;
}

/**
 * @param {string} key of a text that names a criterion
 * @param {HTMLElement} row
 */
function naming(key, row) {
  return text(key).replace("NUMBER", row.dataset.number ?? "");
}

/**
 * @param {HTMLElement} row
 * @param {Span} span
 */
function attach(row, span) {
  asking?.remove();
  const evidence = evidenceOf(row);
  if (!evidence.some(({ start, end }) => start === span.start && end === span.end)) {
    change(row, { evidence: [...evidence, span] });
  }
  document.getSelection()?.removeAllRanges();
  // Elsewhere the criterion is in view, and shows it.
  if (isStacked() || row !== currentRow()) toast(naming("attached", row));
}

export function attachEvidence(row = rowInSight()) {
  if (!sheet.writable || !row) return;
  const span = selectedSpan();
  if (span) attach(row, span);
  else {
    asking = toast(naming(isTouch() ? "select_touch" : "select", row));
    showView("response");
    if (isStacked()) showBeginning();
    pick((picked) => attach(row, picked));
  }
}

/** The heading of the response is not left under the message, which lies over the end of a narrow window. */
function showBeginning() {
  const { top } = element("response", HTMLElement).getBoundingClientRect();
  if (top > 0) bringIntoView({ top: top - HEADING_PX, bottom: top + UNDER_MESSAGE_PX });
}

export function attachToLast() {
  const row = lastRow();
  if (row) attachEvidence(row);
  else toast(text("none"));
}

/**
 * @param {HTMLElement} row
 * @param {number} index
 */
export function dropEvidence(row, index) {
  change(row, { evidence: evidenceOf(row).filter((_, place) => place !== index) });
}

/* The bar below the response */

function showBar() {
  const bar = sheetElement().querySelector("[data-attach-bar]");
  if (!(bar instanceof HTMLElement)) return;
  bar.hidden = !selectedSpan() || !rowInSight();
  if (bar.hidden) return;
  for (const [name, row] of Object.entries({ last: lastRow(), current: rowInSight() })) {
    const button = find(bar, `[data-attach="${name}"]`, HTMLElement);
    button.hidden = !row;
    if (row) find(button, "[data-attach-words]", HTMLElement).textContent = naming("evidence_for", row);
  }
}

let isDue = false;

/* While words are being selected the bar would cover some of them. */
function showBarSoon() {
  if (isDue) return;
  isDue = true;
  afterPress(() => {
    isDue = false;
    showBar();
  });
}

document.addEventListener("selectionchange", showBarSoon);
document.addEventListener("consilium:criterion", showBarSoon);
// A click on a button would empty the selection before it could be read.
document.addEventListener("mousedown", (event) => {
  if (targetWithin(event, "#criteria [data-do=evidence], [data-attach]")) event.preventDefault();
});
document.addEventListener("click", (event) => {
  const name = targetWithin(event, "[data-attach]")?.dataset.attach;
  if (name === "last") attachToLast();
  else if (name === "current") attachEvidence();
});
