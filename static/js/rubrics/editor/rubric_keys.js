// @ts-check
/* Keys of the rubric editor. What they do is in rubric_list.js. */
import { element } from "../../core/page.js";
import { openBank } from "./rubric_bank.js";
import { openCiting } from "./rubric_citing.js";
import {
  act,
  add,
  duplicate,
  focus,
  merge,
  move,
  redo,
  remove,
  saving,
  setPoints,
  split,
  step,
  undo,
} from "./rubric_list.js";
import { AXIS, isBlank } from "./rubric_model.js";
import { idOf, isTextField, list } from "./rubric_rows.js";
import { itemOf, placeOf, refusedPoints, state } from "./rubric_state.js";
import { dropTag, enterTag, takeTag } from "./rubric_tags.js";
import { completeAxis } from "./rubric_typing.js";

/** @typedef {import("./rubric_rows.js").TextField} TextField */

const PAGE_ROWS = 5; // rows that PageUp and PageDown move
const PLACE_TO_FILL = /\[[^[\]]+\]/;

/**
 * Safari reports the end of a composition before the key that ended it, hence the key code.
 * @param {KeyboardEvent} event
 */
const isComposing = (event) => event.isComposing || event.keyCode === 229;

/** @param {KeyboardEvent} event */
const isCommand = (event) => event.ctrlKey || event.metaKey;

list.addEventListener("keydown", (event) => {
  const input = event.target;
  if (!isTextField(input) || isComposing(event)) return; // Enter ends a Chinese word first
  const name = input.dataset.field;
  const id = idOf(input);
  if (!name || !id) return;
  const handled = rowKey(event, id, name) || fieldKey(event, input, id, name);
  if (handled) event.preventDefault();
});

/**
 * Keys that do the same in all fields of a row.
 * @param {KeyboardEvent} event
 * @param {string} id
 * @param {string} name
 * @returns {boolean} whether the key is one of them
 */
function rowKey(event, id, name) {
  const command = isCommand(event);
  const { key } = event;
  const isArrow = key === "ArrowUp" || key === "ArrowDown";
  const neighbour = placeOf(id) + (key === "ArrowUp" ? -1 : 1);
  const pageRows = key === "PageUp" ? -PAGE_ROWS : key === "PageDown" ? PAGE_ROWS : 0;
  if (event.altKey && !command && isArrow) move(id, neighbour, name);
  else if (command && isArrow) focus(state.items[neighbour]?.id, name === "points" ? name : "text");
  else if (command && key.toLowerCase() === "d") duplicate(id);
  else if (pageRows && !command && !event.altKey) goTo(placeOf(id) + pageRows, name);
  else if (command && key === "Home" && !event.shiftKey) goTo(0, name);
  else if (command && key === "End" && !event.shiftKey) goTo(state.items.length, name);
  else return false;
  return true;
}

/**
 * @param {KeyboardEvent} event
 * @param {TextField} input
 * @param {string} id
 * @param {string} name
 * @returns {boolean} whether the key did something
 */
function fieldKey(event, input, id, name) {
  if (name === "text") return textKey(event, input, id);
  if (name === "points") return pointsKey(event, input, id);
  if (event.key === "Enter" && !isCommand(event)) {
    if (name === "tag" && input.value.trim()) enterTag(input, id);
    else {
      if (name === "axis") completeAxis(input);
      goBelow(id);
    }
    return true;
  }
  if (event.key === "Backspace" && name === "tag" && !input.value) {
    const last = itemOf(id).tags.findLast((tag) => !tag.startsWith(AXIS));
    if (last !== undefined) dropTag(id, last);
  }
  return false;
}

/**
 * @param {number} place beyond the list, its nearest end is meant
 * @param {string} name of the field
 */
function goTo(place, name) {
  const item = state.items[Math.max(0, Math.min(state.items.length - 1, place))];
  focus(item.id, name === "points" ? name : "text", name === "points" ? null : item.text.length);
}

/**
 * @param {KeyboardEvent} event
 * @param {TextField} area
 * @param {string} id
 * @returns {boolean} whether the key did something
 */
