// @ts-check
/* The response: what is selected in it, the marks of the evidence, and picking a sentence by key, click or tap. */
import { element, findAll, targetWithin } from "../../core/page.js";
import { codePointCount, marksWithin, partsOf, quoteOf, sentencesOf, trimmedSpan } from "./text_spans.js";

/**
 * @typedef {import("./text_spans.js").Span} Span
 * @typedef {import("./text_spans.js").Mark} Mark
 * @typedef {{ choices: Span[], from: number, to: number, done: (span: Span) => unknown }} Picking
 */

// Looked up each time: the grading page swaps the whole sheet for the next response.
const response = () => element("response", HTMLElement);

/** @param {ParentNode} root */
function leavesOf(root) {
  return findAll(root, "[data-s]", HTMLElement);
}

/** @param {HTMLElement} leaf */
function pieceOf(leaf) {
  return { start: Number(leaf.dataset.s), characters: Array.from(leaf.textContent ?? "") };
}

/**
 * Code points of the leaf before (node, offset).
 * @param {HTMLElement} leaf
 * @param {Node} node
 * @param {number} offset
 */
function placeWithin(leaf, node, offset) {
  const before = document.createRange();
  before.selectNodeContents(leaf);
  before.setEnd(node, offset);
  return codePointCount(before.toString());
}

/** @returns {Span | null} null where the selection holds nothing of the response */
export function selectedSpan() {
  const selection = document.getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  /** @type {Span | null} */
  let selected = null;
  for (const leaf of leavesOf(response())) {
    if (!range.intersectsNode(leaf)) continue;
    const piece = pieceOf(leaf);
    const startsHere = leaf.contains(range.startContainer);
    const endsHere = leaf.contains(range.endContainer);
    const from = startsHere ? placeWithin(leaf, range.startContainer, range.startOffset) : 0;
    const to = endsHere ? placeWithin(leaf, range.endContainer, range.endOffset) : piece.characters.length;
    const span = trimmedSpan(piece, from, to);
    if (span) selected = { start: selected ? selected.start : span.start, end: span.end };
  }
  return selected;
}

/** @param {Mark[]} marks */
export function paint(marks) {
  for (const leaf of leavesOf(response())) {
    const piece = pieceOf(leaf);
    const within = marksWithin(piece, marks);
    if (!within.length && !leaf.firstElementChild) continue;
    leaf.replaceChildren(...partsOf(piece, within).map(nodeOf));
  }
  document.dispatchEvent(new CustomEvent("consilium:painted"));
}

/** @param {import("./text_spans.js").Part} part */
function nodeOf({ text, kind, label }) {
  if (!kind) return document.createTextNode(text);
  const mark = document.createElement("mark");
  mark.textContent = text;
  mark.className = kind;
  if (label) mark.dataset.label = label;
  return mark;
}

/**
 * The words of a passage as they are read.
 * @param {Span} span
 */
export function quote(span) {
  return quoteOf(leavesOf(response()).map(pieceOf), span);
}

/* Picking a sentence: by key, or by a click or tap on it */
/** @type {Picking | null} */
let picking = null;

/** @param {(span: Span) => unknown} done */
export function pick(done) {
  const lines = findAll(response(), "[data-line]", HTMLElement);
  const choices = lines.flatMap((line) => sentencesOf(leavesOf(line).map(pieceOf)));
  if (!choices.length) return;
  picking = { choices, from: 0, to: 0, done };
  showPick(picking);
}

/** @param {Picking} picking */
function pickedSpan({ choices, from, to }) {
  return { start: choices[from].start, end: choices[to].end };
}

/**
 * The code point of the response at this place of the window; null where there is none.
 * @param {MouseEvent} event
 */
function placeAt({ clientX, clientY }) {
  const range = document.caretRangeFromPoint?.(clientX, clientY);
  const position = range ? null : document.caretPositionFromPoint?.(clientX, clientY);
  const node = range?.startContainer ?? position?.offsetNode;
  const leaf = node?.parentElement?.closest("[data-s]");
  if (!node || !(leaf instanceof HTMLElement)) return null;
  return pieceOf(leaf).start + placeWithin(leaf, node, range?.startOffset ?? position?.offset ?? 0);
}

document.addEventListener("click", (event) => {
  if (!picking || !targetWithin(event, "#response")) return;
  const place = placeAt(event);
  const sentence = picking.choices.find(({ start, end }) => place !== null && start <= place && place <= end);
  const span = selectedSpan() ?? sentence;
  if (!span) return;
  const { done } = picking;
  endPick();
  done(span);
});
document.addEventListener("consilium:criterion", () => picking && endPick());

/** @param {Picking} picking */
function showPick(picking) {
  document.dispatchEvent(new CustomEvent("consilium:pick", { detail: pickedSpan(picking) }));
  response().querySelector("mark.pick")?.scrollIntoView({ block: "nearest" });
}

function endPick() {
  picking = null;
  document.dispatchEvent(new CustomEvent("consilium:pick", { detail: null }));
}

/** A new sheet: nothing is being picked. */
export function forgetPick() {
  picking = null;
}

/**
 * True where the key belongs to the picking of a sentence.
 * @param {string} name
 * @param {KeyboardEvent} event
 */
export function handlePickKey(name, event) {
  if (!picking) return false;
  const last = picking.choices.length - 1;
  if (name === "ArrowRight" || name === "ArrowDown") {
    picking.to = Math.min(last, picking.to + 1);
    if (!event.shiftKey) picking.from = picking.to;
  } else if (name === "ArrowLeft" || name === "ArrowUp") {
    picking.to = Math.max(event.shiftKey ? picking.from : 0, picking.to - 1);
    if (!event.shiftKey) picking.from = picking.to;
  } else if (name === "Enter" || name === "e") {
    const { done } = picking;
    const span = pickedSpan(picking);
    endPick();
    done(span);
    event.preventDefault();
    return true;
  } else if (name === "Escape") {
    endPick();
    event.preventDefault();
    return true;
  } else {
    if (name !== "Shift") endPick();
    return false;
  }
  event.preventDefault();
  showPick(picking);
  return true;
}
