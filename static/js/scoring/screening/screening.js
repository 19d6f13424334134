// @ts-check
/* Deciding on screened cases from the keyboard: j and k move, Shift+K keeps, X excludes, U undoes, Space chooses.
   Keys are off while somebody types. The forms work without this script. */
import { neighbour } from "../../core/neighbour.js";
import { find, findAll } from "../../core/page.js";
import { clearErrors } from "../../core/toast.js";

const TYPED_IN = "input:not([type=checkbox]), textarea, select, dialog[open]";

const rows = () => findAll(document, "tr[data-row]", HTMLElement);

/** @returns {HTMLElement | null} the row that has the focus, or holds it */
function currentRow() {
  const row = document.activeElement?.closest("tr[data-row]");
  return row instanceof HTMLElement ? row : null;
}

/** @param {number} step */
function move(step) {
  const row = currentRow();
  const next = row || step > 0 ? neighbour(rows(), row, step) : rows().at(-1);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** @param {string} name of the button */
function press(name) {
  const row = currentRow() ?? rows()[0];
  const button = row?.querySelector(`[data-do="${name}"]`);
  if (!(button instanceof HTMLElement)) return;
  if (name === "exclude") {
    if (button.parentElement instanceof HTMLDetailsElement) button.parentElement.open = true;
    find(row, "[name=reason]", HTMLInputElement).focus();
  } else button.click();
}

/** @type {Record<string, string>} */
const BUTTON_OF_KEY = { K: "keep", x: "exclude", X: "exclude", u: "undo", U: "undo" };

/**
 * Keys while somebody types a reason.
 * @param {KeyboardEvent} event
 * @param {Element} field
 */
function pressWhileTyping(event, field) {
  const details = field.closest("details.why");
  if (event.key === "Escape" && details instanceof HTMLDetailsElement) {
    details.open = false;
    const row = details.closest("tr[data-row]");
    if (row instanceof HTMLElement) row.focus();
  }
  // Enter would press the first button of the form, which keeps the case.
  if (event.key === "Enter" && field.matches("details.why input")) {
    event.preventDefault();
    const button = field.closest(".reason")?.querySelector("button");
    button?.click();
  }
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (!(target instanceof Element)) return;
  if (target.closest(TYPED_IN)) {
    pressWhileTyping(event, target);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const name = BUTTON_OF_KEY[event.key];
  if (event.key === "j" || event.key === "J") move(1);
  else if (event.key === "k") move(-1);
  else if (name) press(name);
  else if (event.key === " " && target.matches("tr[data-row]")) {
    const box = target.querySelector("[form=bulk]");
    if (box instanceof HTMLElement) box.click();
  } else return;
  event.preventDefault();
});

/* After a decision the next open row gets the focus. */
document.addEventListener("htmx:afterSwap", (event) => {
  if (!(event instanceof CustomEvent)) return;
  const id = event.detail.target?.id ?? "";
  if (!id.startsWith("case-")) return;
  clearErrors();
  const row = document.getElementById(id);
  const all = rows();
  const after = all.slice((row ? all.indexOf(row) : -1) + 1);
  (after.find((other) => !other.dataset.decision) ?? row)?.focus();
});

/* Checked here too: after a refusal by the server the page would come back without its ticks. */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.id !== "bulk") return;
  const reason = find(form, "[name=reason]", HTMLInputElement);
  reason.value = reason.value.trim();
  reason.required = event.submitter instanceof HTMLButtonElement && event.submitter.value === "exclude";
  if (!form.reportValidity()) event.preventDefault();
});

document.addEventListener("change", (event) => {
  const all = event.target;
  if (!(all instanceof HTMLInputElement) || !all.matches("[data-pick-all]")) return;
  for (const box of findAll(document, "input[form=bulk][name=case]", HTMLInputElement)) box.checked = all.checked;
});
