// @ts-check
/* Typing into the rows of the rubric editor: what is typed goes into the items, and can be undone. */
import { element, targetWithin } from "../../core/page.js";
import { isAnswer, questionTaken } from "../../core/new_word.js";
import { ask } from "../../core/server.js";
import { axisCode, axisWord } from "./rubric_axes.js";
import { openBank } from "./rubric_bank.js";
import { caret, edited, past, redo, step, undo } from "./rubric_list.js";
import { axisOf, setAxis } from "./rubric_model.js";
import { normalizeDigits, readPoints, showPoints } from "./rubric_points.js";
import { showRemarks } from "./rubric_remarks.js";
import { grow, idOf, isTextField, list } from "./rubric_rows.js";
import { announce, editor, findItem, refusedPoints, state, words } from "./rubric_state.js";
import { takeTag } from "./rubric_tags.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_rows.js").TextField} TextField
 */

/**
 * The field of a row that an event is about, with its item.
 * @param {Event} event
 * @returns {{ input: TextField, name: string, item: Item } | null}
 */
function fieldOf(event) {
  const input = event.target;
  if (!isTextField(input)) return null;
  const item = findItem(idOf(input));
  const name = input.dataset.field;
  return item && name ? { input, name, item } : null;
}

list.addEventListener("beforeinput", (event) => {
  if (event.inputType.startsWith("history")) {
    // Undo from the browser's menu: the browser's own history does not cover the list.
    event.preventDefault();
    if (event.inputType === "historyUndo") undo();
    else redo();
  } else if (!event.isComposing && isTextField(event.target)) past.begin(event.target);
});

list.addEventListener("compositionstart", (event) => {
  if (isTextField(event.target)) past.begin(event.target);
});

list.addEventListener("input", (event) => {
  const place = fieldOf(event);
  if (!place || place.name === "tag") return;
  if (!(event instanceof InputEvent)) take(place.input, place.item, place.name, "", null);
  // A word that is still being composed is saved as it is, and is one step once it is chosen.
  else take(place.input, place.item, place.name, event.isComposing ? "composing" : event.inputType, event.data);
});

list.addEventListener("compositionend", (event) => {
  const place = fieldOf(event);
  if (place && place.name !== "tag") take(place.input, place.item, place.name, "insertCompositionText", event.data);
});

/**
 * @param {TextField} input
 * @param {Item} item
 * @param {string} name of the field
 * @param {string} kind the inputType of the event, or "composing"
 * @param {string | null} data
 */
function take(input, item, name, kind, data) {
  const isComposing = kind === "composing";
  if (name === "text") {
    grow(input);
    // Chinese input methods type this for the key that opens the bank; no criterion begins with it.
    if (!isComposing && ["、", "／", "/"].includes(input.value) && !item.text.replace(/[、／/]/, "")) {
      input.value = "";
      item.text = "";
      edited(item.id);
      openBank();
      return;
    }
    if (!isComposing && input.value === "？" && !item.text.replace("？", "")) {
      input.value = "";
      item.text = "";
      edited(item.id);
      element("keys", HTMLDialogElement).showModal();
      return;
    }
  }
  if (name === "points") {
    if (!isComposing) takePoints(input, item);
  } else if (name === "axis") {
    setAxis(item, axisCode(input.value));
    if (!areAxesKnown) typedEarly.set(item.id, input.value);
  }
  if (name === "text" || name === "source" || name === "element" || name === "expectation") {
    item[name] = input.value;
  }
  edited(item.id);
  if (!isComposing) past.typed(item.id, name, kind, data);
}

/**
 * @param {TextField} input
 * @param {Item} item
 */
