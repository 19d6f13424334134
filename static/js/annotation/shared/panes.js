// @ts-check
/* The two panes of the grading, checking and adjudication pages: the conversation with the response, and the criteria.
   Each scrolls by its own keys, and the evidence of the current criterion comes into view. In a narrow window one of
   them is shown at a time, and the page scrolls (dock.js). */
import { element, find, findAll } from "../../core/page.js";
import { currentRow, select, sheetElement } from "./criteria.js";
import { onKeys } from "./keys.js";

/** @typedef {"response" | "criteria"} View */

const PAGE = 0.85; // of the height of a pane: what stays in sight shows where one was
const LOOK_AT = 0.3; // of the height of a pane: where a passage is put that was out of sight
const MARGIN_PX = 24;
const VIEW_KEY = "consilium.view";
const NOTICE = ".pane-notices > .notice:not([hidden]), #refusal > .notice";

export function responsePane() {
  return element("response-pane", HTMLElement);
}

function criteriaPane() {
  return find(sheetElement(), ".pane ~ .pane", HTMLElement);
}

/** In a narrow window the panes do not scroll: the page does. */
export function isStacked() {
  return getComputedStyle(responsePane()).overflowY === "visible";
}

/* Which of the two a narrow window shows */
/** @type {View} */
let view = "response";
/** @type {Record<View, number>} how far the page is scrolled in each */
const places = { response: 0, criteria: 0 };

/** @param {View} name */
export function showView(name) {
  if (name === view) return;
  places[view] = window.scrollY;
  // What is hidden gets no event when it loses the focus, and a note is saved by that event.
  const focused = document.activeElement;
  if (isStacked() && focused instanceof HTMLElement && focused.closest(".pane")) focused.blur();
  putView(name);
  keepView();
  if (!isStacked()) return;
  window.scrollTo(0, places[name]);
  if (name === "response") showEvidence();
  else select(currentRow(), { focus: false });
}

/** @param {View} name */
function putView(name) {
  view = name;
  document.body.dataset.view = name;
  for (const button of findAll(document, "[data-show-view]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(button.dataset.showView === name));
  }
}

/* Loading the page again, such as with all criteria of a conflict, changes nothing about what is shown. */
function keptView() {
  try {
    return sessionStorage.getItem(`${VIEW_KEY}:${location.pathname}`);
  } catch {
    return null;
  }
}

function keepView() {
  try {
    sessionStorage.setItem(`${VIEW_KEY}:${location.pathname}`, view);
  } catch {
    // It is not remembered.
  }
}

/** A new sheet is read from its beginning; a notice, such as a checker's note, is read first. */
export function startPanes() {
  const isLinked = location.hash.startsWith("#criterion-");
  const first = isLinked || document.querySelector(NOTICE) ? "criteria" : "response";
  putView(keptView() === "criteria" ? "criteria" : first);
  places.response = 0;
  places.criteria = 0;
  if (!isStacked()) return;
  window.scrollTo(0, 0);
  if (view === "criteria") select(currentRow(), { focus: false });
}

/* What is between the bars at the top and at the bottom, in pixels of the window. */
export function frame() {
  if (!isStacked()) return responsePane().getBoundingClientRect();
  const sizes = getComputedStyle(document.documentElement);
  const top = Number.parseFloat(sizes.getPropertyValue("--topbar-height")) || 0;
  const bottom = window.innerHeight - (Number.parseFloat(sizes.getPropertyValue("--dock-height")) || 0);
  return { top, bottom, height: bottom - top };
}

/**
 * Scrolls the response so that this passage is in view; nothing moves where it is already.
 * @param {{ top: number, bottom: number }} box in pixels of the window
 */
export function bringIntoView(box) {
  const { top, bottom, height } = frame();
  if (box.top >= top + MARGIN_PX && box.bottom <= bottom - MARGIN_PX) return;
  const distance = box.top - top - height * LOOK_AT;
  if (isStacked()) window.scrollBy(0, distance);
  else responsePane().scrollTop += distance;
}

function showEvidence() {
  const mark = document.querySelector("#response mark.current");
  if (mark && (view === "response" || !isStacked())) bringIntoView(mark.getBoundingClientRect());
}

document.addEventListener("consilium:criterion", (event) => {
  // A sheet that was just opened is read from its beginning. Else: once the marks are painted.
  if (event instanceof CustomEvent && !event.detail.isFirst) queueMicrotask(showEvidence);
});

/**
 * @param {() => HTMLElement} paneOf
 * @param {1 | -1} direction
 */
function scrollPane(paneOf, direction) {
  const step = direction * PAGE * frame().height;
  const pane = responsePane().contains(document.activeElement) ? responsePane() : paneOf();
  if (isStacked()) window.scrollBy(0, step);
  else pane.scrollTop += step;
}

onKeys([" "], () => scrollPane(responsePane, 1));
onKeys(["shift+ "], () => scrollPane(responsePane, -1));
onKeys(["PageDown"], () => scrollPane(criteriaPane, 1));
onKeys(["PageUp"], () => scrollPane(criteriaPane, -1));
