// @ts-check
/* What can be done with the list of the rubric editor. Each action is shown, saved and can be undone. */
import { element } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { axisWord } from "./rubric_axes.js";
import { askConflict } from "./rubric_conflict.js";
import { createHistory } from "./rubric_history.js";
import { cut, isBlank, joined, copy, newItem, newItemId } from "./rubric_model.js";
import { showMissing } from "./rubric_missing.js";
import { inRange, sharePoints, showPoints, stepPoints, totalsOf } from "./rubric_points.js";
import { lintSoon, remarksOf, showRemarks } from "./rubric_remarks.js";
import { field, idOf, isTextField, list, row, rowOf, showRows } from "./rubric_rows.js";
import { startSaving } from "./rubric_saving.js";
import {
  announce,
  findItem,
  itemOf,
  limitOf,
  placeOf,
  refusedPoints,
  remember,
  start,
  state,
  tellWatchers,
  words,
} from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_history.js").Caret} Caret
 */

const MAX_ITEMS_WITH_IDEAS = 36;
const FOLDED = ["source", "element", "expectation", "tag"]; // fields that are not seen at once

/* Showing */
export function render() {
  showRows(state.items);
  for (const item of state.items) showRemarks(item);
  showTotals();
  const isEmpty = state.items.length === 0;
  element("first", HTMLElement).hidden = !isEmpty;
  element("add-row", HTMLElement).hidden = isEmpty;
  element("ideas", HTMLElement).hidden = state.items.length > MAX_ITEMS_WITH_IDEAS;
}

function showTotals() {
  const { count, gain, lose, axes } = totalsOf(state.items, words("none"));
  const bar = element("target", HTMLProgressElement);
  element("count", HTMLElement).textContent = String(count);
  const unit = words(count === 1 ? "count_one" : "count");
  element("count-words", HTMLElement).textContent = unit.replace("TARGET", String(start.rules.target ?? 0));
  bar.value = Math.min(count, bar.max);
  const sums = gain ? [words("gain").replace("NUMBER", `+${gain}`)] : [];
  if (lose) sums.push(words("lose").replace("NUMBER", `−${lose}`));
  element("sums", HTMLElement).textContent = sums.join(" · ");
  const line = element("axes-line", HTMLElement);
  line.hidden = axes.length < 2;
  line.textContent = axes.map(([axis, times]) => `${axisWord(axis)} ${times}`).join(" · ");
}

/**
 * Show the fields of a row that are not seen at once, or hide them; without `open` the other way round.
 * @param {HTMLElement} node
 * @param {boolean} [open]
 * @returns {boolean} whether they are shown now
 */
export function toggleMore(node, open) {
  const box = node.querySelector("[data-more]");
  const button = node.querySelector('[data-do="more"]');
  if (!(box instanceof HTMLElement && button)) throw new Error("The row has no further fields.");
  box.hidden = open === undefined ? !box.hidden : !open;
  button.setAttribute("aria-expanded", String(!box.hidden));
  return !box.hidden;
}

/**
 * @param {string | undefined} id
 * @param {string} [name] of the field
 * @param {number | null} [at]
 */
export function focus(id, name = "text", at = null) {
  const node = row(id ?? "");
  if (!node) return;
  if (FOLDED.includes(name)) toggleMore(node, true);
  const input = field(node, name);
  input.focus();
  if (at !== null) input.setSelectionRange(at, at);
  else if (name === "points") input.select();
  node.scrollIntoView({ block: "nearest" });
}

/* Changing */

/** @type {Set<() => void>} */
const finishers = new Set();

/**
 * Call a function before the list is saved, to take in what is still being typed.
 * @param {() => void} finish
 */
export function beforeSave(finish) {
  finishers.add(finish);
}

export const saving = startSaving({
  items: () => state.items,
  showMissing,
  askConflict,
  show: (items) => {
    state.items = copy(items);
    render();
    past.acceptOthers();
    lintSoon();
    tellWatchers("others");
  },
  finish: () => {
    for (const finish of finishers) finish();
  },
});

function changed() {
  saving.changed();
  lintSoon();
}

/** @returns {Caret | null} where the cursor is, if it is in the list */
export function caret() {
  const input = document.activeElement;
  const id = idOf(input);
  return id && isTextField(input) && input.dataset.field
    ? { id, name: input.dataset.field, at: input.selectionStart }
    : null;
}

export const past = createHistory({
  items: () => state.items,
  caret,
  take: (items) => {
    state.items = items;
    render();
    changed();
    announce(words("undone"));
    tellWatchers("undo");
  },
  go: (at) => {
    if (at && findItem(at.id)) focus(at.id, at.name, at.name === "points" ? null : at.at);
    else if (!list.contains(document.activeElement)) {
      focus(findItem(state.lastId) ? state.lastId : state.items.at(-1)?.id);
    }
  },
});

/**
 * An action on the list; one key undoes it.
 * @param {(items: Item[]) => void} change
 */
export function act(change) {
  const from = caret();
  change(state.items);
  render();
  past.note(from);
  changed();
  tellWatchers("action");
}

/**
 * An action on one item whose row is shown already.
 * @param {string} id
 */
export function edited(id) {
  showRows(state.items);
  showTotals();
  state.lastId = id;
  changed();
  tellWatchers("typing");
}

/** @type {Map<HTMLElement, import("./rubric_history.js").Step>} messages that offer to undo a step */
const offers = new Map();

export function undo() {
  if (!past.undo()) toast(words("nothing"));
  for (const [item, step] of offers) {
    if (past.has(step)) continue;
    item.remove();
    offers.delete(item);
  }
}

export function redo() {
  past.redo();
}

