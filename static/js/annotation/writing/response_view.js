// @ts-check
/* Writing and preview of the response, and starting it from a reference. */
import { element, find, findAll, targetWithin } from "../../core/page.js";
import { ask } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { begunFrom, editor, page, replaceText, text, writable } from "./response_saving.js";

const shown = element("shown", HTMLElement);
const replaceDialog = element("replace", HTMLDialogElement);

export const isPreviewing = () => !shown.hidden;

/** @param {string | undefined} name "write" or "preview" */
export async function view(name) {
  for (const button of findAll(document, "[data-view]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(button.dataset.view === name));
  }
  if (name === "preview") {
    const { status, body } = await ask("POST", page.dataset.checkUrl ?? "", { text: editor.value });
    if (status === 200 && body.html) shown.innerHTML = body.html;
    else shown.textContent = text(status === 200 ? "nothing" : "failed");
  }
  shown.hidden = name !== "preview";
  editor.hidden = name === "preview";
  if (name === "write") editor.focus({ preventScroll: true });
}

/** @type {number | null} */
let wanted = null; // the place of a reference, or null for an empty text

/** @param {number | null} place */
function startFrom(place) {
  wanted = place;
  if (!editor.value.trim()) {
    begin();
    return;
  }
  find(replaceDialog, "[data-from]", HTMLElement).hidden = place === null;
  find(replaceDialog, "[data-over]", HTMLElement).hidden = place !== null;
  replaceDialog.showModal();
}

/** @param {number} place */
function referenceText(place) {
  return JSON.parse(element(`reference-text-${place}`, HTMLElement).textContent ?? "");
}

function begin() {
  replace(wanted === null ? "" : referenceText(wanted), wanted);
}

const UNDO_MS = 10_000;

/**
 * Another text takes the place of what is written, which a message offers to bring back.
 * @param {string} words
 * @param {number | null} place of the reference
 */
function replace(words, place) {
  const [before, beforePlace] = [editor.value, begunFrom()];
  replaceText(words, place);
  view("write");
  if (!before.trim()) return;
  const action = { label: wordsOf("page-words")("undo"), run: () => replace(before, beforePlace) };
  toast(text("replaced"), "success", { action, shownMs: UNDO_MS });
}

find(replaceDialog, "[data-replace]", HTMLElement).addEventListener("click", () => {
  replaceDialog.close();
  begin();
});
document.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-view], [data-start-from], [data-start-over]");
  if (!button) return;
  if (button.dataset.view) view(button.dataset.view);
  else if (writable) startFrom(button.dataset.startFrom === undefined ? null : Number(button.dataset.startFrom));
});
