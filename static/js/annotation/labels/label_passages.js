// @ts-check
/* The words of a response that say which level it advises: chosen by selecting them, or sentence by sentence. */
import { find, isTouch } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { paint, pick, quote, selectedSpan } from "../shared/passages.js";
import { isRead, keepPassages, passagesOf } from "./label_rows.js";

/** @typedef {import("./label_answers.js").Passage} Passage */

const text = wordsOf("labelling-words");

/**
 * Shows the passages of a row as a list, and as marks in the response.
 * @param {HTMLElement} row about a response
 * @param {(row: HTMLElement) => void} changed
 * @param {Passage | null} [picked] the sentence that is being picked
 */
export function showPassages(row, changed, picked = null) {
  const passages = passagesOf(row);
  const items = passages.map((passage, place) => {
    const item = document.createElement("li");
    const words = document.createElement("q");
    words.textContent = passage.quote ?? quote(passage);
    item.append(words);
    if (!row.matches("[disabled]")) item.append(dropButton(row, place, changed));
    return item;
  });
  find(row, "[data-passages]", HTMLElement).replaceChildren(...items);
  /** @type {import("../shared/text_spans.js").Mark[]} */
  const marks = passages.map(({ start, end }) => ({ start, end, kind: "current", label: "" }));
  paint(picked ? [...marks, { ...picked, kind: "pick", label: "" }] : marks);
}

/**
 * @param {HTMLElement} row
 * @param {number} place
 * @param {(row: HTMLElement) => void} changed
 */
function dropButton(row, place, changed) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small plain";
  button.textContent = "×";
  button.setAttribute("aria-label", text("drop"));
  button.addEventListener("click", () => {
    keepPassages(
      row,
      passagesOf(row).filter((_, other) => other !== place),
    );
    changed(row);
  });
  return button;
}

/**
 * Attaches what is selected in the response; without a selection a sentence is picked by keyboard.
 * @param {HTMLElement} row about a response
 * @param {(row: HTMLElement) => void} changed
 */
export function attachPassage(row, changed) {
  /** @param {Passage} span */
  const attach = (span) => {
    const passages = passagesOf(row);
    if (!passages.some(({ start, end }) => start === span.start && end === span.end)) {
      keepPassages(row, [...passages, { start: span.start, end: span.end }]);
    }
    document.getSelection()?.removeAllRanges();
    changed(row);
  };
  const span = selectedSpan();
  if (span) attach(span);
  else {
    toast(text(isTouch() ? "select_touch" : "select"));
    pick(attach);
  }
}

/**
 * @param {HTMLElement[]} rows
 * @returns {HTMLElement | undefined} the question about the response, where there is one
 */
export function readRow(rows) {
  return rows.find(isRead);
}
