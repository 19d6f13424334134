// @ts-check
/* Questions about coverage and pairs from the keyboard: a digit gives the answer with that number, U goes back to the
   previous question. Keys are off while somebody types, and with a modifier. */
import { findAll, targetWithin } from "../../core/page.js";

const TYPING = "input:not([type='radio']), textarea, select, [contenteditable], dialog[open]";

// A refused form comes back at the top of the page: its first question without an answer may be out of view.
const lacking = document.querySelector("main fieldset:has(.error:not([hidden])), main .field:has(.errors)");
if (lacking) {
  lacking.scrollIntoView({ block: "center" });
  const input = lacking.querySelector("input, select, textarea");
  if (input instanceof HTMLElement) input.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
  if (event.isComposing || targetWithin(event, TYPING)) return;
  const target = findAll(document, "[data-key]", HTMLElement).find(
    (candidate) => candidate.dataset.key === event.key.toLowerCase(),
  );
  if (!target) return;
  event.preventDefault();
  target.click();
});
