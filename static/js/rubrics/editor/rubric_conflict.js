// @ts-check
/* What two people changed in the same criterion: both are shown, and the author chooses. */
import { element, find, findAll } from "../../core/page.js";
import { tagWord } from "./rubric_axes.js";
import { start, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_model.js").Question} Question
 */

/**
 * Whose version it is; another window of the same person may have saved it.
 * @param {string} person
 */
function theirWords(person) {
  return person === start.name ? words("mine_elsewhere") : words("their").replace("PERSON", person);
}

/**
 * A version in words: its text, and behind it points and tags.
 * @param {Item} item
 */
function versionWords({ text, points, tags }) {
  const sign = points > 0 ? "+" : points < 0 ? "−" : "";
  return `${text} (${[`${sign}${Math.abs(points)}`, ...tags.map(tagWord)].join(" · ")})`;
}

/**
 * @param {Question} question
 * @param {"mine" | "theirs"} side
 * @param {string} name of the radio button
 * @param {string} person
 */
function choice(question, side, name, person) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.type = "radio";
  input.name = name;
  input.value = side;
  input.checked = side === "mine";
  const text = document.createElement("span");
  const heading = document.createElement("b");
  heading.textContent = side === "mine" ? words("mine") : theirWords(person);
  const item = question[side];
  const version = document.createElement("span");
  version.textContent = item ? versionWords(item) : words("absent");
  text.append(heading, version);
  label.append(input, text);
  return label;
}

/**
 * @param {Question[]} questions
 * @param {string} person who changed the same criteria
 * @returns {Promise<Record<string, string>>} id → "mine" or "theirs"
 */
export function askConflict(questions, person) {
  const dialog = element("conflict", HTMLDialogElement);
  const isOwn = person === start.name;
  element("conflict-title", HTMLElement).textContent = words(isOwn ? "conflict_own" : "conflict_both");
  find(dialog, '[data-all="theirs"]', HTMLElement).textContent = words(isOwn ? "all_elsewhere" : "all_theirs");
  find(dialog, '[data-all="mine"]', HTMLElement).textContent = words(isOwn ? "all_here" : "all_mine");
  find(dialog, "[data-who]", HTMLElement).textContent = isOwn
    ? words("both_mine")
    : words("both").replace("PERSON", person);
  const box = element("conflict-list", HTMLElement);
  box.replaceChildren(
    ...questions.map((question, place) => {
      const set = document.createElement("fieldset");
      const name = `question-${place}`;
      set.append(choice(question, "mine", name, person), choice(question, "theirs", name, person));
      return set;
    }),
  );
  return new Promise((resolve) => {
    for (const button of findAll(dialog, "[data-all]", HTMLElement)) {
      button.onclick = () => {
        for (const input of findAll(box, `input[value="${button.dataset.all}"]`, HTMLInputElement))
          input.checked = true;
        dialog.close();
      };
    }
    element("conflict-done", HTMLElement).onclick = () => dialog.close();
    /** @param {number} place */
    const chosen = (place) => find(box, `input[name="question-${place}"]:checked`, HTMLInputElement).value;
    dialog.addEventListener(
      "close",
      () => resolve(Object.fromEntries(questions.map((question, place) => [question.id, chosen(place)]))),
      { once: true },
    );
    dialog.showModal();
  });
}
