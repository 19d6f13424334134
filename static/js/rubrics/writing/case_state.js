// @ts-check
/* What the modules of the case editor share. */
import { element } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { fieldsOf } from "./case_content.js";

/** @typedef {{ version: number, edit_id: string, case: import("./case_content.js").Content }} Stored */

export const editor = element("case-editor", HTMLElement);
export const form = element("case-form", HTMLFormElement);
export const words = wordsOf("case-words");
export const isFrozen = editor.dataset.frozen !== "";
export const fields = fieldsOf(isFrozen);

/** @type {Stored} what the server had when the page was made */
export const stored = JSON.parse(element("case-state", HTMLScriptElement).textContent ?? "");

/**
 * @param {string} text with names in braces
 * @param {Record<string, string | number>} values
 */
export function fillIn(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));
}
