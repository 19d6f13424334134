// @ts-check
/* The rows of the rubric editor: made from a template and kept in step with the items. An item keeps its node for as
   long as it is in the list, so that the cursor stays where it is. */
import { element, find, findAll } from "../../core/page.js";
import { axisCode, axisWord, tagWord } from "./rubric_axes.js";
import { showCitations } from "./rubric_cited.js";
import { AXIS, axisOf } from "./rubric_model.js";
import { showPoints } from "./rubric_points.js";
import { refusedPoints, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {HTMLInputElement | HTMLTextAreaElement} TextField
 * @typedef {{ kind: string, label: string, text: string }} Note of a reviewer or a grader, or on the points; `kind` is
 *   a class of CSS
 * @typedef {object} Remark of the lint
 * @property {string} rule
 * @property {string} severity
 * @property {string} item
 * @property {number} start of the words that it is about, in code points
 * @property {number} end
 * @property {string} why
 * @property {string} advice
 * @property {string} other the id of another item that it is about; empty where there is none
 * @property {{ label: string, texts: string[] } | null} fix
 */

export const list = element("items", HTMLElement);
const template = element("row", HTMLTemplateElement);

/**
 * @param {string} id of an item
 * @returns {HTMLElement | null}
 */
export function row(id) {
  return document.getElementById(`item-${id}`);
}

/**
 * @param {string} id of an item
 * @returns {HTMLElement} throws where the list has no such row
 */
export function rowOf(id) {
  return element(`item-${id}`, HTMLElement);
}

/**
 * @param {unknown} value
 * @returns {value is TextField}
 */
export function isTextField(value) {
  return value instanceof HTMLInputElement || value instanceof HTMLTextAreaElement;
}

/**
 * @param {Element} node a row
 * @param {string} name of its field
 * @returns {TextField}
 */
export function field(node, name) {
  const input = node.querySelector(`[data-field="${name}"]`);
  if (!isTextField(input)) throw new Error(`The row has no field "${name}".`);
  return input;
}

/**
 * @param {unknown} target something on the page
 * @returns {string} the id of the item in whose row it is; empty outside the list
 */
export function idOf(target) {
  const item = target instanceof Element ? target.closest(".item") : null;
  return (item instanceof HTMLElement && item.dataset.id) || "";
}

/** @param {HTMLElement} area */
export function grow(area) {
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight + 2}px`;
}

/**
 * @param {TextField} input
 * @param {string} text
 */
function put(input, text) {
  if (input.value === text) return;
  const at = document.activeElement === input ? input.selectionStart : null;
  input.value = text;
  if (at !== null) input.setSelectionRange(Math.min(at, text.length), Math.min(at, text.length));
}

/**
 * @param {Item} item
 * @returns {HTMLElement}
 */
function newRow(item) {
  const node = find(template.content, ".item", HTMLElement).cloneNode(true);
  if (!(node instanceof HTMLElement)) throw new Error("The template of a row is not an element.");
  node.id = `item-${item.id}`;
  node.dataset.id = item.id;
  find(node, "[data-remarks]", HTMLElement).id = `remarks-${item.id}`;
  for (const name of ["text", "points"]) field(node, name).setAttribute("aria-describedby", `remarks-${item.id}`);
  return node;
}

/**
 * @param {HTMLElement} node
 * @param {Item} item
 */
function showTags(node, item) {
  const tags = item.tags.filter((tag) => tag !== AXIS + axisOf(item));
  const box = find(node, "[data-chips]", HTMLElement);
  const shown = tags.join("\n");
  if (box.dataset.shown === shown) return;
  box.dataset.shown = shown;
  box.replaceChildren(
    ...tags.map((tag) => {
      const chip = document.createElement("span");
      chip.className = "tag";
      const name = document.createElement("span");
      name.textContent = tagWord(tag);
      const remove = document.createElement("button");
      remove.type = "button";
      remove.dataset.removeTag = tag;
      remove.setAttribute("aria-label", words("remove").replace("TAG", tagWord(tag)));
      remove.textContent = "×";
      chip.append(name, remove);
      return chip;
    }),
  );
}

/**
 * @param {HTMLElement} node
 * @param {number} place of its item
 */
function showNumber(node, place) {
  const number = String(place + 1);
  const shown = find(node, ".n", HTMLElement);
  if (shown.textContent === number) return;
  shown.textContent = number;
  const name = words("criterion").replace("NUMBER", number);
  node.setAttribute("aria-label", name);
  // Thirty fields with the same name would be indistinguishable in a screen reader.
  for (const part of findAll(node, "[data-field], summary, [data-do=more]", HTMLElement)) {
    part.dataset.name ??=
      part.getAttribute("aria-label") ?? (part.closest("label")?.textContent ?? part.textContent ?? "").trim();
    part.setAttribute("aria-label", part.dataset.field === "text" ? name : `${part.dataset.name}, ${name}`);
  }
}

/**
 * @param {HTMLElement} node
 * @param {Item} item
 * @param {number} place
 */
function fill(node, item, place) {
  showNumber(node, place);
  const area = field(node, "text");
  if (area.value !== item.text) {
    put(area, item.text);
    if (node.isConnected) grow(area);
  }
  put(field(node, "source"), item.source);
  put(field(node, "element"), item.element);
  put(field(node, "expectation"), item.expectation);
  const axis = field(node, "axis");
  if (document.activeElement !== axis || axisCode(axis.value) !== axisOf(item)) put(axis, axisWord(axisOf(item)));
  const points = field(node, "points");
  if (item.points) refusedPoints.delete(item.id);
  const refused = refusedPoints.get(item.id);
  // A minus that waits for its digits stays.
  const isHalfTyped =
    document.activeElement === points && (points.value === "-" || Number(points.value) === item.points);
  if (refused !== undefined) put(points, refused);
  else if (!isHalfTyped) put(points, showPoints(item.points));
  if (refused === undefined) points.removeAttribute("aria-invalid");
  else points.setAttribute("aria-invalid", "true");
  node.classList.toggle("negative", item.points < 0);
  node.classList.toggle("no-points", !item.points && Boolean(item.text.trim()));
  showTags(node, item);
  showCitations(find(node, "[data-cites]", HTMLElement), item.citations);
}

/** @param {Item[]} items */
export function showRows(items) {
  const ids = new Set(items.map((item) => `item-${item.id}`));
  for (const node of [...list.children]) if (!ids.has(node.id)) node.remove();
  // Moving a node takes the cursor from it.
  const focused = document.activeElement;
  /** @type {[number, number | null] | null} */
  const range =
    isTextField(focused) && list.contains(focused) && focused.selectionStart !== null
      ? [focused.selectionStart, focused.selectionEnd]
      : null;
  /** @type {HTMLElement[]} */
  const fresh = [];
  items.forEach((item, place) => {
    let node = row(item.id);
    if (!node) {
      node = newRow(item);
      fresh.push(node);
    }
    if (list.children[place] !== node) list.insertBefore(node, list.children[place] ?? null);
    fill(node, item, place);
  });
  for (const node of fresh) grow(field(node, "text"));
  if (
    focused instanceof HTMLElement &&
    focused !== document.activeElement &&
    focused.isConnected &&
    list.contains(focused)
  ) {
    focused.focus({ preventScroll: true });
    if (range && isTextField(focused)) focused.setSelectionRange(...range);
  }
}

/**
 * @param {string} kind a class
 * @param {string} text
 * @param {string} [advice]
 */
function remarkLine(kind, text, advice) {
  const line = document.createElement("li");
  line.className = kind;
  const why = document.createElement("span");
  why.textContent = text;
  line.append(why);
  if (advice) {
    const todo = document.createElement("span");
    todo.className = "todo";
    todo.textContent = ` ${advice}`;
    line.append(todo);
  }
  return { line, why };
}

/**
 * @param {string} text
 * @param {Record<string, string>} data
 */
function smallButton(text, data) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain small";
  button.textContent = text;
  Object.assign(button.dataset, data);
  return button;
}

/**
 * Show below a row the remarks of the lint, of reviewers and of graders.
 * @param {HTMLElement} node
 * @param {Remark[]} remarks
 * @param {Note[]} notes
 * @param {(id: string) => string} numberOf another item; empty where the list has none
 */
export function showNotes(node, remarks, notes, numberOf) {
  const box = find(node, "[data-remarks]", HTMLElement);
  const lines = notes.map(({ kind, label, text }) => remarkLine(kind, `${label} ${text}`).line);
  remarks.forEach((remark, place) => {
    const { line, why } = remarkLine(remark.severity, remark.why, remark.advice);
    why.dataset.span = String(place);
    if (remark.fix) line.append(smallButton(remark.fix.label, { fix: String(place) }));
    const number = remark.other && numberOf(remark.other);
    if (number) line.append(smallButton(words("duplicates").replace("NUMBER", number), { goto: remark.other }));
    lines.push(line);
  });
  const shown = lines.map((line) => line.textContent).join("\n");
  if (box.dataset.shown === shown) return;
  box.dataset.shown = shown;
  box.replaceChildren(...lines);
}

// Texts break elsewhere in a wider or narrower list: the window was resized, or a column beside it opened.
let width = list.clientWidth;
new ResizeObserver(() => {
  if (list.clientWidth === width) return;
  width = list.clientWidth;
  requestAnimationFrame(() => findAll(list, "textarea", HTMLTextAreaElement).forEach(grow));
}).observe(list);
