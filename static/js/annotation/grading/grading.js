// @ts-check
/* Grading: a submitted response gives way to the next without a new page. grading_saving.js sends the decisions,
   outbox.js keeps them, rows.js shows them, and criteria.js and keys.js move through them. */
import { htmx } from "../../core/htmx.js";
import { element, find, optionalElement, targetWithin } from "../../core/page.js";
import { ask } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { endOffer, offerUndo } from "../../core/undo_offer.js";
import { wordsOf } from "../../core/words.js";
import "../shared/work_time.js";
import { openComments } from "../shared/comments.js";
import {
  applyFilter,
  forgetSheet,
  idOf,
  rowInSight,
  rowOf,
  rows,
  select,
  sheetElement,
  shownRows,
  toggleFilter,
} from "../shared/criteria.js";
import { clearDecision, decide, toggleBorderline, toggleLastBorderline, undo } from "./grading_deciding.js";
import { attachEvidence, attachToLast, dropEvidence } from "./grading_evidence.js";
import { keepOpenAnswer, openAnswer } from "./grading_answers.js";
import { isFinal, offerUndoWhilePossible, showFinalState, showUnsent } from "./grading_closed.js";
import { forgetNote, keepOpenNote, leaveNoteOfDecided, leaveOpenNote, openNote } from "./grading_notes.js";
import { conflicts, entriesOf, takeUpStored } from "./grading_saving.js";
import { queue, replaceSheet, sheet } from "./grading_sheet.js";
import { isUnchanged, lackOf, refuse, showSaving, summarise } from "./grading_status.js";
import { lookForOtherTabs } from "./grading_tabs.js";
import { onKeys } from "../shared/keys.js";
import { broadcast, pageOf, send, sendLeft, store } from "../shared/outbox.js";
import "../shared/divider.js";
import { startDock } from "../shared/dock.js";
import "../shared/find_in_response.js";
import { forgetPick } from "../shared/passages.js";
import { endPress } from "../shared/press.js";
import { changeOrder, decisionOf, show, startRows } from "../shared/rows.js";
import "../shared/second_press.js";

/**
 * @typedef {import("./grading_sheet.js").NextSheet} NextSheet
 * @typedef {{ next: { id: string } & Partial<NextSheet> | null, work: string }} Onwards the answer to handing in and to
 *   skipping; `next` holds the id alone where the page has the next response already
 */

const RESEND_MS = 1000;
const UNDO_SHOWN_MS = 30_000; // later the page of the response offers it
const text = wordsOf("grading-words");
const form = optionalElement("submit-form", HTMLFormElement);

document.addEventListener("click", (event) => {
  const row = targetWithin(event, "#criteria [data-row]");
  if (!row) return;
  const outcome = targetWithin(event, "[data-set]")?.dataset.set;
  const drop = targetWithin(event, "[data-drop]")?.dataset.drop;
  const action = targetWithin(event, "[data-do]")?.dataset.do;
  if (outcome !== undefined) decide(outcome, row);
  else if (drop !== undefined) dropEvidence(row, Number(drop));
  else if (action === "borderline") toggleBorderline(row);
  else if (action === "note") openNote(row);
  else if (action === "evidence") attachEvidence(row);
  else if (action === "clear") clearDecision(row);
});

/** @param {string} outcome */
function chooseInBar(outcome) {
  const number = leaveNoteOfDecided();
  if (number) toast(text("note_kept").replace("NUMBER", number));
  else decide(outcome);
}

/* Handing in, and the next response */
let busy = false;

