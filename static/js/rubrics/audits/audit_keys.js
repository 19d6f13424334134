// @ts-check
/* The auditor's keys. They are off while somebody types. */
import { neighbour } from "../../core/neighbour.js";
import { element, find, findAll } from "../../core/page.js";
import { QUESTIONS } from "./finding.js";

const TYPED_IN = "textarea, input:not([type=radio], [type=checkbox]), dialog[open]";
/** @type {Record<string, string>} */
const OUTCOME_OF_KEY = { s: "sound", r: "revise", x: "remove" };

const form = element("finding", HTMLFormElement);

/** @returns {HTMLElement | null} the criterion that has the focus, or holds it */
function currentCriterion() {
  const criterion = document.activeElement?.closest("[data-criterion]");
  return criterion instanceof HTMLElement ? criterion : null;
}

/** @param {number} step */
function move(step) {
  const next = neighbour(findAll(document, "[data-criterion]", HTMLElement), currentCriterion(), step);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** @param {string} question its answer changes from sound to at fault, and otherwise to sound */
function toggle(question) {
  const [sound, fault] = findAll(form, `[name=${question}]`, HTMLInputElement);
  (sound.checked ? fault : sound).click();
}

document.addEventListener("keydown", (event) => {
  const target = event.target;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    form.requestSubmit();
    return;
  }
  if (event.key === "Escape" && target instanceof HTMLTextAreaElement) {
    target.blur();
    return;
  }
  if (target instanceof Element && target.closest(TYPED_IN)) return;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const outcome = OUTCOME_OF_KEY[key];
  if (/^[1-4]$/.test(key)) toggle(QUESTIONS[Number(key) - 1]);
  else if (event.key === "j") move(1);
  else if (event.key === "k") move(-1);
  else if (event.key === "?") element("keys", HTMLDialogElement).showModal();
  else if (key === "f") currentCriterion()?.querySelector("input")?.click();
  else if (key === "t") find(form, "[name=comment]", HTMLTextAreaElement).focus();
  else if (outcome) find(form, `[name=outcome][value=${outcome}]`, HTMLInputElement).click();
  else return;
  event.preventDefault();
});
