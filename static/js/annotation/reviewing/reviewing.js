// @ts-check
/* Checking and adjudicating: an outcome for a criterion, with a reason where one is needed, and the next piece of work
   without a page load. reviewing_saving.js sends what was chosen, reviewing_sheet.js keeps it until then. */
import { element, find, optionalElement, targetWithin } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { endOffer, hasOffer, offerUndo } from "../../core/undo_offer.js";
import { wordsOf } from "../../core/words.js";
import "../shared/work_time.js";
import { openComments } from "../shared/comments.js";
import {
  applyFilter,
  currentRow,
  forgetSheet,
  idOf,
  rowOf,
  rows,
  select,
  sheetElement,
  shownRows,
  toggleFilter,
} from "../shared/criteria.js";
import "../shared/divider.js";
import { startDock } from "../shared/dock.js";
import "../shared/find_in_response.js";
import { onKeys } from "../shared/keys.js";
import { showView } from "../shared/panes.js";
import { forgetPick } from "../shared/passages.js";
import "../shared/second_press.js";
import { choose, isOpenConflict, mayWrite, selectNextFlagged, undo, writeReason } from "./reviewing_choosing.js";
import { askWhichHolds, closeQuestion } from "./reviewing_conflict.js";
import { parse, renewRow, takeUpKept } from "./reviewing_entries.js";
import { askBeforeAccepting, listOf, showAmended, showMarked } from "./reviewing_questions.js";
import { earlyReason, existingReasonField, isUnsaved, reasonBox, showReason } from "./reviewing_reasons.js";
import { closeSheet, isStillSamePerson, pageOf, post, sentenceOf } from "./reviewing_saving.js";
import { finishing, forgetKept, keep, keptEntries, openQueue, queue, replaceSheet, sheet } from "./reviewing_sheet.js";
import { markOpenConflicts, refuse, showSaving, summarise } from "./reviewing_status.js";

/**
 * @typedef {import("./reviewing_saving.js").PageAnswer} PageAnswer
 * @typedef {(message: string, row?: HTMLElement) => void} ShowMessage `row`: the criterion that the message is about
 */

const text = wordsOf("reviewing-words");
const returnDialog = optionalElement("send-back", HTMLDialogElement);
const returnForm = optionalElement("return-form", HTMLFormElement);
const finishForm = optionalElement("finish-form", HTMLFormElement);
const releaseForm = optionalElement("release-form", HTMLFormElement);

/* Finishing, and the next */

/** @param {HTMLFormElement} form */
function noteField(form) {
  return find(form, "[name=note]", HTMLTextAreaElement);
}

/** @param {boolean} busy */
function setBusy(busy) {
  const focused = document.activeElement;
  finishing.busy = busy;
  const criteria = element("criteria", HTMLElement);
  // An inert field takes no more letters; mayWrite() stops outcomes that are chosen by key.
  criteria.inert = busy;
  criteria.setAttribute("aria-busy", String(busy));
  if (returnForm) noteField(returnForm).readOnly = busy;
  if (!busy && (focused === document.body || !focused) && !document.querySelector("dialog[open]")) {
    currentRow()?.focus({ preventScroll: true });
  }
  showSaving();
}

/** @param {HTMLElement} row that is unsaved */
function lackingIn(row) {
  const isTyped = existingReasonField(row).value.trim();
  const key = earlyReason(row) ? "early_finish" : isTyped ? "typed" : "reasonless";
  return text(key).replace("NUMBER", row.dataset.number ?? "");
}

/** @param {HTMLElement} row whose reason is not saved */
function goToReason(row) {
  if (row.hidden) applyFilter("all");
  showView("criteria");
  select(row, { focus: false });
  existingReasonField(row).focus();
}

/**
 * @param {string} url
 * @param {Record<string, string>} values
 * @param {ShowMessage} showMessage
 */
async function finish(url, values, showMessage) {
  if (finishing.busy || !sheet.writable) return;
  const unsaved = rows().find(isUnsaved);
  if (unsaved) {
    showMessage(lackingIn(unsaved), unsaved);
    if (!returnDialog?.open) goToReason(unsaved);
    return;
  }
  let leaving = false;
  setBusy(true);
  try {
    takeUpKept();
    await queue.flushAll();
    if (!sheet.writable) {
      returnDialog?.close(); // the notice on the page says why
      return;
    }
    if (queue.questions.size) showMessage(text("asked"));
    else if (queue.pending.size) showMessage(text(queue.halted === "somebody" ? "somebody" : "unsent"));
    else leaving = await finishNow(url, { ...values, shown: shownVersions() }, showMessage);
  } finally {
    if (!leaving) setBusy(false);
    askWhichHolds({ evenWhileTyping: true });
  }
}

/** The version of each criterion that the page shows: the server refuses where another one is stored. */
function shownVersions() {
  return rows()
    .map((row) => `${idOf(row)}:${row.dataset.version}`)
    .join(" ");
}