async function submit() {
  if (!form || !sheet.writable || busy) return;
  leaveOpenNote();
  keepOpenAnswer();
  endPress(); // saves a note that lost the focus to the button, so that it is sent along
  if (!sheet.unchangedConfirmed && isUnchanged()) {
    element("unchanged", HTMLDialogElement).showModal();
    return;
  }
  busy = true;
  try {
    await queue.underWay;
    if (queue.questions.size) {
      conflicts.askNext();
      return;
    }
    queue.stopTimer();
    // All that waits is sent along: after handing in, nothing can be saved any more.
    const batch = queue.waiting();
    const have = sheet.prefetched?.id ?? "";
    const answer = await send(sheetElement().dataset.submitUrl ?? "", entriesOf(batch), { have });
    const { status, body } = answer;
    const hasResults = body?.results?.length > 0;
    if (hasResults) await queue.settle(answer, batch);
    if (status === 200) {
      broadcast({ type: "handed-in", assignment: sheet.assignment });
      // What ended an attempt to qualify cannot be undone, nor what was submitted before it.
      if (body.undo === false) endOffer();
      else offerUndoOfSubmission();
      goOn(body);
    } else if (body?.missing) {
      const taken = takeUpStored(body.stored);
      const changed = taken ? text(taken > 1 ? "taken_many" : "taken_one").replace("NUMBER", String(taken)) : "";
      refuse([body.detail, changed].filter(Boolean).join(" "), body.missing);
      goTo(rowOf(body.missing[0]));
    } else {
      // The decisions may be saved, and the response or its batch be closed before it is handed in.
      if (hasResults && isFinal(body)) showFinalState();
      else if (hasResults) refuse(body.detail);
      else await queue.settle(answer, batch);
      const isWaiting = sheet.writable && queue.pending.size > 0 && !queue.questions.size;
      if (!status) toast(text("lost_submit"), "warning", { until: "online" });
      else if (isWaiting) toast(text("unsent"), "warning");
    }
  } finally {
    busy = false;
    showSaving();
    setTimeout(() => queue.flush(), RESEND_MS);
  }
}

function offerUndoOfSubmission() {
  const { undoUrl, heading = "" } = sheetElement().dataset;
  const words = text("submitted").replace("HEADING", heading);
  offerUndo({ url: undoUrl, text: words, label: text("undo_submission"), shownMs: UNDO_SHOWN_MS });
}

/** @param {HTMLElement | null} row that lacks a decision, or the note on it */
function goTo(row) {
  // The filter of what is to be reviewed again stays where it shows the criterion.
  if (!row || !shownRows().includes(row)) applyFilter("all");
  select(row);
  if (row && lackOf(row) === "note") openNote(row);
  else if (row && lackOf(row) === "review") openAnswer(row);
}

/** @param {HTMLFormElement} skipForm */
async function skip(skipForm) {
  if (busy) return;
  busy = true;
  const problem = find(skipForm, "[data-skip-problem]", HTMLElement);
  const { reason, note } = Object.fromEntries(new FormData(skipForm));
  try {
    await queue.flush();
    if (!sheet.writable) return; // what was sent was refused for good
    const have = sheet.prefetched?.id ?? "";
    const { status, body } = await ask("POST", sheetElement().dataset.skipUrl ?? "", { reason, note, have });
    if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    else if (isFinal(body)) showFinalState();
    problem.hidden = status === 200;
    problem.textContent = body?.detail ?? text("lost");
    if (status !== 200) return;
    skipForm.reset();
    element("skip", HTMLDialogElement).close();
    if (reason === "later")
      offerUndo({ url: pageOf(sheet.assignment), text: text("later"), label: text("open_again"), isPage: true });
    else {
      endOffer();
      toast(text("skipped"));
    }
    goOn(body);
  } finally {
    busy = false;
  }
}

/**
 * The sheet of the next response, where the page has all of it.
 * @param {Onwards["next"]} next
 * @returns {Partial<NextSheet> | null}
 */
function sheetOf(next) {
  if (next?.html) return next;
  return next && sheet.prefetched?.id === next.id ? sheet.prefetched : null;
}

/** @param {Onwards} onwards */
function goOn({ next, work }) {
  const following = sheetOf(next);
  if (!following?.writable) {
    location.assign(next ? pageOf(next.id) : work);
    return;
  }
  const holder = document.createElement("template");
  holder.innerHTML = following.html ?? "";
  sheetElement().replaceWith(find(holder.content, "#work", HTMLElement));
  htmx()?.process(sheetElement());
  window.history.pushState({ sheet: following.id }, "", following.url);
  const { heading = "", submitUrl = "" } = sheetElement().dataset;
  document.title = `${heading} · Consilium`;
  element("place", HTMLElement).textContent = heading;
  element("announce", HTMLElement).textContent = heading;
  if (form) form.action = submitUrl;
  begin();
  document.dispatchEvent(new CustomEvent("consilium:sheet"));
}

