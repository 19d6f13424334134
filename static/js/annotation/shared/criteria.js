// @ts-check
/* The list of criteria of the grading, checking and adjudication pages: the current one, moving through them, and
   filtering them. Elements are looked up each time: the pages swap the whole sheet for the next response. */
import { element, findAll, optionalElement, targetWithin } from "../../core/page.js";
import { isPressed } from "./press.js";

const NEIGHBOURS_PX = 72; // how much of the neighbouring rows stays in sight

export function sheetElement() {
  return element("work", HTMLElement);
}

export function list() {
  return element("criteria", HTMLElement);
}

export function rows() {
  return findAll(list(), "[data-row]", HTMLElement);
}

export function shownRows() {
  return rows().filter((row) => !row.hidden);
}

/** @param {string | number} id of the criterion */
export function rowOf(id) {
  return optionalElement(`criterion-${id}`, HTMLElement);
}

/**
 * The id of the criterion that a row shows.
 * @param {HTMLElement} row
 */
export function idOf(row) {
  return row.dataset.row ?? "";
}

/* The current row */
/** @type {string | null} */
let currentId = null;

export function currentRow() {
  return currentId === null ? null : rowOf(currentId);
}

/** The current row unless a filter hides it: keys change nothing that is out of sight. */
export function rowInSight() {
  const row = currentRow();
  return row?.hidden ? null : row;
}

/**
 * @param {HTMLElement | null | undefined} target
 * @param {{ focus?: boolean, scroll?: boolean }} [options] `scroll`: bring it into view
 */
export function select(target, { focus = true, scroll = true } = {}) {
  if (!target) return;
  for (const row of rows()) {
    const isCurrent = row === target;
    row.classList.toggle("current", isCurrent);
    if (isCurrent) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    row.tabIndex = isCurrent ? 0 : -1;
  }
  const isFirst = currentId === null;
  const changed = currentId !== idOf(target);
  currentId = idOf(target);
  if (focus) target.focus({ preventScroll: true });
  if (scroll) reveal(target);
  if (!changed) return;
  document.dispatchEvent(new CustomEvent("consilium:criterion", { detail: { isFirst } }));
  // The row has its tools by now; in a narrow window they would be under the bar at the bottom.
  if (scroll && isPageScrolled(target)) reveal(target);
}

/** @param {HTMLElement} target */
function isPageScrolled(target) {
  const pane = target.closest(".pane");
  return pane !== null && getComputedStyle(pane).overflowY === "visible";
}

/** @param {HTMLElement} target */
function reveal(target) {
  const pane = target.closest(".pane");
  if (!pane) throw new Error("The row is on no page.");
  const bar = pane.querySelector(".pane-head") ?? pane.querySelector(".pane-bar");
  const barHeight = bar instanceof HTMLElement ? bar.offsetHeight : 0;
  if (getComputedStyle(pane).overflowY === "visible") {
    target.scrollIntoView({ block: "nearest" });
    return;
  }
  const box = target.getBoundingClientRect();
  const frame = pane.getBoundingClientRect();
  const top = frame.top + barHeight + NEIGHBOURS_PX;
  const bottom = frame.bottom - NEIGHBOURS_PX;
  if (box.top < top) pane.scrollTop -= top - box.top;
  else if (box.bottom > bottom) pane.scrollTop += Math.min(box.bottom - bottom, box.top - top);
}

/** @param {number} step */
export function move(step) {
  const shown = shownRows();
  if (!shown.length) return;
  const current = currentRow();
  const place = current ? shown.indexOf(current) : -1;
  select(place < 0 ? shown[0] : shown[Math.max(0, Math.min(shown.length - 1, place + step))]);
}

/**
 * The next shown row after the current one that is wanted; then from the top; null if there is none.
 * @param {(row: HTMLElement) => unknown} isWanted
 */
export function following(isWanted) {
  const shown = shownRows();
  const current = currentRow();
  const place = current ? shown.indexOf(current) : -1;
  return [...shown.slice(place + 1), ...shown.slice(0, place + 1)].find(isWanted) ?? null;
}

document.addEventListener("click", (event) => {
  const target = targetWithin(event, "#criteria [data-row]");
  if (target) select(target, { focus: !targetWithin(event, "button, textarea, input, a") });
});
document.addEventListener("focusin", (event) => {
  const target = targetWithin(event, "#criteria [data-row]");
  // A press that becomes a click selects by itself.
  if (target && idOf(target) !== currentId && !isPressed()) select(target, { focus: false });
});
/* htmx replaces rows: where the current row was replaced, the new one becomes the current row. */
document.addEventListener("htmx:afterSettle", () => {
  const target = currentRow();
  if (target && !target.classList.contains("current")) {
    const lost = document.activeElement === document.body;
    select(target, { focus: lost });
  }
});

/* Filters */
/** @type {Record<string, (row: HTMLElement) => boolean>} */
export const filters = { all: () => true };
/**
 * What the number beside a filter counts, where that is less than the filter shows.
 * @type {Record<string, (row: HTMLElement) => boolean>}
 */
export const counted = {};
let chosenFilter = "all";

/** @param {string} [name] */
export function applyFilter(name = chosenFilter) {
  chosenFilter = name;
  const all = rows();
  for (const row of all) row.hidden = !filters[chosenFilter](row);
  for (const button of findAll(document, "[data-filter]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === chosenFilter));
  }
  for (const count of findAll(document, "[data-count]", HTMLElement)) {
    const name = count.dataset.count ?? "";
    count.textContent = String(all.filter(counted[name] ?? filters[name]).length);
  }
  const none = document.getElementById("none-shown");
  if (none) {
    none.hidden = all.some((row) => !row.hidden);
    // The filter of open criteria may have words of its own.
    const own = none.querySelector(`[data-none="${chosenFilter}"]`);
    for (const words of findAll(none, "[data-none]", HTMLElement)) {
      words.hidden = words !== (own ?? none.querySelector("[data-none=all]"));
    }
  }
}

/**
 * Switch a filter on, or back to all if it is on.
 * @param {string} name
 */
export function toggleFilter(name) {
  applyFilter(chosenFilter === name ? "all" : name);
  if (!isCurrentShown()) select(shownRows()[0]);
}

function isCurrentShown() {
  const current = currentRow();
  return current !== null && shownRows().includes(current);
}

document.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-filter]");
  const jump = targetWithin(event, "[data-jump]");
  if (button) {
    applyFilter(button.dataset.filter);
    if (!isCurrentShown()) select(shownRows()[0], { focus: false });
  } else if (jump) {
    event.preventDefault();
    applyFilter("all");
    select(rowOf(jump.dataset.jump ?? ""));
  }
});

/* What a criterion lacks before the work can be handed in */

/**
 * Marks each criterion that lacks something; the mark says what.
 * @param {(row: HTMLElement) => string} lackOf empty where nothing is lacking
 * @returns {HTMLElement[]} the marked rows
 */
export function markLacking(lackOf) {
  return rows().filter((row) => {
    const lack = lackOf(row);
    if (lack) row.dataset.lacks = lack;
    else delete row.dataset.lacks;
    return lack;
  });
}

/** A new sheet: the current row and the filter of the old one are dropped. */
export function forgetSheet() {
  currentId = null;
  chosenFilter = "all";
}
