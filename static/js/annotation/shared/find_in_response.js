// @ts-check
/* Finding words in the conversation and the response. The browser draws the occurrences over the text (CSS highlights),
   so that the pieces of the response, and the evidence in them, stay as they are. */
import { element, find, optionalElement, targetWithin } from "../../core/page.js";
import { currentRow } from "./criteria.js";
import { matchesOf } from "./find_text.js";
import { onKeys } from "./keys.js";
import { bringIntoView, responsePane, showView } from "./panes.js";

const BLOCKS = "[data-line], p, li, td, th, dt, dd, pre, h1, h2, h3, h4, h5, h6, blockquote";

/** @type {Range[]} */
let matches = [];
let place = 0;

function field() {
  return element("find", HTMLInputElement);
}

function bar() {
  return element("find-bar", HTMLElement);
}

function textNodes() {
  const pane = responsePane();
  const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
  /** @type {Text[]} */
  const nodes = [];
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node instanceof Text && node.parentElement?.closest(".prose") && !node.parentElement.closest("script")) {
      nodes.push(node);
    }
  }
  return nodes;
}

/** @param {string} query */
function rangesOf(query) {
  const nodes = textNodes();
  const pieces = nodes.map((node) => ({ text: node.data, block: node.parentElement?.closest(BLOCKS) }));
  return matchesOf(pieces, query).map(({ from, to }) => {
    const range = document.createRange();
    range.setStart(nodes[from.piece], from.offset);
    range.setEnd(nodes[to.piece], to.offset);
    return range;
  });
}

function highlight() {
  if (!("highlights" in CSS)) return;
  CSS.highlights.set("find", new Highlight(...matches));
  const current = matches[place];
  CSS.highlights.set("find-current", current ? new Highlight(current) : new Highlight());
}

function showCount() {
  const count = find(bar(), "[data-find-count]", HTMLElement);
  const isEmpty = !field().value.trim();
  if (isEmpty) count.textContent = "";
  else count.textContent = matches.length ? `${place + 1} / ${matches.length}` : (count.dataset.none ?? "");
}

/** The text has changed under the occurrences: evidence was marked in it. */
function search() {
  matches = rangesOf(field().value);
  place = Math.max(0, Math.min(place, matches.length - 1));
  highlight();
  showCount();
}

/** @param {number} step */
function go(step) {
  if (!matches.length) return;
  place = (place + step + matches.length) % matches.length;
  const match = matches[place];
  const folded = match.startContainer.parentElement?.closest("details:not([open])");
  if (folded instanceof HTMLDetailsElement) folded.open = true;
  highlight();
  showCount();
  bringIntoView(match.getBoundingClientRect());
}

function open() {
  showView("response");
  bar().hidden = false;
  field().focus();
  field().select();
  search();
}

function close() {
  bar().hidden = true;
  matches = [];
  highlight();
  currentRow()?.focus({ preventScroll: true });
}

function isOpen() {
  const box = optionalElement("find-bar", HTMLElement);
  return box !== null && !box.hidden;
}

onKeys(["/"], open);
document.addEventListener("click", (event) => {
  if (targetWithin(event, "[data-find-open]")) open();
  else if (targetWithin(event, "[data-find-close]")) close();
  else {
    const step = targetWithin(event, "[data-find-step]")?.dataset.findStep;
    if (step) go(Number(step));
  }
});
document.addEventListener("input", (event) => {
  if (!targetWithin(event, "#find")) return;
  place = 0;
  search();
  go(0);
});
document.addEventListener("keydown", (event) => {
  if (!targetWithin(event, "#find") || event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
  else if (event.key === "Escape") close();
  else return;
  event.preventDefault();
});
document.addEventListener("consilium:painted", () => isOpen() && search());
document.addEventListener("consilium:sheet", () => {
  matches = [];
  place = 0;
  highlight();
});
