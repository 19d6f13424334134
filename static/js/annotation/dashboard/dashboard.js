// @ts-check
/* Choosing pieces of work to hand over, and the dialog that shows what would move. Without this script a page does. */
import { find, findAll, optionalElement } from "../../core/page.js";
import { tickOfAll } from "../../core/ticks.js";
import { wordsOf } from "../../core/words.js";

const dialog = optionalElement("handover-dialog", HTMLDialogElement);
const bar = optionalElement("pick-bar", HTMLElement);
const text = wordsOf("pick-words");

const boxes = () => findAll(document, "input[name=piece]", HTMLInputElement);

function showChosen() {
  if (!bar) return;
  const chosen = boxes().filter((box) => box.checked).length;
  const words = text(chosen === 1 ? "one" : "many").replace("0", String(chosen));
  find(bar, "[data-chosen]", HTMLElement).textContent = words;
  find(bar, "button", HTMLButtonElement).disabled = chosen === 0;
  const all = optionalElement("pick-all", HTMLInputElement);
  if (all) Object.assign(all, tickOfAll(chosen, boxes().length));
}

document.addEventListener("change", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLInputElement)) return;
  if (field.id === "pick-all") for (const box of boxes()) box.checked = field.checked;
  if (field.id === "pick-all" || field.name === "piece") showChosen();
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event instanceof CustomEvent && dialog && event.detail.target === dialog && !dialog.open) dialog.showModal();
});
showChosen();