/**
 * True where the browser is leaving for another page.
 * @param {string} url
 * @param {Record<string, string>} values
 * @param {ShowMessage} showMessage
 */
async function finishNow(url, values, showMessage) {
  const answer = await post(url, values);
  const { status, html } = answer;
  if (status === 200) {
    forgetKept();
    const { finishUrl, undoUrl } = sheetElement().dataset;
    const done = messageOf(answer) || text(sheet.adjudicating ? "adjudicated" : "accepted");
    const label = text(sheet.adjudicating ? "undo_adjudication" : "undo_acceptance");
    if (url === finishUrl) offerUndo({ url: undoUrl, text: done, label });
    else endOffer();
    return !goToNext(answer);
  }
  if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  else if (status === 0 || status >= 500) showMessage(text("lost"));
  else if (status === 403 || status === 404) {
    if (!(await isStillSamePerson())) return false;
    const message = status === 404 ? await closeSheet() : text("lost");
    if (status === 403 || returnDialog?.open) showMessage(message);
  } else {
    const changed = status === 409 ? await showStored() : [];
    if (changed.length) {
      returnDialog?.close(); // what changed is under it; its note is kept
      showOnPage(`${sentenceOf(html)} ${changedIn(changed)}`);
      applyFilter("all");
      select(rowOf(changed[0]));
    } else {
      showMessage(sentenceOf(html));
      markOpenConflicts();
      select(rows().find(isOpenConflict));
    }
  }
  return false;
}

/** @param {string[]} ids of criteria */
function changedIn(ids) {
  const numbers = ids.map((id) => rowOf(id)?.dataset.number ?? "");
  return text(ids.length === 1 ? "changed_one" : "changed_many").replace("NUMBERS", listOf(numbers));
}

/**
 * Show the criteria as they are stored, after they were changed in another tab or on another device.
 * @returns {Promise<string[]>} the ids of the rows that were renewed
 */
async function showStored() {
  const stored = await pageOf(sheetElement().dataset.url ?? "");
  /** @type {string[]} */
  const changed = [];
  for (const row of rows()) {
    const newRow = stored?.querySelector(`[data-row="${CSS.escape(idOf(row))}"]`);
    if (!(newRow instanceof HTMLElement) || newRow.dataset.version === row.dataset.version) continue;
    // `finish` has refused what is unsaved: an open field holds nothing that is not stored.
    const box = reasonBox(row);
    if (box) box.hidden = true;
    renewRow(idOf(row), newRow);
    changed.push(idOf(row));
  }
  sheet.undoSteps = sheet.undoSteps.filter((step) => !changed.includes(step.id)); // they restore what is stored no more
  summarise();
  return changed;
}

/**
 * The server's message about the piece that was finished; empty where the next page shows it.
 * @param {PageAnswer} answer
 * @returns {string}
 */
function messageOf({ trigger }) {
  return trigger ? (JSON.parse(trigger).toast?.text ?? "") : "";
}

/**
 * True where the next piece is on the page by now; else the browser is leaving for another page.
 * @param {PageAnswer} answer
 */
function goToNext(answer) {
  const { html, leave } = answer;
  const next = parse(html).querySelector("#work");
  if (leave || !(next instanceof HTMLElement)) {
    if (leave) location.assign(leave);
    else location.reload();
    return false;
  }
  if (returnDialog?.open) returnDialog.close();
  returnForm?.reset();
  sheetElement().replaceWith(next);
  const { work, url, heading = "" } = next.dataset;
  window.history.pushState({ work }, "", url);
  begin();
  document.title = `${heading} · Consilium`;
  element("place", HTMLElement).textContent = heading;
  const message = messageOf(answer);
  if (!hasOffer(message)) toast(message);
  element("announce", HTMLElement).textContent = `${message} ${heading}`;
  document.dispatchEvent(new CustomEvent("consilium:sheet"));
  return true;
}

/** @type {ShowMessage} */
function showOnPage(message, row) {
  refuse(message, { about: row && idOf(row) });
}

/** @param {{ confirmed?: string }} [options] `confirmed`: the dialog in which a question was answered */
function accept({ confirmed } = {}) {
  const canFinish = sheet.writable && !finishing.busy && !rows().some(isUnsaved);
  if (canFinish && askBeforeAccepting(confirmed)) return;
  if (finishForm) finish(sheetElement().dataset.finishUrl ?? "", {}, showOnPage);
}

/**
 * @param {string} message empty where there is none
 * @param {HTMLElement} [row] that it is about: a button leads there
 */
function showInDialog(message, row) {
  if (!returnDialog) return;
  const problem = find(returnDialog, "[data-problem]", HTMLElement);
  find(problem, "p", HTMLElement).textContent = message;
  problem.hidden = !message;
  const button = find(problem, "[data-go-to]", HTMLElement);
  button.hidden = !row;
  button.dataset.goTo = row ? idOf(row) : "";
  if (row) button.textContent = text("go_to").replace("NUMBER", row.dataset.number ?? "");
}

