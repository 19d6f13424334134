// @ts-check
/* What is missing before the rubric can be sent to review. */
import { element, find } from "../../core/page.js";
import { editor, state, words } from "./rubric_state.js";

/** @typedef {import("./rubric_state.js").Fault} Fault */

const MAX_SHOWN = 6;
const OF_THE_CASE = ["privacy", "conversation"]; // fields of errors that are fixed on the page of the case

/** @type {Fault[]} */
let missing = [];

/** @param {Fault} fault */
function faultLine(fault) {
  const line = document.createElement("li");
  if (!fault.line) {
    line.textContent = fault.message;
    if (OF_THE_CASE.includes(fault.field)) {
      const link = document.createElement("a");
      link.href = editor.dataset.caseUrl ?? "";
      link.textContent = words("edit_case");
      line.append(" ", link);
    }
    return line;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "plain small";
  button.dataset.goto = state.items[fault.line - 1]?.id ?? "";
  button.dataset.gotoField = fault.field === "points" ? "points" : "text";
  button.textContent = words("criterion").replace("NUMBER", String(fault.line));
  line.append(button, ` ${fault.message}`);
  return line;
}

/** @param {Element} box */
function fillList(box) {
  const lines = missing.slice(0, MAX_SHOWN).map(faultLine);
  if (missing.length > MAX_SHOWN) {
    const rest = document.createElement("li");
    rest.className = "muted";
    rest.textContent = words("more_missing").replace("NUMBER", String(missing.length - MAX_SHOWN));
    lines.push(rest);
  }
  find(box, "ul", HTMLElement).replaceChildren(...lines);
}

/** @param {Fault[]} faults below the list */
export function showMissing(faults) {
  missing = faults;
  const box = element("missing", HTMLElement);
  box.hidden = missing.length === 0 || state.items.length === 0;
  fillList(box);
}

/** @param {Fault[]} problems that do not keep the rubric from being sent; the dialog that sends it lists them */
export function showProblems(problems) {
  const box = element("send-problems", HTMLElement);
  box.hidden = problems.length === 0;
  find(box, "p", HTMLElement).textContent = words("problems").replace("NUMBER", String(problems.length));
  find(box, "ul", HTMLElement).replaceChildren(...problems.map(faultLine));
}

/** @returns {boolean} whether something is missing; the dialog shows it then, instead of its form */
export function showMissingInDialog() {
  const box = element("send-missing", HTMLElement);
  box.hidden = missing.length === 0;
  fillList(box);
  return missing.length > 0;
}
