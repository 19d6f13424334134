// @ts-check
/* Rows of the grading page: what a decision looks like, the evidence in the text, and the order of the criteria. */
import { element, find, findAll, isTouch, targetWithin } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { applyFilter, currentRow, list, rows, select, sheetElement } from "./criteria.js";
import { who } from "./outbox.js";
import { paint, quote } from "./passages.js";

/**
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Span} Span
 */

const MAX_QUOTE = 90;
const orderKey = `consilium.order:${who}`;
const text = wordsOf("grading-words");

function isWritable() {
  return Boolean(sheetElement().dataset.writable);
}

/* What the page shows, saved or not */

/**
 * @param {HTMLElement} row
 * @returns {Span[]}
 */
export function evidenceOf(row) {
  return JSON.parse(row.dataset.evidence ?? "");
}

/**
 * @param {HTMLElement} row
 * @returns {Decision}
 */
export function decisionOf(row) {
  return {
    outcome: row.dataset.outcome ?? "",
    borderline: row.dataset.borderline === "1",
    note: row.dataset.note ?? "",
    evidence: evidenceOf(row),
    answer: row.dataset.answer ?? "",
  };
}

/**
 * @param {HTMLElement} row
 * @param {Decision} decision
 */
export function show(row, decision) {
  row.dataset.outcome = decision.outcome;
  row.dataset.borderline = decision.borderline ? "1" : "";
  row.dataset.note = decision.note;
  row.dataset.evidence = JSON.stringify(
    decision.evidence.map((span) => ({ ...span, quote: span.quote ?? quote(span) })),
  );
  if (row.dataset.answer !== undefined) showAnswer(row, decision.answer ?? "");
  row.classList.toggle("decided", Boolean(decision.outcome));
  for (const button of findAll(row, "[data-set]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(button.dataset.set === decision.outcome));
  }
  find(row, "[data-borderline-flag]", HTMLElement).hidden = !decision.borderline;
  if (decision.note || decision.evidence.length || row.querySelector(".extra")) showExtra(row, decision);
}

/**
 * The answer to the checker; a field in which it is being written is not disturbed.
 * @param {HTMLElement} row
 * @param {string} answer
 */
function showAnswer(row, answer) {
  row.dataset.answer = answer;
  const field = row.querySelector("[data-answer-field]");
  if (field instanceof HTMLTextAreaElement && document.activeElement !== field) field.value = answer;
}

/** @param {string} id */
function cloneTemplate(id) {
  const clone = element(id, HTMLTemplateElement).content.firstElementChild?.cloneNode(true);
  if (!(clone instanceof HTMLElement)) throw new Error(`The template "${id}" is empty.`);
  return clone;
}

/**
 * Evidence, note and buttons of a row. They are made only for rows with evidence or a note, and for the row that is
 * worked on.
 * @param {HTMLElement} row
 */
export function extraOf(row) {
  const existing = row.querySelector(".extra");
  if (existing instanceof HTMLElement) return existing;
  const extra = cloneTemplate("extra");
  const field = find(extra, "textarea", HTMLTextAreaElement);
  field.setAttribute("aria-label", text("note").replace("NUMBER", row.dataset.number ?? ""));
  field.placeholder = text(isTouch() ? "why_touch" : "why");
  // By touch there is no Esc that ends the note.
  find(extra, "[data-note-done]", HTMLElement).hidden = !isTouch();
  if (!isWritable()) find(extra, ".actions", HTMLElement).remove();
  row.append(extra);
  return extra;
}

/**
 * @param {HTMLElement} row
 * @param {Decision} [decision]
 */
export function showExtra(row, decision = decisionOf(row)) {
  const extra = extraOf(row);
  const spans = evidenceOf(row);
  const quotes = find(extra, ".quotes", HTMLElement);
  // Unchanged quotes stay: one of their buttons may be held down.
  if (quotes.dataset.shown !== row.dataset.evidence) {
    quotes.hidden = !spans.length;
    quotes.replaceChildren(...spans.map(quoteItem));
    quotes.dataset.shown = row.dataset.evidence;
  }
  const editor = find(extra, "[data-note-edit]", HTMLElement);
  const field = find(editor, "textarea", HTMLTextAreaElement);
  if (editor.hidden || document.activeElement !== field) field.value = decision.note;
  const note = find(extra, "[data-note-shown]", HTMLElement);
  note.textContent = decision.note;
  note.hidden = !decision.note || !editor.hidden;
  extra.querySelector("[data-do=borderline]")?.setAttribute("aria-pressed", String(decision.borderline));
  const clear = extra.querySelector("[data-do=clear]");
  if (clear instanceof HTMLElement) clear.hidden = !decision.outcome;
}

/**
 * @param {Span} span
 * @param {number} index
 */
function quoteItem(span, index) {
  const item = cloneTemplate("quote");
  const words = Array.from(span.quote ?? "");
  const isLong = words.length > MAX_QUOTE;
  find(item, "q", HTMLElement).textContent = isLong ? `${words.slice(0, MAX_QUOTE - 1).join("")}…` : words.join("");
  const button = find(item, "button", HTMLButtonElement);
  if (isWritable()) button.dataset.drop = String(index);
  else button.remove();
  return item;
}

/** @type {Span | null} */
let picked = null;

export function paintEvidence() {
  const current = currentRow();
  /** @type {import("./text_spans.js").Mark[]} */
  const marks = picked ? [{ ...picked, kind: "pick" }] : [];
  for (const row of rows()) {
    if (row.dataset.evidence === "[]") continue;
    for (const span of evidenceOf(row)) {
      marks.push({ ...span, label: row.dataset.number, kind: row === current ? "current" : "other" });
    }
  }
  paint(marks);
}

document.addEventListener("consilium:criterion", () => {
  const current = currentRow();
  if (isWritable() && current) showExtra(current);
  paintEvidence();
});
document.addEventListener("consilium:pick", (event) => {
  if (!(event instanceof CustomEvent)) return;
  picked = event.detail;
  paintEvidence();
});

/* Order: by axis, or as the rubric has it */

/** @param {boolean} wanted by axis */
function order(wanted) {
  const criteria = list();
  const sorted = rows().sort((first, second) => Number(first.dataset.number) - Number(second.dataset.number));
  const axes = [...new Set(sorted.map((row) => row.dataset.axis ?? ""))];
  const button = element("by-axis", HTMLElement);
  button.hidden = axes.length < 2;
  const byAxis = wanted && axes.length > 1;
  button.setAttribute("aria-pressed", String(byAxis));
  for (const head of findAll(criteria, "li.axis", HTMLElement)) head.remove();
  if (!byAxis) {
    criteria.append(...sorted);
    return;
  }
  for (const axis of axes) {
    const head = document.createElement("li");
    head.className = "axis";
    head.dataset.axisHead = axis;
    head.textContent = axis || text("other");
    criteria.append(head, ...sorted.filter((row) => (row.dataset.axis ?? "") === axis));
  }
}

function wantsAxes() {
  try {
    return localStorage.getItem(orderKey) === "axis";
  } catch {
    return false;
  }
}

export function changeOrder() {
  const byAxis = element("by-axis", HTMLElement).getAttribute("aria-pressed") !== "true";
  try {
    localStorage.setItem(orderKey, byAxis ? "axis" : "rubric");
  } catch {
    // The order is not remembered; it holds for this response.
  }
  order(byAxis);
  applyFilter();
  select(currentRow());
}

document.addEventListener("click", (event) => {
  if (targetWithin(event, "#by-axis")) changeOrder();
});

/** A new sheet: nothing is picked, the order is the remembered one, and rows with a note or evidence show it. */
export function startRows() {
  picked = null;
  order(wantsAxes());
  for (const row of rows()) if (row.dataset.note || row.dataset.evidence !== "[]") showExtra(row);
}
