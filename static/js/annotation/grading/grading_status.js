// @ts-check
/* What the grading page says about itself: how far it is, what is saved, and why something was refused. */
import { element, find, optionalElement } from "../../core/page.js";
import { showSaving as showStatus } from "../../core/save_status.js";
import { ask } from "../../core/server.js";
import { wordsOf } from "../../core/words.js";
import { applyFilter, counted, filters, idOf, markLacking, rowOf, rows, sheetElement } from "../shared/criteria.js";
import { isReviewed, totals } from "../shared/decisions.js";
import { showInDock } from "../shared/dock.js";
import { showView } from "../shared/panes.js";
import { afterPress } from "../shared/press.js";
import { queue, sheet } from "./grading_sheet.js";
import { decisionOf, paintEvidence } from "../shared/rows.js";

const text = wordsOf("grading-words");
const savedBox = optionalElement("saved", HTMLElement);

filters.open = (row) => !row.dataset.outcome;
filters.review = (row) => Boolean(row.dataset.review);
// A criterion that was reviewed stays in its list and is no longer counted.
counted.review = (row) => {
  const { asked, review, before } = row.dataset;
  return Boolean(asked ? isToReview(row) : review && before && !isReviewed(decisionOf(row), JSON.parse(before)));
};
filters.flagged = (row) => row.dataset.borderline === "1" || row.dataset.outcome === "cannot_assess";

export function summarise() {
  const { decided, all, isNearEnd } = totals(rows().map((row) => row.dataset.outcome ?? ""));
  const bar = element("graded", HTMLProgressElement);
  bar.max = all;
  bar.value = decided;
  element("graded-text", HTMLElement).textContent = `${decided} / ${all}`;
  document.getElementById("submit")?.classList.toggle("ready", decided === all);
  paintEvidence();
  showInDock();
  afterPress(showWhatIsLeft);
  if (sheet.writable && isNearEnd) prefetch();
}

/** What hides rows, or comes and goes above them. */
function showWhatIsLeft() {
  applyFilter();
  renewLacking();
  const line = document.querySelector("[data-left-to-review]");
  if (!(line instanceof HTMLElement) || !sheet.writable) return;
  const left = rows().filter(counted.review).length;
  line.textContent = text(left > 1 ? "review_many" : left ? "review_one" : "reviewed").replace("NUMBER", String(left));
}

async function prefetch() {
  if (sheet.prefetched !== null) return;
  sheet.prefetched = {}; // requested, not received yet
  const { assignment } = sheet;
  const { status, body } = await ask("GET", sheetElement().dataset.nextUrl ?? "");
  if (assignment === sheet.assignment) sheet.prefetched = status === 200 ? body : {};
}

export function showSaving() {
  const state = queue.state({ saved: Boolean(sheet.lastSaved) });
  const count = queue.pending.size;
  const words = {
    offline: () => `${count} ${text("waiting")}`,
    kept: () => `${count} ${text("kept")}`,
    saving: () => text("saving"),
    early: () => text("saving"),
    saved: () => `${text("saved")} ${sheet.lastSaved}`,
    unchanged: () => text("saves"),
  }[state]();
  showStatus(savedBox, state, words);
}

/**
 * @param {string} detail
 * @param {number[]} [missing] criteria that are to be decided first
 */
export function refuse(detail, missing) {
  // The rubric has a new version since the page was opened: the missing criteria are not on the page.
  if (missing?.some((id) => !rowOf(id))) {
    location.reload();
    return;
  }
  afterPress(() => showRefusal(detail, missing));
  showView("criteria");
}

/**
 * @param {string} detail
 * @param {number[]} [missing]
 */
function showRefusal(detail, missing) {
  const notice = document.createElement("div");
  notice.className = `notice ${missing ? "warning" : "error"}`;
  notice.setAttribute("role", "alert");
  notice.dataset.refused = "";
  const words = document.createElement("p");
  words.textContent = detail;
  notice.append(words);
  if (missing?.length) {
    notice.dataset.missing = String(missing[0]);
    words.append(" ", jumpsTo(missing));
    markLacking(lackInWords);
  }
  element("refusal", HTMLElement).replaceChildren(notice);
}

/**
 * What a criterion lacks before the response can be handed in.
 * @param {HTMLElement} row
 * @returns {"decision" | "note" | "review" | ""}
 */
export function lackOf(row) {
  const { outcome, note } = row.dataset;
  if (!outcome) return "decision";
  if (outcome === "cannot_assess" && sheetElement().dataset.noteNeeded && !note) return "note";
  return isToReview(row) ? "review" : "";
}

/** @param {HTMLElement} row */
function isToReview(row) {
  const { asked, before } = row.dataset;
  return Boolean(asked && before && !isReviewed(decisionOf(row), JSON.parse(before)));
}

/**
 * True of a returned response in which the checker marked no criterion, and nothing was changed since: what the checker
 * wrote may have been overlooked.
 */
export function isUnchanged() {
  const all = rows();
  if (!all.length || all.some(({ dataset }) => dataset.asked || !dataset.before)) return false;
  return all.every((row) => !isReviewed(decisionOf(row), JSON.parse(row.dataset.before ?? "")));
}

/** @param {HTMLElement} row */
function lackInWords(row) {
  const lack = lackOf(row);
  return lack && text(`lacks_${lack}`);
}

/** A refusal and its marks go as what was missing is supplied. */
function renewLacking() {
  if (!document.querySelector("#criteria [data-lacks]")) return;
  const lacking = markLacking(lackInWords);
  const notice = document.querySelector("#refusal [data-missing]");
  if (!(notice instanceof HTMLElement)) return;
  const { length } = notice.querySelectorAll("[data-jump]");
  if (!lacking.length) clearRefusal();
  else if (lacking.length !== length) {
    find(notice, "p", HTMLElement).replaceChildren(text("lacking"), " ", jumpsTo(lacking.map(idOf)));
  }
}

/** @param {(number | string)[]} ids of criteria */
function jumpsTo(ids) {
  const jumps = document.createElement("span");
  jumps.className = "jumps";
  for (const id of ids) {
    const link = document.createElement("a");
    link.href = `#criterion-${id}`;
    link.dataset.jump = String(id);
    link.textContent = rowOf(id)?.dataset.number ?? "?";
    jumps.append(link);
  }
  return jumps;
}

export function clearRefusal() {
  afterPress(() => element("refusal", HTMLElement).replaceChildren());
}
