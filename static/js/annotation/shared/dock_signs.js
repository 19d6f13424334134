// @ts-check
/* What the list of criteria says about a criterion, in short, for the bar at the bottom of a narrow window: the
   response hides the list there. */
import { findAll } from "../../core/page.js";

const MAX_LENGTH = 90;

/** @param {string | null | undefined} words */
function shortened(words) {
  const line = (words ?? "").replace(/\s+/g, " ").trim();
  return line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH).trimEnd()}…` : line;
}

/**
 * @param {string} className
 * @param {...(Node | string)} parts
 */
function item(className, ...parts) {
  const box = document.createElement("span");
  box.className = className;
  box.append(...parts);
  return box;
}

/**
 * What one side of a conflict decided, and why.
 * @param {HTMLElement} side
 */
export function signsOfSide(side) {
  const parts = findAll(side, ":scope > b, :scope > .outcome, :scope > .flag", HTMLElement);
  const notes = findAll(side, ".answer, [data-changed]", HTMLElement).map((note) =>
    item("dock-note", shortened(note.textContent)),
  );
  return item("", ...parts.map((part) => part.cloneNode(true)), ...notes);
}

/**
 * That a criterion of a check is borderline, amended or marked, and its notes and reasons.
 * @param {HTMLElement} row
 * @returns {HTMLElement[]}
 */
export function signsOfCheck(row) {
  if (row.dataset.default === undefined) return [];
  // What is about to be replaced is hidden in the list.
  const isShown = (/** @type {HTMLElement} */ part) =>
    !(row.querySelector("[data-waiting-change]") && part.closest("[data-stored]"));
  const flags = findAll(row, ".meta .flag, .given-outcome .amended", HTMLElement).filter(isShown);
  const notes = findAll(row, ".extra .answer", HTMLElement)
    .filter(isShown)
    .map((answer) => item("dock-note", shortened(answer.innerText)));
  return [...flags.map((flag) => item(flag.className, flag.textContent ?? "")), ...notes];
}
