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
 * @param {Passage[]} passages
 * @param {((place: number) => void) | null} drop null where they cannot be removed
 * @returns {HTMLElement[]} the items of their list
 */
export function passageItems(passages, drop) {
  return passages.map((passage, place) => {
    const item = document.createElement("li");
    const words = document.createElement("q");
    words.textContent = passage.quote ?? quote(passage);
    item.append(words);
    if (drop) item.append(dropButton(() => drop(place)));
    return item;
  });
}

/** @param {() => void} drop */
function dropButton(drop) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small plain";
  button.textContent = "×";
  button.setAttribute("aria-label", text("drop"));
  button.addEventListener("click", drop);
  return button;
}

/**
 * Takes what is selected in the response; without a selection a sentence is picked by keyboard.
 * @param {() => Passage[]} get the passages that are attached
 * @param {(passages: Passage[]) => void} keep
 */
export function takePassage(get, keep) {
  /** @param {Passage} span */
  const attach = ({ start, end }) => {
    const passages = get();
    const isThere = passages.some((passage) => start === passage.start && end === passage.end);
    const isFull = passages.length >= Number(text("max_passages"));
    if (isFull && !isThere) toast(text("too_many"), "error");
    document.getSelection()?.removeAllRanges();
    keep(isThere || isFull ? passages : [...passages, { start, end }]);
  };
  const span = selectedSpan();
  if (span) attach(span);
  else {
    toast(text(isTouch() ? "select_touch" : "select"));
    pick(attach);
  }
}

/**
 * Shows the passages of a row as a list, and as marks in the response.
 * @param {HTMLElement} row about a response
 * @param {(row: HTMLElement) => void} changed
 * @param {Passage | null} [picked] the sentence that is being picked
 */
export function showPassages(row, changed, picked = null) {
  const passages = passagesOf(row);
  /** @param {number} place */
  const drop = (place) => {
    keepPassages(
      row,
      passagesOf(row).filter((_, other) => other !== place),
    );
    changed(row);
  };
  const items = passageItems(passages, row.matches("[disabled]") ? null : drop);
  find(row, "[data-passages]", HTMLElement).replaceChildren(...items);
  /** @type {import("../shared/text_spans.js").Mark[]} */
  const marks = passages.map(({ start, end }) => ({ start, end, kind: "current", label: "" }));
  paint(picked ? [...marks, { ...picked, kind: "pick", label: "" }] : marks);
}

/**
 * Attaches what is selected in the response.
 * @param {HTMLElement} row about a response
 * @param {(row: HTMLElement) => void} changed
 */
export function attachPassage(row, changed) {
  takePassage(
    () => passagesOf(row),
    (passages) => {
      keepPassages(row, passages);
      changed(row);
    },
  );
}

/**
 * @param {HTMLElement[]} rows
 * @returns {HTMLElement | undefined} the question about the response, where there is one
 */
export function readRow(rows) {
  return rows.find(isRead);
}
