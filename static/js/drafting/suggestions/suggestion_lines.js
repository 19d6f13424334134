// @ts-check
/* The lines of the panel of suggestions: their places, what is said of their state, and what unfolds on them. */
import { find, findAll } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";

/**
 * @typedef {import("./suggestion_state.js").Decision} Decision
 */

export const words = wordsOf("suggestion-words");

/** @param {HTMLElement} pane */
const linesOf = (pane) => findAll(pane, "[data-suggestion]", HTMLElement);

/**
 * @param {HTMLElement} pane
 * @param {string} id
 * @returns {HTMLElement | null}
 */
export function lineOf(pane, id) {
  return linesOf(pane).find((line) => line.dataset.suggestion === id) ?? null;
}

/**
 * @param {unknown} target
 * @returns {string} the id of the suggestion in whose line it is; empty outside
 */
export function suggestionOf(target) {
  const line = target instanceof Element ? target.closest("[data-suggestion]") : null;
  return (line instanceof HTMLElement && line.dataset.suggestion) || "";
}

/**
 * @param {HTMLElement} line
 * @param {Decision} decision
 */
function showState(line, { state, aside, reason }) {
  const shown = `${state} ${aside} ${reason}`;
  if (line.dataset.shown === shown) return;
  line.dataset.shown = shown;
  line.dataset.state = state;
  const badge = find(line, "[data-state]", HTMLElement);
  badge.hidden = state === "open" && !aside;
  const key = state === "open" ? "aside" : state;
  const label = line.querySelector(`[data-reason="${reason}"]`)?.lastChild?.textContent?.trim() ?? "";
  badge.textContent = badge.hidden ? "" : label ? words("rejected_because").replace("REASON", label) : words(key);
  const isTaken = state === "accepted" || state === "edited";
  /** @type {Record<string, boolean>} */
  const hidden = {
    take: isTaken,
    aside: state !== "open",
    reject: state === "rejected",
    undo: state === "open" && !aside,
  };
  for (const button of findAll(line, "[data-do-suggestions]", HTMLButtonElement)) {
    button.hidden = hidden[button.dataset.doSuggestions ?? ""] ?? false;
  }
}

/**
 * Put the lines in their order, undecided ones first; a line that has the focus keeps it.
 * @param {HTMLElement} pane
 * @param {string[]} open the undecided ones
 * @param {string[]} all
 * @param {(id: string) => Decision} decisionOf
 */
export function showLines(pane, open, all, decisionOf) {
  const decided = all.filter((id) => !open.includes(id));
  const focused = document.activeElement;
  place(pane, find(pane, "[data-undecided]", HTMLElement), open);
  place(pane, find(pane, "[data-decided]", HTMLElement), decided);
  for (const line of linesOf(pane)) showState(line, decisionOf(line.dataset.suggestion ?? ""));
  find(pane, "[data-none]", HTMLElement).hidden = open.length > 0;
  find(pane, "[data-decided-part]", HTMLElement).hidden = decided.length === 0;
  find(pane, "[data-decided-count]", HTMLElement).textContent = String(decided.length);
  find(pane, "[data-count]", HTMLElement).textContent = words("left").replace("NUMBER", String(open.length));
  if (focused instanceof HTMLElement && focused !== document.activeElement && pane.contains(focused)) {
    focused.focus({ preventScroll: true });
  }
}

/**
 * @param {HTMLElement} pane
 * @param {HTMLElement} list
 * @param {string[]} ids
 */
function place(pane, list, ids) {
  ids.forEach((id, at) => {
    const line = lineOf(pane, id);
    if (line && list.children[at] !== line) list.insertBefore(line, list.children[at] ?? null);
  });
}

/**
 * Make one line the active one: Tab leads to it, and its buttons are shown.
 * @param {HTMLElement} pane
 * @param {string} id
 */
export function activate(pane, id) {
  for (const line of linesOf(pane)) {
    const isActive = line.dataset.suggestion === id;
    line.tabIndex = isActive ? 0 : -1;
    line.classList.toggle("is-active", isActive);
  }
}

/**
 * Ask on a line why it is rejected, or stop asking.
 * @param {HTMLElement} pane
 * @param {string} id empty where nothing is asked
 */
export function showReasons(pane, id) {
  for (const line of linesOf(pane)) {
    const isAsked = line.dataset.suggestion === id;
    find(line, "[data-reasons]", HTMLElement).hidden = !isAsked;
    if (!isAsked) find(line, "[data-other]", HTMLElement).hidden = true;
  }
}

/**
 * What a suggestion rests on, unfolded or folded away.
 * @param {HTMLElement} line
 */
export function toggleMore(line) {
  const box = find(line, "[data-more]", HTMLElement);
  box.hidden = !box.hidden;
  find(line, '[data-do-suggestions="view"]', HTMLElement).setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) (box.querySelector("mark") ?? box).scrollIntoView({ block: "nearest" });
}
