// @ts-check
/* The form of the case editor as a content, and a content in the form. */
import { element } from "../../core/page.js";
import { fieldsOf, isSameField, partOf } from "./case_content.js";
import { fields, form, isFrozen } from "./case_state.js";
import { startTags } from "./case_tags.js";
import { startTurns } from "./case_turns.js";

/**
 * @typedef {import("./case_content.js").Content} Content
 * @typedef {import("./case_content.js").Part} Part
 * @typedef {"key" | "reference_answer" | "difficulty" | "register" | "language"} TextName
 */

/** @type {TextName[]} */
const TEXTS = ["difficulty", "register", "language"];
/** @type {TextName[]} */
const OWN_TEXTS = ["key", "reference_answer"];

/** @param {() => void} changed is called after every change of tags or turns */
export function startForm(changed) {
  const turns = isFrozen ? null : startTurns(element("turns", HTMLElement), changed);
  const tags = startTags(changed);

  /** @param {TextName} name */
  function field(name) {
    const input = form.elements.namedItem(name);
    const isField =
      input instanceof HTMLInputElement || input instanceof HTMLSelectElement || input instanceof HTMLTextAreaElement;
    return isField ? input : null;
  }

  /** @param {TextName} name */
  function value(name) {
    return field(name)?.value ?? "";
  }

  /** @returns {Part} */
  function read() {
    /** @type {Part} */
    const content = {
      difficulty: value("difficulty"),
      register: value("register"),
      language: value("language"),
      tags: tags.read(),
    };
    if (turns) {
      content.key = value("key").trim();
      content.conversation = turns.read();
      content.reference_answer = value("reference_answer");
    }
    return partOf(content, fields);
  }

  /**
   * Only fields that differ are changed: a field in which somebody types is not rebuilt.
   * @param {Content} content
   */
  function show(content) {
    const now = read();
    const next = partOf(content, fieldsOf(false));
    for (const name of isFrozen ? TEXTS : [...TEXTS, ...OWN_TEXTS]) {
      const input = field(name);
      if (input && !isSameField(now, next, name)) input.value = content[name];
    }
    if (!isSameField(now, next, "tags")) tags.show(content.tags);
    if (turns && !isSameField(now, next, "conversation")) turns.show(content.conversation);
  }

  return { read, show, finishTags: tags.finishAll };
}
