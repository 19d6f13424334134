// @ts-check
/* A column beside the criteria: opened and folded away by its button, or by Alt with a letter. */
import { element, findAll, targetWithin } from "../../core/page.js";
import { caret, focus } from "./rubric_list.js";
import { editor, findItem, remember, remembered, state } from "./rubric_state.js";

/** @typedef {import("./rubric_history.js").Caret} Caret */

/**
 * @param {string} name of the panel
 * @param {object} side
 * @param {string} side.code of the key that opens it with Alt, such as KeyG
 * @param {(byPerson: boolean) => void} side.onOpen not by the person where it was open when the page was left
 * @param {() => void} side.enter puts the focus into it
 * @param {() => void} side.onFold
 */
export function startSide(name, { code, onOpen, enter, onFold }) {
  const pane = element(`side-${name}`, HTMLElement);
  const buttons = findAll(document, `button[data-side="${name}"]`, HTMLButtonElement);
  /** @type {Caret | null} */
  let origin = null;

  /**
   * @param {boolean} isOpen
   * @param {boolean} byPerson
   */
  function set(isOpen, byPerson) {
    pane.hidden = !isOpen;
    editor.classList.toggle("with-side", isOpen);
    for (const button of buttons) {
      if (button.hasAttribute("aria-expanded")) button.setAttribute("aria-expanded", String(isOpen));
    }
    if (byPerson) remember(`side-${name}`, isOpen ? "open" : "folded");
    if (isOpen) onOpen(byPerson);
    else onFold();
  }

  function open() {
    origin = caret();
    if (pane.hidden) set(true, true);
    else enter();
  }

  function fold() {
    const isInside = pane.contains(document.activeElement);
    set(false, true);
    if (!isInside) return;
    if (origin && findItem(origin.id)) focus(origin.id, origin.name, origin.at);
    else if (state.items.length) focus(findItem(state.lastId)?.id ?? state.items.at(-1)?.id);
    else buttons[0]?.focus();
  }

  document.addEventListener("click", (event) => {
    const button = targetWithin(event, `button[data-side="${name}"]`);
    if (!button) return;
    if (pane.hidden) open();
    else fold();
  });
  document.addEventListener("keydown", (event) => {
    const isKey = event.code === code && event.altKey && !event.ctrlKey && !event.metaKey;
    if (!isKey || event.isComposing || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    if (pane.contains(document.activeElement)) fold();
    else open();
  });
  // Whoever calls this has the pane by then.
  if (remembered(`side-${name}`, "folded") === "open") queueMicrotask(() => set(true, false));
  return { pane };
}
