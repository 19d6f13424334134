// @ts-check
/* The tags of a row in the rubric editor. A new one that is near to a known one is asked about. */
import { nearest, sameWord } from "../../core/nearest.js";
import { enterWord, questionTaken } from "../../core/new_word.js";
import { element } from "../../core/page.js";
import { beforeSave, caret, edited, past } from "./rubric_list.js";
import { AXIS } from "./rubric_model.js";
import { idOf, isTextField } from "./rubric_rows.js";
import { findItem, itemOf, state } from "./rubric_state.js";

/**
 * The tags that are typed into the field of a row.
 * @param {import("./rubric_rows.js").TextField} input
 * @param {string} id
 */
export function takeTag(input, id) {
  const tags = tagsIn(input.value);
  const known = knownTags(id);
  addTags(
    input,
    id,
    tags.map((tag) => sameWord(tag, known) ?? tag),
  );
  const typed = tags.find((tag) => sameWord(tag, known) === undefined && nearest(tag, known).length);
  if (typed && input instanceof HTMLInputElement) {
    questionTaken(input, typed, known, tagPlace(input), waysOfTags(input, id));
  }
}

/**
 * Enter in the field: asks first where a tag is new and a known one is near.
 * @param {import("./rubric_rows.js").TextField} input
 * @param {string} id
 */
export function enterTag(input, id) {
  if (tagsIn(input.value).length > 1 || !(input instanceof HTMLInputElement)) takeTag(input, id);
  else enterWord(input, knownTags(id), tagPlace(input), waysOfTags(input, id));
}

/** @param {string} text */
function tagsIn(text) {
  return text
    .split(/[;；]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
}

/**
 * The tags of the benchmark's criteria and of the other ones here.
 * @param {string} id
 */
function knownTags(id) {
  const own = state.items.flatMap((item) => (item.id === id ? [] : item.tags.filter((tag) => !tag.startsWith(AXIS))));
  return [...new Set([...[...element("tags", HTMLDataListElement).options].map(({ value }) => value), ...own])];
}

/** @param {HTMLInputElement} input */
function tagPlace(input) {
  return input.closest("label") ?? input;
}

/**
 * @param {HTMLInputElement} input
 * @param {string} id
 */
function waysOfTags(input, id) {
  return {
    /** @param {string} word */
    take: (word) => addTags(input, id, [word]),
    /**
     * @param {string} typed
     * @param {string} word
     */
    replace: (typed, word) => {
      const item = findItem(id);
      if (!item?.tags.includes(typed)) return;
      const from = caret();
      item.tags = [...new Set(item.tags.map((tag) => (tag === typed ? word : tag)))];
      edited(id);
      past.note(from);
    },
  };
}

/**
 * @param {import("./rubric_rows.js").TextField} input
 * @param {string} id
 * @param {string[]} tags
 */
function addTags(input, id, tags) {
  const item = findItem(id);
  input.value = "";
  if (!tags.length || !item) return;
  const from = caret();
  item.tags = [...new Set([...item.tags, ...tags])];
  edited(id);
  past.note(from);
}

/**
 * @param {string} id
 * @param {string} tag
 */
export function dropTag(id, tag) {
  const from = caret();
  const item = itemOf(id);
  item.tags = item.tags.filter((other) => other !== tag);
  edited(id);
  past.note(from);
}

beforeSave(() => {
  const input = document.activeElement;
  if (isTextField(input) && input.dataset.field === "tag" && findItem(idOf(input))) takeTag(input, idOf(input));
});
