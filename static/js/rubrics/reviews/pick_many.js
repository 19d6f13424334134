// @ts-check
/* A list with checkboxes: tick all, show how many are ticked, and open or close what changed in each row. */
import { find, findAll } from "../../core/page.js";
import { tickOfAll } from "../../core/ticks.js";

/** @param {HTMLFormElement} form */
function start(form) {
  const all = form.querySelector("[data-pick-all]") ? find(form, "[data-pick-all]", HTMLInputElement) : null;
  const count = form.querySelector("[data-pick-count]");
  const submit = form.querySelector("[data-pick-submit]") ? find(form, "[data-pick-submit]", HTMLButtonElement) : null;

  const boxes = () => findAll(form, ".pick input[type=checkbox]:not(:disabled)", HTMLInputElement);

  function show() {
    const ticked = boxes().filter((box) => box.checked).length;
    if (count) count.textContent = ticked ? String(ticked) : "";
    if (submit) submit.disabled = !ticked;
    if (all) Object.assign(all, tickOfAll(ticked, boxes().length));
  }

  all?.addEventListener("change", () => {
    for (const box of boxes()) box.checked = all.checked;
    show();
  });
  form.addEventListener("change", (event) => {
    if (event.target !== all) show();
  });
  startOpener(form);
  show();
}

/**
 * The button that opens what changed in every row, or closes it again; it carries its other label with it.
 * @param {HTMLFormElement} form
 */
function startOpener(form) {
  const opener = form.querySelector("[data-open-all]");
  if (!(opener instanceof HTMLElement)) return;
  opener.addEventListener("click", () => {
    const details = findAll(form, ".pick details", HTMLDetailsElement);
    const anyClosed = details.some((box) => !box.open);
    for (const box of details) box.open = anyClosed;
    const label = opener.textContent ?? "";
    opener.textContent = opener.dataset.textClose ?? "";
    opener.dataset.textClose = label;
  });
}

const form = document.querySelector("form[data-pick]");
if (form instanceof HTMLFormElement) start(form);
