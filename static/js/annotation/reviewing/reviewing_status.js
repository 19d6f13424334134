// @ts-check
/* What the checking and adjudication pages say about themselves: the evidence in the text, how far the work is, what
   is saved, and why something was refused. */
import { element, optionalElement } from "../../core/page.js";
import { showSaving as showStatus } from "../../core/save_status.js";
import { wordsOf } from "../../core/words.js";
import { applyFilter, currentRow, filters, markLacking, rows, sheetElement } from "../shared/criteria.js";
import { showInDock } from "../shared/dock.js";
import { showView } from "../shared/panes.js";
import { paint } from "../shared/passages.js";
import { afterPress } from "../shared/press.js";
import { finishing, queue, sheet } from "./reviewing_sheet.js";

/** @typedef {import("../shared/decisions.js").Span & { letter?: string }} LetteredSpan `letter` of the annotator */

const text = wordsOf("reviewing-words");

filters.flagged = (row) => Boolean(row.dataset.flagged);
filters.amended = (row) => Boolean(row.dataset.amended || row.dataset.marked);
filters.again = (row) => Boolean(row.dataset.again);

/**
 * @param {HTMLElement} row
 * @returns {import("../shared/text_spans.js").Mark[]}
 */
function marksOf(row) {
  /** @type {LetteredSpan[]} */
  const evidence = JSON.parse(row.dataset.evidence ?? "");
  const kind = row === currentRow() ? "current" : "other";
  return evidence.map((span) => ({ ...span, label: `${row.dataset.number}${span.letter ?? ""}`, kind }));
}

function paintEvidence() {
  paint(rows().flatMap(marksOf));
}

document.addEventListener("consilium:criterion", paintEvidence);

/** Marks the conflicts without a ruling, because of which the work could not be finished. */
export function markOpenConflicts() {
  markLacking((row) => (row.dataset.conflict && !row.dataset.outcome ? text("lacks_ruling") : ""));
}

export function summarise() {
  paintEvidence();
  afterPress(() => applyFilter());
  showInDock();
  if (document.querySelector("#criteria [data-lacks]")) markOpenConflicts();
  const all = rows();
  const summary = document.getElementById("summary");
  const amended = all.filter((row) => row.dataset.amended).length;
  const marked = all.filter((row) => row.dataset.marked).length;
  if (summary) {
    const counts = [text("amended_number").replace("NUMBER", String(amended))];
    if (marked) counts.push(text("to_review_number").replace("NUMBER", String(marked)));
    summary.textContent = counts.join(" · ");
  }
  const bar = optionalElement("graded", HTMLProgressElement);
  if (!bar) return;
  bar.max = Number(sheetElement().dataset.conflicts);
  bar.value = all.filter((row) => row.dataset.conflict && row.dataset.outcome).length;
  element("graded-text", HTMLElement).textContent = `${bar.value} / ${bar.max}`;
  document.getElementById("submit")?.classList.toggle("ready", bar.value === bar.max);
}

export function showSaving() {
  if (!sheet.writable) {
    showStatus(optionalElement("saved", HTMLElement), "unchanged", text("closed"));
    return;
  }
  const state = queue.state({ typed: finishing.busy, saved: Boolean(sheet.savedAt) });
  const waiting = queue.pending.size;
  const words = {
    offline: () => (waiting ? `${waiting} ${text("waiting")}` : text("saving")),
    kept: () => (waiting ? `${waiting} ${text("kept")}` : text("saving")),
    saving: () => text("saving"),
    early: () => text("saving"),
    saved: () => `${text("saved")} ${sheet.savedAt}`,
    unchanged: () => text("saves"),
  }[state]();
  showStatus(optionalElement("saved", HTMLElement), waiting || !finishing.busy ? state : "saving", words);
}

/**
 * @param {string} message
 * @param {{ about?: string, link?: Node | null }} [more] `about`: the criterion that it is about; `link`: where to
 *   continue
 */
export function refuse(message, { about = "", link = null } = {}) {
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  notice.dataset.about = about;
  const line = document.createElement("p");
  line.textContent = message;
  if (link) line.append(" ", link);
  notice.append(line);
  afterPress(() => element("refusal", HTMLElement).replaceChildren(notice));
  showView("criteria");
}

/** @param {...string} abouts only a message about one of these criteria; "" stands for a message about none */
export function clearRefusal(...abouts) {
  afterPress(() => {
    const place = element("refusal", HTMLElement);
    const about = place.querySelector("[data-about]")?.getAttribute("data-about") ?? "";
    if (!abouts.length || abouts.includes(about)) place.replaceChildren();
  });
}
