// @ts-check
/* Criteria of the bank: searched in a dialog, and inserted into the rubric. */
import { element, findAll, targetWithin } from "../../core/page.js";
import { token } from "../../core/server.js";
import { soon } from "../../core/soon.js";
import { focus, insert } from "./rubric_list.js";
import { newItem } from "./rubric_model.js";
import { field, rowOf } from "./rubric_rows.js";
import { editor, state, words } from "./rubric_state.js";

const SEARCH_MS = 200;
const PLACE_TO_FILL = /\[[^[\]]+\]|【[^【】]+】/;

const dialog = element("bank", HTMLDialogElement);
const query = element("bank-q", HTMLInputElement);
const results = element("bank-found", HTMLElement);
let requests = 0;

async function search() {
  requests += 1;
  const request = requests;
  const parameters = new URLSearchParams({ q: query.value, case: editor.dataset.case ?? "" });
  try {
    const answer = await fetch(`${editor.dataset.bankUrl}?${parameters}`, {
      credentials: "same-origin",
      headers: { "X-CSRFToken": token(), "HX-Request": "true" },
    });
    if (request !== requests) return;
    if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    if (!answer.ok) throw new Error(String(answer.status));
    results.innerHTML = await answer.text();
  } catch {
    if (request === requests) results.textContent = words("unread");
  }
}

export function openBank() {
  dialog.showModal();
  query.select();
  if (!results.childElementCount) results.textContent = words("searching");
  search();
}

query.addEventListener("input", soon(search, SEARCH_MS));

element("bank-form", HTMLFormElement).addEventListener("submit", (event) => {
  event.preventDefault();
  const first = results.querySelector("[data-item]");
  if (first instanceof HTMLElement) first.click();
});

// The arrows lead from the search to the criteria and back; Enter inserts the one that has the focus.
dialog.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const buttons = findAll(results, "[data-item]", HTMLElement);
  const focused = document.activeElement;
  const place = focused instanceof HTMLElement ? buttons.indexOf(focused) : -1;
  if (!step || !buttons.length || (place < 0 && (document.activeElement !== query || step < 0))) return;
  event.preventDefault();
  const next = buttons[Math.min(place + step, buttons.length - 1)];
  (next ?? query).focus();
  next?.closest("li")?.scrollIntoView({ block: "nearest" });
});

results.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-item]");
  if (!button) return;
  const { text, points, tags, bank } = JSON.parse(button.dataset.item ?? "");
  const item = newItem({ text, points, tags: [...tags], bank });
  dialog.close();
  insert([item], state.lastId);
  focus(item.id, "text", text.length);
  const place = PLACE_TO_FILL.exec(text);
  if (place) field(rowOf(item.id), "text").setSelectionRange(place.index, place.index + place[0].length);
});
