// @ts-check
/* Two versions of one thing: the person chooses which one holds (templates/components/_conflict.html). */
import { element, find, targetWithin } from "./page.js";

/**
 * @typedef {import("./save_queue.js").SaveQueue} SaveQueue
 * @typedef {import("./save_queue.js").Current} Current
 * @typedef {import("./save_queue.js").Entry} Entry
 * @typedef {{ changed?: string, theirs: string, theirsAt?: string, mine: string }} Versions in words; `changed`: what
 *   was changed, where the template does not say it; `theirsAt`: when the other one was saved, where it is shown by
 *   itself
 */

/**
 * @param {object} page
 * @param {SaveQueue} page.queue
 * @param {(id: string, entry: Entry, current: Current) => Versions} page.describe
 * @param {(id: string, current: Current, choice: { keepsMine: boolean }) => void} page.onChosen
 * @param {() => boolean} [page.mayAsk] false while a dialog would be in the way
 */
export function startConflicts({ queue, describe, onChosen, mayAsk = () => true }) {
  const dialog = element("choice", HTMLDialogElement);
  const question = find(dialog, "[data-changed]", HTMLElement);

  /** Ask the first question, unless one is open or somebody is typing: the dialog would swallow the rest of a word. */
  function askNext() {
    const [next] = queue.questions;
    if (!next || dialog.open || !mayAsk()) return;
    if (queue.isBeingTyped) {
      queue.untilPause().then(askNext);
      return;
    }
    const [id, current] = next;
    const entry = queue.pending.get(id);
    if (!entry) {
      queue.questions.delete(id);
      askNext();
      return;
    }
    question.dataset.choice = id;
    const { changed, theirs, theirsAt, mine } = describe(id, entry, current);
    if (changed !== undefined) question.textContent = changed;
    if (theirsAt !== undefined) find(dialog, "[data-theirs-at]", HTMLElement).textContent = theirsAt;
    find(dialog, "[data-theirs]", HTMLElement).textContent = theirs;
    find(dialog, "[data-mine]", HTMLElement).textContent = mine;
    queue.editor.onChange?.();
    dialog.showModal();
    // A stray Enter of somebody who is typing answers nothing.
    element("choice-title", HTMLElement).focus();
  }

  dialog.addEventListener("click", (event) => {
    const keepsMine = Boolean(targetWithin(event, "[data-keep-mine]"));
    if (!keepsMine && !targetWithin(event, "[data-take-saved]")) return;
    const id = question.dataset.choice ?? "";
    const current = queue.answer(id, { keepsMine });
    if (!current) return;
    delete question.dataset.choice;
    dialog.close();
    onChosen(id, current, { keepsMine });
    queue.editor.onChange?.();
    queue.flush();
    askNext();
  });
  // Escape would leave the question open with nothing to answer it.
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("close", () => setTimeout(askNext)); // a second Escape closes it all the same

  return {
    askNext,
    /** Another piece of work is on the page: a question about the one before is void. */
    close() {
      delete question.dataset.choice;
      if (dialog.open) dialog.close();
    },
    get isOpen() {
      return dialog.open;
    },
  };
}