form?.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
document.addEventListener("click", (event) => {
  if (!targetWithin(event, "[data-submit-unchanged]")) return;
  element("unchanged", HTMLDialogElement).close();
  sheet.unchangedConfirmed = true;
  submit();
});
document.getElementById("skip-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) skip(event.target);
});

/* Keys */
onKeys(["m"], () => decide("met"));
onKeys(["n"], () => decide("not_met"));
onKeys(["shift+m"], () => decide("met", rowInSight(), { borderline: true }));
onKeys(["shift+n"], () => decide("not_met", rowInSight(), { borderline: true }));
onKeys(["c"], () => decide("cannot_assess"));
onKeys(["b"], () => toggleBorderline(rowInSight()));
onKeys(["shift+b"], toggleLastBorderline);
onKeys(["Delete", "Backspace"], () => clearDecision());
onKeys(["e"], () => attachEvidence());
onKeys(["shift+e"], attachToLast);
onKeys(["t"], () => openNote());
onKeys(["u"], () => sheet.writable && undo());
onKeys(["a"], changeOrder);
onKeys(["o"], () => toggleFilter("open"));
onKeys(["l"], () => toggleFilter("flagged"));
onKeys(["d"], openComments);
document.addEventListener("keydown", (event) => {
  // Also while a note is open: the note is saved first.
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.altKey || event.defaultPrevented) return;
  if (document.querySelector("dialog[open]")) return;
  event.preventDefault();
  submit();
});

/* Coming and going */
let lastPath = location.pathname;
// Back and forward lead to real pages.
window.addEventListener("popstate", (event) => {
  if (location.pathname.includes(sheet.assignment)) return;
  if (event.state || location.pathname !== lastPath) location.reload();
});
window.addEventListener("focus", () => {
  lookForOtherTabs();
  if (!queue.halted) queue.resume();
});
window.addEventListener("pagehide", () => {
  keepOpenNote();
  keepOpenAnswer();
  broadcast({ type: "bye", assignment: sheet.assignment });
});
// A page from the browser's back-forward cache shows old versions.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());
window.addEventListener("beforeunload", (event) => {
  keepOpenNote();
  keepOpenAnswer();
  if (queue.pending.size) event.preventDefault();
});

/* Starts a sheet: entries still in the outbox show as the person left them, unless the response can only be read; then
   selects the first open criterion. */
function begin() {
  const { assignment = "", writable, saved = "" } = sheetElement().dataset;
  lastPath = location.pathname;
  forgetNote();
  conflicts.close();
  replaceSheet({
    assignment,
    writable: Boolean(writable),
    stored: {},
    undoSteps: [],
    justDecided: null,
    unchangedConfirmed: false,
    lastSaved: saved,
    prefetched: null,
  });
  queue.open(store.of(assignment));
  forgetSheet();
  forgetPick();
  startRows();
  for (const row of rows()) sheet.stored[idOf(row)] = { ...decisionOf(row), version: Number(row.dataset.version) };
  if (sheet.writable) takeUpUnsent();
  else {
    showUnsent();
    offerUndoWhilePossible();
  }
  summarise();
  const linked = linkedRow();
  // Returned work shows first what is to be reviewed.
  if (sheetElement().dataset.toReview && !linked) applyFilter("review");
  select(linked ?? rows().find(lackOf) ?? shownRows()[0]);
  showSaving();
  lookForOtherTabs();
  queue.flush();
}

function takeUpUnsent() {
  const { assignment } = sheet;
  for (const [id, entry] of Object.entries(store.entriesOf(assignment))) {
    const row = rowOf(id);
    if (row) {
      queue.takeUp(id, entry);
      show(row, entry);
    } else store.drop(assignment, id, entry.client_id);
  }
}

function linkedRow() {
  const linked = location.hash.startsWith("#criterion-") ? document.querySelector(location.hash) : null;
  return linked instanceof HTMLElement ? linked : null;
}

begin();
startDock({ choose: chooseInBar, undo: () => sheet.writable && undo() });
sendLeft(sheet.assignment);
