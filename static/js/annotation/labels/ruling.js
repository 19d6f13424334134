// @ts-check
/* The page of a ruling: the keys of its form, and what a choice brings with it. */
import { element, findAll } from "../../core/page.js";
import "../shared/work_time.js";

const form = document.getElementById("ruling-form");

/**
 * @param {string} selector
 * @returns {HTMLInputElement[]}
 */
function inputs(selector) {
  return form ? findAll(form, selector, HTMLInputElement) : [];
}

/* A ruling between two levels sends the upper one; there is none above the top level. */
function showBetween() {
  const upper = inputs("[data-option]").find((radio) => radio.checked)?.dataset.upper ?? "";
  for (const box of inputs("[data-between]")) {
    box.disabled = upper === "";
    box.value = upper;
    if (box.disabled) box.checked = false;
  }
}

/* Another level is chosen: the ruling is for that level alone, not for it and the one above it. */
function leaveBorder() {
  for (const box of inputs("[data-between]")) box.checked = false;
}

/** @param {HTMLInputElement | undefined} radio */
function choose(radio) {
  if (!radio) return;
  if (radio.matches("[data-option]") && !radio.checked) leaveBorder();
  radio.checked = true;
  radio.focus();
  showBetween();
}

/**
 * @param {string} key
 * @returns {boolean} whether it is a key of this page
 */
function press(key) {
  const upper = key.toUpperCase();
  const level = inputs("[data-option]").find((radio) => radio.dataset.option === key);
  const reason = inputs("[data-reason]").find((radio) => radio.dataset.reason === upper);
  if (level || reason) choose(level ?? reason);
  else if (key === "?") element("keys", HTMLDialogElement).showModal();
  else if (upper === "T") element("ruling-note", HTMLTextAreaElement).focus();
  else if (upper === "B") for (const box of inputs("[data-between]:enabled")) box.checked = !box.checked;
  else return false;
  return true;
}

form?.addEventListener("change", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.matches("[data-option]")) leaveBorder();
  showBetween();
});
document.addEventListener("keydown", (event) => {
  if (!(form instanceof HTMLFormElement) || document.querySelector("dialog[open]")) return;
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter") {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
  if (event.target.matches("textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (press(event.key)) event.preventDefault();
});
showBetween();
