// @ts-check
/* A criterion as it will be once the server has stored what was chosen for it. The stored row takes its place. */
import { find, findAll } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { press, reasonBox, storedReason } from "./reviewing_reasons.js";

const text = wordsOf("reviewing-words");

/**
 * The row counts as amended or as marked at once: the counts in the bars include what is not saved yet.
 * @param {HTMLElement} row
 * @param {string} outcome that was chosen, or that is stored where the chosen one was refused
 */
export function showOutcome(row, outcome) {
  row.dataset.outcome = outcome;
  if (row.dataset.default !== undefined) {
    const isMark = outcome === "review";
    row.dataset.amended = isMark || outcome === row.dataset.default ? "" : outcome;
    row.dataset.marked = isMark ? "1" : "";
  }
  press(row, outcome);
}

/** @param {HTMLElement} row that shows what is stored again */
export function endWaiting(row) {
  row.querySelector("[data-waiting-change]")?.remove();
}

/**
 * The stored amendment, mark or reason is hidden meanwhile.
 * @param {HTMLElement} row whose outcome is chosen and not stored yet
 * @param {string} reason empty where there is none
 */
export function showWaiting(row, reason) {
  endWaiting(row);
  const change = row.dataset.default === undefined ? rulingOf(row, reason) : changeOf(row, reason);
  if (!change) return;
  const place = row.querySelector("[data-waiting-place]") ?? reasonBox(row);
  place?.before(change);
}

/**
 * @param {HTMLElement} row of an adjudication
 * @param {string} reason
 */
function rulingOf(row, reason) {
  if (!reason || reason === storedReason(row)) return null;
  const change = document.createElement("div");
  change.dataset.waitingChange = "";
  const [line, state] = [document.createElement("div"), document.createElement("p")];
  line.className = "waiting-reason";
  line.dataset.waiting = "";
  line.textContent = reason;
  state.className = "muted small";
  state.textContent = text("not_saved");
  change.append(line, state);
  return change;
}

/**
 * @param {HTMLElement} row of a check
 * @param {string} reason
 */
function changeOf(row, reason) {
  const template = document.getElementById("waiting-change");
  const { amended, marked, default: given = "" } = row.dataset;
  const copy = template instanceof HTMLTemplateElement && template.content.firstElementChild?.cloneNode(true);
  if (!(copy instanceof HTMLElement)) return null;
  const kept = amended ? "amended" : marked ? "marked" : "own";
  for (const line of findAll(copy, "[data-change]", HTMLElement)) if (line.dataset.change !== kept) line.remove();
  if (amended) {
    for (const [place, outcome] of [
      ["from", given],
      ["to", amended],
    ]) {
      // Each place holds a chip for every outcome.
      for (const chip of findAll(copy, `[data-${place}]`, HTMLElement)) {
        if (chip.getAttribute(`data-${place}`) !== outcome) chip.remove();
      }
    }
  }
  if (kept === "own") find(copy, ".answer", HTMLElement).remove();
  else find(copy, "[data-waiting]", HTMLElement).textContent = reason;
  return copy;
}