/** Remove criteria without a text, unless all are without. */
export function dropBlank() {
  const written = state.items.filter((item) => !isBlank(item));
  if (!written.length || written.length === state.items.length) return;
  act(() => {
    state.items = written;
  });
}

/**
 * A new criterion below `id`; at the end without one.
 * @param {string | undefined} id
 * @param {Partial<Item>} [fields]
 */
export function add(id, fields = {}) {
  const item = newItem(fields);
  const place = placeOf(id);
  state.lastId = item.id;
  act((items) => items.splice(place < 0 ? items.length : place + 1, 0, item));
  focus(item.id, "text", item.text.length);
  if (state.items.length === 2) foldGuide();
}

/**
 * Put items below the row `id`, or in its place if nothing is written there.
 * @param {Item[]} fresh
 * @param {string} id
 */
export function insert(fresh, id) {
  act((items) => {
    const at = placeOf(id);
    const isEmpty = at >= 0 && !items[at].text.trim() && !items[at].points;
    items.splice(at < 0 ? items.length : at + (isEmpty ? 0 : 1), isEmpty ? 1 : 0, ...fresh);
  });
}

/** Folds the guide once a second criterion is begun: by then the author has read it. */
function foldGuide() {
  const guide = element("guide", HTMLDetailsElement);
  if (!guide.open) return;
  guide.open = false;
  remember("guide", "folded");
  row(state.lastId)?.scrollIntoView({ block: "nearest" });
}

/**
 * @param {string} id
 * @param {number} at
 */
export function split(id, at) {
  const [left, right] = cut(itemOf(id).text, at);
  if (left && right) return replaceBy(id, [left, right]);
  const remark = remarksOf(id).find(({ rule, fix }) => rule === "compound" && fix);
  return remark?.fix ? replaceBy(id, remark.fix.texts) : toast(words("cut"));
}

/**
 * @param {string} id
 * @param {string[]} texts of the criteria that take its place, among which its points are shared out
 */
export function replaceBy(id, texts) {
  const place = placeOf(id);
  const item = itemOf(id);
  const shares = sharePoints(item.points, texts.length);
  const others = texts
    .slice(1)
    .map((text, index) =>
      newItem({ ...copy([item])[0], id: newItemId(), criterion: null, text, points: shares[index + 1] }),
    );
  act((items) => items.splice(place, 1, { ...item, text: texts[0], points: shares[0] }, ...others));
  focus(others.at(-1)?.id ?? id, "text", others.length ? 0 : texts[0].length);
  if (others.length && item.points) {
    const list = shares.map((share) => String(share).replace("-", "−")).join(" + ");
    offerUndo(words("shared").replace("LIST", list));
  }
}

/**
 * @param {string} id
 * @param {string | undefined} next the one that becomes part of it
 */
export function merge(id, next) {
  const [first, second] = [findItem(id), findItem(next ?? "")];
  if (!first || !second) {
    toast(words("last"));
    return;
  }
  const item = joined(first, second);
  if (item.citations.length > limitOf("maxCitations")) {
    toast(words("citations_full").replace("NUMBER", String(limitOf("maxCitations"))), "warning");
    return;
  }
  act((items) => {
    items[placeOf(id)] = item;
    items.splice(placeOf(next), 1);
  });
  focus(id, "text", item.text.length - second.text.length);
}

/** @param {string} id */
export function duplicate(id) {
  const original = itemOf(id);
  const item = { ...copy([original])[0], id: newItemId(), criterion: null };
  act((items) => items.splice(placeOf(id) + 1, 0, item));
  focus(item.id, "text", item.text.length);
}

/**
 * @param {string} id
 * @param {number} to its new place
 * @param {string} [name] of the field that has the cursor then
 */
export function move(id, to, name = "text") {
  const from = placeOf(id);
  if (to < 0 || to >= state.items.length || from === to) return;
  act((items) => items.splice(to, 0, ...items.splice(from, 1)));
  focus(id, name, name === "text" ? field(rowOf(id), "text").selectionStart : null);
  announce(words("moved").replace("NUMBER", String(to + 1)));
}

/** @param {string} id */
export function remove(id) {
  const place = placeOf(id);
  const isEmpty = !itemOf(id).text.trim();
  const next = state.items[place + 1] ?? state.items[place - 1];
  act((items) => items.splice(place, 1));
  if (next) focus(next.id);
  if (!isEmpty) offerUndo(words("deleted").replace("NUMBER", String(place + 1)));
}

/** @param {string} text about the latest step: the button takes back this step, whatever follows it */
function offerUndo(text) {
  const step = past.latest();
  if (!step) return;
  const action = { label: words("undo"), run: () => past.revert(step) };
  const item = toast(text, "info", { action });
  if (item) offers.set(item, step);
}

/**
 * @param {string} id
 * @param {number} by
 */
export function step(id, by) {
  const item = itemOf(id);
  if (refusedPoints.has(id)) return; // there is no number to step from
  const points = stepPoints(item.points, by, start.rules);
  if (points !== 0 && points !== item.points) setPoints(id, points);
}

/**
 * @param {string} id
 * @param {number} points
 */
export function setPoints(id, points) {
  const from = caret();
  itemOf(id).points = points;
  const input = field(rowOf(id), "points");
  input.value = showPoints(points);
  if (document.activeElement === input) input.select();
  edited(id);
  past.note(from, `${id} points `, true);
}

/**
 * A criterion that a question about the case begins.
 * @param {string} text
 * @param {number} points
 * @param {string} axis its tag
 */
export function addIdea(text, points, axis) {
  add(state.items.at(-1)?.id, { text, points: inRange(points, start.rules), tags: [axis] });
}
