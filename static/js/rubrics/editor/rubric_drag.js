// @ts-check
/* Dragging a row of the rubric editor by its number. */
import { findAll, targetWithin } from "../../core/page.js";
import { move } from "./rubric_list.js";
import { idOf, list, rowOf } from "./rubric_rows.js";
import { itemOf, placeOf } from "./rubric_state.js";

let dragged = "";

/** @param {string[]} names of classes */
function unmark(...names) {
  const selector = names.map((name) => `.${name}`).join(", ");
  for (const node of findAll(list, selector, HTMLElement)) node.classList.remove(...names);
}

list.addEventListener("dragstart", (event) => {
  if (!targetWithin(event, "[data-handle]") || !event.dataTransfer) return;
  dragged = idOf(event.target);
  event.dataTransfer.effectAllowed = "move";
  event.dataTransfer.setData("text/plain", itemOf(dragged).text);
  event.dataTransfer.setDragImage(rowOf(dragged), 20, 20);
  rowOf(dragged).classList.add("dragged");
});

list.addEventListener("dragover", (event) => {
  const over = targetWithin(event, ".item");
  if (!dragged || !over) return;
  event.preventDefault();
  unmark("over", "under-it");
  const box = over.getBoundingClientRect();
  over.classList.add(event.clientY < box.top + box.height / 2 ? "over" : "under-it");
});

list.addEventListener("drop", (event) => {
  const over = targetWithin(event, ".item");
  if (!dragged || !over) return;
  event.preventDefault();
  let to = placeOf(over.dataset.id) + (over.classList.contains("under-it") ? 1 : 0);
  if (placeOf(dragged) < to) to -= 1;
  move(dragged, to);
});

list.addEventListener("dragend", () => {
  dragged = "";
  unmark("over", "under-it", "dragged");
});
