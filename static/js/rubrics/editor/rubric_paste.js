// @ts-check
/* Many criteria at once: a table that is pasted or read from a file. The server understands it, the author looks at
   it, and then it goes into the rubric. */
import { element, findAll } from "../../core/page.js";
import { token } from "../../core/server.js";
import { soon } from "../../core/soon.js";
import { toast } from "../../core/toast.js";
import { tagWord } from "./rubric_axes.js";
import { learn } from "./rubric_cited.js";
import { act, focus, insert } from "./rubric_list.js";
import { newItem, replaceAll } from "./rubric_model.js";
import { idOf, isTextField } from "./rubric_rows.js";
import { editor, findItem, state, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_state.js").Fault} Fault
 * @typedef {object} Table what the server understood
 * @property {string[]} columns what each column was taken for
 * @property {(Item & { line: number })[]} rows
 * @property {import("./rubric_model.js").Cited[]} cited what is shown of their citations
 * @property {Fault[]} faults
 * @property {number} fault_total
 */

const READ_MS = 300;
const MAX_SHOWN = 12;
const COLUMNS = [
  ...["position", "criterion", "points", "axis", "tags"],
  ...["source", "element", "expectation", "bank", "citations"],
];

const dialog = element("paste", HTMLDialogElement);
const text = element("paste-text", HTMLTextAreaElement);
const file = element("paste-file", HTMLInputElement);
const preview = element("paste-preview", HTMLElement);
const insertButton = element("paste-insert", HTMLButtonElement);
const asTextButton = element("paste-as-text", HTMLElement);
const replace = element("paste-replace", HTMLInputElement);

/** @type {Table | null} */
let table = null;
/** @type {{ area: HTMLInputElement | HTMLTextAreaElement, start: number, end: number } | null} */
let target = null; // the text into which was pasted
let requests = 0;
let pastedText = "";

/**
 * @param {string} [pasted]
 * @param {HTMLInputElement | HTMLTextAreaElement | null} [area] the text into which was pasted
 */
export function openPaste(pasted = "", area = null) {
  target = area ? { area, start: area.selectionStart ?? 0, end: area.selectionEnd ?? 0 } : null;
  text.value = pasted;
  pastedText = text.value;
  file.value = "";
  asTextButton.hidden = !area;
  element("paste-replace-label", HTMLElement).hidden = state.items.length === 0;
  replace.checked = false;
  dialog.showModal();
  text.focus();
  show(null);
  if (pasted) readTable();
}

/** @param {string[]} [columns] what the author takes the columns for */
async function readTable(columns) {
  requests += 1;
  const request = requests;
  const body = new FormData();
  if (file.files?.length) body.append("file", file.files[0]);
  else if (text.value.trim()) body.append("text", text.value);
  else {
    show(null);
    return;
  }
  if (columns) body.append("columns", columns.join(","));
  try {
    const answer = await fetch(editor.dataset.pasteUrl ?? "", {
      method: "POST",
      credentials: "same-origin",
      headers: { "X-CSRFToken": token(), "HX-Request": "true" },
      body,
    });
    if (request !== requests) return;
    if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    if (!answer.ok) throw new Error(String(answer.status));
    /** @type {Table} */
    const answered = await answer.json();
    learn(answered.cited);
    show(answered);
    // What was pasted is understood: Enter takes it.
    if (target && !insertButton.disabled && document.activeElement === text && text.value === pastedText) {
      insertButton.focus();
    }
  } catch {
    if (request !== requests) return;
    show(null);
    preview.textContent = words("unread");
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {string} [content]
 * @param {string} [className]
 * @returns {HTMLElementTagNameMap[Name]}
 */
function newElement(name, content, className) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (content !== undefined) node.textContent = content;
  return node;
}

/** @param {Table | null} understood */
function show(understood) {
  table = understood;
  insertButton.disabled = !table?.rows.length || table.fault_total > 0;
  preview.replaceChildren();
  if (!table) return;
  preview.append(columnChoice(table.columns));
  if (table.fault_total) preview.append(faultList(table.faults));
  if (table.rows.length) preview.append(rowTable(table.rows.slice(0, MAX_SHOWN)));
  const hidden = table.rows.length - MAX_SHOWN;
  if (hidden > 0) preview.append(newElement("p", words("more_missing").replace("NUMBER", String(hidden)), "muted"));
}

/** @param {string} name of a column; what is no column stays as it is */
function columnWord(name) {
  return COLUMNS.includes(name) ? words(`${name}_column`) : name;
}

/** @param {Fault[]} faults */
function faultList(faults) {
  const list = newElement("ul", undefined, "paste-faults");
  for (const fault of faults) {
    const line = fault.line ? words("line").replace("NUMBER", String(fault.line)) : "";
    const place = [line, columnWord(fault.field)].filter(Boolean).join(", ");
    list.append(newElement("li", place ? `${place}: ${fault.message}` : fault.message));
  }
  return list;
}

/** @param {Item[]} items */
function rowTable(items) {
  const body = newElement("tbody");
  for (const item of items) {
    const row = newElement("tr");
    const rest = [...item.tags.map(tagWord), item.source, item.element, item.expectation].filter(Boolean);
    row.append(
      newElement("td", item.text),
      newElement("td", item.points ? String(item.points) : "·", "num"),
      newElement("td", rest.join(" · "), "muted"),
    );
    body.append(row);
  }
  const node = newElement("table", undefined, "data compact");
  node.append(body);
  return node;
}

/**
 * What each column was taken for, to be changed where the guess is wrong.
 * @param {string[]} columns
 */
function columnChoice(columns) {
  const box = newElement("div", undefined, "columns-guessed");
  if (columns.length < 2) return box;
  columns.forEach((column, place) => {
    const select = newElement("select");
    select.setAttribute("aria-label", `${place + 1}`);
    for (const name of ["", ...COLUMNS]) {
      const option = newElement("option", name ? columnWord(name) : words("skip"));
      option.value = name;
      option.selected = name === column;
      select.append(option);
    }
    select.addEventListener("change", () => {
      readTable(findAll(box, "select", HTMLSelectElement).map(({ value }) => value));
    });
    box.append(select);
  });
  return box;
}

insertButton.addEventListener("click", () => {
  if (!table) return;
  const fresh = table.rows.map(({ line, ...fields }) => newItem(fields));
  dialog.close();
  if (replace.checked) act((items) => items.splice(0, items.length, ...replaceAll(items, fresh)));
  else insert(fresh, target ? idOf(target.area) : (state.items.at(-1)?.id ?? ""));
  toast(words(fresh.length === 1 ? "inserted_one" : "inserted").replace("NUMBER", String(fresh.length)));
  focus(findItem(fresh[0].id) ? fresh[0].id : state.items[0].id);
});

dialog.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) insertButton.click();
});

asTextButton.addEventListener("click", () => {
  dialog.close();
  if (!target) return;
  target.area.focus();
  target.area.setRangeText(text.value, target.start, target.end, "end");
  target.area.dispatchEvent(new Event("input", { bubbles: true }));
});

const readSoon = soon(readTable, READ_MS);
text.addEventListener("input", () => {
  file.value = "";
  readSoon();
});
file.addEventListener("change", () => readTable());

document.addEventListener("paste", (event) => {
  const input = event.target instanceof Element ? event.target.closest("textarea, input") : null;
  const area = isTextField(input) ? input : null;
  if (document.querySelector("dialog[open]") || (area && area.dataset.field !== "text")) return;
  const pasted = event.clipboardData?.getData("text/plain") ?? "";
  const lines = pasted.split("\n").filter((line) => line.trim());
  if (lines.length < 2 && !pasted.includes("\t")) return;
  event.preventDefault();
  openPaste(pasted, area);
});