function textKey(event, area, id) {
  const { key, shiftKey } = event;
  const command = isCommand(event);
  const end = area.selectionEnd ?? 0;
  const at = area.selectionStart === area.selectionEnd ? end : -1;
  const place = placeOf(id);
  const before = state.items[place - 1];
  const next = state.items[place + 1];
  const gap = key === "Tab" && !shiftKey && itemOf(id).bank ? PLACE_TO_FILL.exec(area.value.slice(end)) : null;
  if (gap) {
    // From one place to fill in to the next.
    area.setSelectionRange(end + gap.index, end + gap.index + gap[0].length);
  } else if (key === "Enter" && command && !shiftKey) {
    split(id, Math.max(at, 0));
  } else if (key === "Enter" && !command && !shiftKey && !event.altKey) {
    if (area.value.trim()) goBelow(id);
  } else if (key === "Backspace" && at === 0 && !command && !area.value) {
    removeEmpty(id);
  } else if (key === "Backspace" && at === 0 && !command && before) {
    merge(before.id, id);
  } else if (key === "Delete" && at === area.value.length && !command && next) {
    merge(id, next.id);
  } else if (key === "ArrowUp" && at === 0 && before && !command && !shiftKey) {
    focus(before.id, "text", 0);
  } else if (key === "ArrowDown" && at === area.value.length && next && !command && !shiftKey) {
    goTo(place + 1, "text");
  } else if (key === "/" && !area.value && !command) {
    openBank();
  } else if (key === "?" && !area.value && !command) {
    element("keys", HTMLDialogElement).showModal();
  } else return false;
  return true;
}

/** @param {string} id of a criterion without a text */
function removeEmpty(id) {
  const before = state.items[placeOf(id) - 1];
  act((items) => items.splice(placeOf(id), 1));
  if (before) focus(before.id, "text", before.text.length);
  else if (state.items[0]) focus(state.items[0].id, "text", 0);
}

/**
 * To a new criterion below; an empty one that is there already will do.
 * @param {string} id
 */
function goBelow(id) {
  const next = state.items[placeOf(id) + 1];
  if (next && isBlank(next)) focus(next.id, "text", 0);
  else add(id);
}

let lessenedId = ""; // where the last key was a minus that took one point away
list.addEventListener("focusout", () => {
  lessenedId = "";
});

/**
 * @param {KeyboardEvent} event
 * @param {TextField} input
 * @param {string} id
 * @returns {boolean} whether the key did something
 */
function pointsKey(event, input, id) {
  const { key } = event;
  const command = isCommand(event);
  const wasLessened = lessenedId === id;
  lessenedId = "";
  if (wasLessened && /^\d$/.test(key) && !command) {
    // The minus before was the sign of a new number.
    setPoints(id, -Number(key));
    input.setSelectionRange(input.value.length, input.value.length);
    return true;
  }
  const isAllSelected = input.selectionStart === 0 && input.selectionEnd === input.value.length;
  const isMinus =
    key === "-" && input.value !== "" && !refusedPoints.has(id) && (isAllSelected || !input.value.startsWith("-"));
  if (key === "Enter" && !command) {
    const next = state.items[placeOf(id) + 1];
    if (next && !event.shiftKey) focus(next.id, "text", next.text.length);
    else goBelow(id);
  } else if (["+", "=", "ArrowUp"].includes(key) && !command) {
    step(id, 1);
  } else if (key === "ArrowDown" || isMinus) {
    step(id, -1);
    if (isMinus && isAllSelected) lessenedId = id;
  } else if (key.toLowerCase() === "n" && !command) {
    const { points } = itemOf(id);
    if (points) setPoints(id, -points);
  } else if (key === "Backspace" && command) {
    remove(id);
  } else return false;
  return true;
}

document.addEventListener("keydown", (event) => {
  if (isComposing(event) || document.querySelector("dialog[open]")) return;
  if (pageKey(event, event.target)) event.preventDefault();
});

/**
 * Keys that work anywhere on the page.
 * @param {KeyboardEvent} event
 * @param {EventTarget | null} target
 * @returns {boolean} whether the key is one of them
 */
function pageKey(event, target) {
  const command = isCommand(event);
  const isOutside = !(target instanceof Element && target.matches("input, textarea, select"));
  const key = event.key.toLowerCase();
  const tagInput = isTextField(target) && target.dataset.field === "tag" ? target : null;
  const isUndoable = !tagInput?.value; // a tag that is being typed is the browser's own to undo
  if (command && key === "s") {
    if (tagInput) takeTag(tagInput, idOf(tagInput));
    saving.save();
  } else if (event.altKey && !command && event.code === "KeyE") openCiting();
  else if (command && event.shiftKey && event.key === "Enter") element("send", HTMLElement).click();
  else if (command && event.key === "/") element("keys", HTMLDialogElement).showModal();
  else if (command && (key === "y" || (key === "z" && event.shiftKey)) && isUndoable) redo();
  else if (command && key === "z" && !event.shiftKey && isUndoable) undo();
  else if (isOutside && !command && !event.altKey && event.key === "?") element("keys", HTMLDialogElement).showModal();
  else if (isOutside && !command && !event.altKey && event.key === "/") openBank();
  else return false;
  return true;
}
