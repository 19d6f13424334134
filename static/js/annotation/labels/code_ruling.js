// @ts-check
/* The page of a ruling on codes, with its keys, and the list of such rulings. */
import { element, findAll } from "../../core/page.js";
import { parseStored, SaveStore } from "../../core/save_store.js";
import "../shared/work_time.js";

const form = document.getElementById("ruling-form");

/* A ruling is given once and for all, so nothing of it is saved on the server before: the browser keeps it until the
   ruling was given, by this person or another one. */

const who = document.getElementById("session-ended")?.dataset.who ?? "";
/** @type {SaveStore<{ codes: string[], note: string, client_id?: string, after?: string[] }>} */
const store = new SaveStore(() => localStorage, `consilium.code-ruling:${who}:`);
const ruling = form?.dataset.ruling ?? "";
const isOpen = form !== null && !form.querySelector("fieldset[disabled]");

function keep() {
  const codes = boxes().filter((box) => box.checked);
  store.put(ruling, {
    codes: codes.map((box) => box.value),
    note: element("ruling-note", HTMLTextAreaElement).value,
  });
}

function restore() {
  const kept = store.get(ruling);
  const note = element("ruling-note", HTMLTextAreaElement);
  if (!Array.isArray(kept?.codes) || note.value || boxes().some((box) => box.checked)) return;
  for (const box of boxes()) box.checked = kept.codes.includes(box.value);
  note.value = String(kept.note ?? "");
}

/** @returns {HTMLInputElement[]} */
function boxes() {
  return form ? findAll(form, "[data-key]", HTMLInputElement) : [];
}

form?.addEventListener("change", (event) => {
  const box = event.target;
  if (!(box instanceof HTMLInputElement) || !box.checked) return;
  const isNone = box.matches("[data-none]");
  for (const other of boxes()) if (other !== box && other.matches("[data-none]") !== isNone) other.checked = false;
  keep();
});
form?.addEventListener("input", keep);
document.addEventListener("keydown", (event) => {
  if (!(form instanceof HTMLFormElement) || document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    if (!event.repeat) form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
  if (event.target.matches("textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const box = boxes().find((each) => each.dataset.key === event.key.toLowerCase());
  if (box) {
    box.click();
    box.closest(".code")?.scrollIntoView({ block: "nearest" });
  } else if (event.key === "t" || event.key === "T") element("ruling-note", HTMLTextAreaElement).focus();
  else if (event.key === "?" && isOpen) element("keys", HTMLDialogElement).showModal();
  else return;
  event.preventDefault();
});

/* Sending alone removes nothing: the connection may drop, or the session may have ended. */
const waiting = new Set(parseStored(document.getElementById("waiting-rulings")?.textContent ?? null));
for (const id of Object.keys(store.entries())) if (!waiting.has(id)) store.remove(id);
if (isOpen) restore();