function takePoints(input, item) {
  const typed = normalizeDigits(input.value).trim();
  const isStep = typed.includes("+") && typed.replace("+", "") === showPoints(item.points);
  if ((typed === "+" || isStep) && !refusedPoints.has(item.id)) {
    // A keyboard on the screen sends no key for it.
    input.value = showPoints(item.points);
    step(item.id, 1);
    return;
  }
  const wasRefused = refusedPoints.has(item.id);
  const { points, isRefused } = readPoints(typed);
  item.points = points;
  if (isRefused) refusedPoints.set(item.id, input.value);
  else refusedPoints.delete(item.id);
  if (isRefused && !wasRefused) announce(words("refused_points"));
  if (isRefused !== wasRefused) showRemarks(item);
}

list.addEventListener("focusin", (event) => {
  const before = findItem(state.lastId);
  state.lastId = idOf(event.target) || state.lastId;
  if (before && before.id !== state.lastId) showRemarks(before);
  const input = event.target;
  if (!isTextField(input)) return;
  if (input.dataset.field === "points") input.select();
  if (input.dataset.field === "axis" || input.dataset.field === "tag") suggest();
  // Many criteria of a rubric rest on the same guideline.
  if (input.dataset.field === "source") {
    offer("sources", new Set(state.items.map((item) => item.source).filter(Boolean)));
  }
});

// Tab completes an axis as Enter does.
list.addEventListener("change", (event) => {
  const input = targetWithin(event, '[data-field="axis"]');
  if (isTextField(input)) completeAxis(input);
});

/** @param {TextField} input */
export function completeAxis(input) {
  const begun = input.value.trim().toLowerCase();
  const options = begun ? [...element("axes", HTMLDataListElement).options] : [];
  if (options.some((option) => option.value.toLowerCase() === begun)) return;
  const option = options.find(({ value }) => value.toLowerCase().startsWith(begun));
  const item = findItem(idOf(input));
  if (!item) return;
  if (option) {
    const from = caret();
    input.value = option.value;
    putAxis(item.id, option.value);
    past.note(from, `${item.id} axis `, true);
  } else if (input instanceof HTMLInputElement) {
    questionTaken(
      input,
      input.value.trim(),
      options.map(({ value }) => value),
      input.parentElement ?? input,
      {
        take: (word) => putAxis(item.id, word),
        replace: (_typed, word) => {
          const from = caret();
          putAxis(item.id, word);
          past.note(from);
        },
      },
    );
  }
}

/**
 * @param {string} id
 * @param {string} word
 */
function putAxis(id, word) {
  const item = findItem(id);
  if (!item) return;
  setAxis(item, axisCode(word));
  if (!areAxesKnown) typedEarly.set(id, word);
  edited(id);
}

list.addEventListener("focusout", (event) => {
  const place = fieldOf(event);
  if (place?.name === "tag" && !isAnswer(event.relatedTarget)) takeTag(place.input, place.item.id);
  if (place?.name === "points") {
    place.input.value = refusedPoints.get(place.item.id) ?? showPoints(place.item.points);
  }
});

/**
 * @param {string} id of a datalist
 * @param {Iterable<string>} values
 */
export function offer(id, values) {
  const options = Array.from(values, (value) => {
    const option = document.createElement("option");
    option.value = value;
    return option;
  });
  element(id, HTMLDataListElement).replaceChildren(...options);
}

/* Common axes are offered at once; those that this benchmark uses are fetched with the first field for them. */
let isSuggested = false;
let areAxesKnown = false;
/** @type {Map<string, string>} */
const typedEarly = new Map(); // what was typed as an axis before the server said which ones the benchmark uses, by item

async function suggest() {
  if (isSuggested) return;
  isSuggested = true;
  const { status, body } = await ask("GET", editor.dataset.tagsUrl ?? "");
  if (status === 200 && Array.isArray(body?.axes) && Array.isArray(body?.tags)) {
    offer("axes", body.axes.map(axisWord));
    offer("tags", body.tags);
    areAxesKnown = true;
    for (const [id, word] of typedEarly) {
      const item = findItem(id);
      if (item && axisOf(item) && axisOf(item) !== axisCode(word)) putAxis(id, word);
    }
    typedEarly.clear();
  } else isSuggested = false; // tried again with the next field
}