returnDialog?.addEventListener("click", (event) => {
  const row = rowOf(targetWithin(event, "[data-go-to]")?.dataset.goTo ?? "");
  if (!row) return;
  returnDialog.close();
  showInDialog("");
  goToReason(row);
});

function sendBack() {
  if (!returnForm) return;
  finish(sheetElement().dataset.returnUrl ?? "", { note: noteField(returnForm).value }, showInDialog);
}

function openReturn() {
  if (!mayWrite() || !returnDialog || !returnForm || returnDialog.open) return;
  showInDialog("");
  showAmended();
  showMarked();
  const note = noteField(returnForm);
  note.value ||= keptEntries().note?.note ?? "";
  returnDialog.showModal();
  note.focus();
}

finishForm?.addEventListener("submit", (event) => {
  event.preventDefault();
  const dialog = event.submitter?.closest("dialog");
  dialog?.close();
  accept({ confirmed: dialog?.id });
});
returnForm?.addEventListener("submit", (event) => {
  event.preventDefault();
  sendBack();
});
releaseForm?.addEventListener("submit", (event) => {
  if (sheet.adjudicating) {
    // Rulings are kept for the next adjudicator, so all of them are saved first.
    event.preventDefault();
    finish(sheetElement().dataset.releaseUrl ?? "", {}, showOnPage);
    return;
  }
  const isConfirmed = event.submitter?.closest("dialog");
  if (isConfirmed || !rows().some((row) => row.dataset.amended || row.dataset.marked || isUnsaved(row))) {
    forgetKept();
    return;
  }
  event.preventDefault();
  element("release-check", HTMLDialogElement).showModal();
});
document.addEventListener("click", (event) => {
  if (targetWithin(event, "[data-open-return]")) openReturn();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  if (event.altKey || event.repeat || event.defaultPrevented) return;
  const open = document.querySelector("dialog[open]");
  if (open && open !== returnDialog) return;
  event.preventDefault();
  if (open) sendBack();
  else accept();
});
document.addEventListener("input", (event) => {
  if (!returnForm || !(event.target instanceof Node && returnForm.contains(event.target))) return;
  const { value } = noteField(returnForm);
  keep("note", value ? { note: value } : null);
});
// Back and forward lead to real pages.
window.addEventListener("popstate", () => location.pathname !== sheetElement().dataset.url && location.reload());
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
window.addEventListener("beforeunload", (event) => queue.pending.size && event.preventDefault());

/* Keys */
onKeys(["m"], () => choose("met"));
onKeys(["n"], () => choose("not_met"));
onKeys(["c"], () => choose("cannot_assess"));
onKeys(["f"], () => (sheet.adjudicating ? choose("faulty") : selectNextFlagged()));
onKeys(["t"], () => writeReason());
onKeys(["u"], () => mayWrite() && undo());
onKeys(["r"], openReturn);
onKeys(["l"], () => !sheet.adjudicating && toggleFilter("flagged"));
onKeys(["a"], () => {
  if (!sheet.adjudicating) {
    choose("review");
    return;
  }
  const other = ".segmented a:is([data-everything], [data-conflicts-only]):not([aria-current])";
  const link = document.querySelector(other);
  if (link instanceof HTMLElement) link.click();
});
if (document.getElementById("comments")) onKeys(["d"], openComments);

/* Starts a sheet: shows and sends what the browser still holds of it. */
function begin() {
  const { work = "", reasonFor, writable, finishUrl = "", returnUrl = "", releaseUrl = "" } = sheetElement().dataset;
  replaceSheet({
    work,
    adjudicating: reasonFor === "faulty",
    writable: Boolean(writable),
    undoSteps: [],
    savedAt: "",
  });
  openQueue();
  closeQuestion();
  forgetSheet();
  forgetPick();
  if (finishForm) finishForm.action = finishUrl;
  if (returnForm) returnForm.action = returnUrl;
  if (releaseForm) releaseForm.action = releaseUrl;
  if (sheet.writable) {
    takeUpKept();
    showKeptReasons();
  }
  summarise();
  // A later round shows first what was reviewed or changed.
  if (sheetElement().dataset.again) applyFilter("again");
  select(rows().find(isOpenConflict) ?? shownRows()[0]);
  showSaving();
  queue.flush();
}

/** Reasons that were being written. */
function showKeptReasons() {
  for (const [id, entry] of Object.entries(keptEntries())) {
    const row = rowOf(id);
    if (row && entry?.reason && !entry.unsent) showReason(row, entry.outcome ?? "", entry.reason);
  }
}

begin();
startDock({ choose: (outcome) => choose(outcome), undo: () => mayWrite() && undo() });
