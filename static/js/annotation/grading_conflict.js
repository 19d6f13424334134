// @ts-check
/* Two versions of one decision: the person chooses which one holds. */
import { element, find, targetWithin } from "../core/page.js";
import { wordsOf } from "../core/words.js";
import { rowOf } from "./criteria.js";
import { finishEntry, rebaseEntry } from "./grading_entries.js";
import { sheet } from "./grading_sheet.js";
import { showSaving, summarise } from "./grading_status.js";
import { show } from "./rows.js";

const text = wordsOf("grading-words");
const dialog = element("choice", HTMLDialogElement);
const question = element("choice-body", HTMLElement);

/** @param {import("./decisions.js").Decision} decision */
function inWords(decision) {
  const outcome = text(decision.outcome || "undecided");
  return [outcome, decision.borderline ? text("borderline") : "", decision.note].filter(Boolean).join(" · ");
}

/** Put the first question, unless one is open. */
export function askWhichHolds() {
  const [next] = sheet.questions;
  if (!next || dialog.open) return;
  const [id, stored] = next;
  question.dataset.choice = id;
  const number = rowOf(id)?.dataset.number ?? "";
  find(dialog, "[data-changed]", HTMLElement).textContent = text("changed").replace("NUMBER", number);
  find(dialog, "[data-theirs]", HTMLElement).textContent = `${inWords(stored)} · ${stored.at}`;
  find(dialog, "[data-mine]", HTMLElement).textContent = inWords(sheet.entries[id]);
  showSaving();
  dialog.showModal();
}

export function isAsking() {
  return dialog.open;
}

/** A new sheet: a question about the old one is void. */
export function closeQuestion() {
  delete question.dataset.choice;
  if (dialog.open) dialog.close();
}

/** @param {() => unknown} listener called with each answer */
export function onAnswer(listener) {
  dialog.addEventListener("click", (event) => {
    const id = question.dataset.choice ?? "";
    const stored = sheet.questions.get(id);
    const keepsMine = targetWithin(event, "[data-keep-mine]");
    if (!stored || !(keepsMine || targetWithin(event, "[data-take-saved]"))) return;
    sheet.questions.delete(id);
    delete question.dataset.choice;
    dialog.close();
    const entry = sheet.entries[id];
    if (keepsMine && entry) rebaseEntry(id, stored.version);
    else {
      if (entry) finishEntry(id, entry, stored.version);
      const row = rowOf(id);
      if (row) show(row, stored);
    }
    summarise();
    showSaving();
    listener();
    askWhichHolds();
  });
}

// Escape would leave the question open with nothing to answer it.
dialog.addEventListener("cancel", (event) => event.preventDefault());
