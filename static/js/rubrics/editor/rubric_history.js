// @ts-check
/* What can be undone in the rubric editor: each action on the list, and what was typed, a word at a time, so that one
   key undoes both, the latest first. Undoing does not touch what somebody else has changed since. */
import { back, backAlone, copy, sameList } from "./rubric_model.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {{ id: string, name: string, at: number | null }} Caret the item, the field and the place in its text
 * @typedef {{ target: Item[], reached: Item[], from: Caret | null, to: Caret | null }} Step undoing leads from
 *   `reached` to `target`
 * @typedef {{ value: string, selectionStart: number | null, selectionEnd: number | null }} Input
 */

const MAX_STEPS = 300;
const GAP = /[\s,.;:!?，。；：、！？]/;
const TEXTS = ["text", "source", "element", "expectation"];

/**
 * @param {object} page
 * @param {() => Item[]} page.items
 * @param {(items: Item[]) => void} page.take shows a list and saves it
 * @param {() => Caret | null} page.caret
 * @param {(caret: Caret | null) => void} page.go
 */
export function createHistory({ items, take, caret, go }) {
  /** @type {Step[]} */
  const done = [];
  /** @type {Step[]} */
  let undone = [];
  let current = copy(items()); // the list as the last step left it
  /** @type {Caret | null} */
  let lastCaret = null;
  let run = ""; // the text that is being typed in, "id field kind": more input there belongs to the same step
  /** @type {{ at: number | null, end: number | null, before: string, caret: Caret | null } | null} */
  let begun = null; // where the next input goes

  /**
   * The list has changed: a step of its own, or part of the one before.
   * @param {Caret | null} from where the cursor was before
   * @param {string} [name] of the run that this belongs to
   * @param {boolean} [continues] whether it goes on with the last step, if that is of the same run
   */
  function note(from, name = "", continues = false) {
    if (sameList(current, items())) return;
    const now = copy(items());
    const last = done.at(-1);
    if (name && continues && name === run && last) last.reached = now;
    else done.push({ target: current, reached: now, from, to: null });
    if (done.length > MAX_STEPS) done.shift();
    undone = [];
    current = now;
    run = name;
    const step = done[done.length - 1];
    if (sameList(step.target, now)) {
      done.pop(); // the person has restored the old state by hand
      run = "";
      return;
    }
    // The action sets the cursor right after this.
    queueMicrotask(() => {
      lastCaret = caret();
      step.to = lastCaret;
    });
  }

  /**
   * Notes where the next input goes; called before it happens.
   * @param {Input} input
   */
  function begin(input) {
    begun = {
      at: input.selectionStart,
      end: input.selectionEnd,
      before: input.value.charAt((input.selectionStart ?? 0) - 1),
      caret: caret(),
    };
  }

  /**
   * Something was typed into a field.
   * @param {string} id
   * @param {string} field
   * @param {string} kind the inputType of the event
   * @param {string | null} data what was typed
   */
  function typed(id, field, kind, data) {
    // Points and axis: all of it is one step.
    const isWhole = !TEXTS.includes(field);
    const removes = kind.startsWith("delete");
    const onward =
      begun !== null &&
      lastCaret?.id === id &&
      lastCaret.name === field &&
      begun.at === begun.end &&
      begun.at === lastCaret.at;
    const newWord = !removes && GAP.test(begun?.before ?? "") && !GAP.test((data ?? "").charAt(0));
    const way = removes ? "delete" : "insert";
    note(begun?.caret ?? lastCaret, `${id} ${field} ${isWhole ? "" : way}`, isWhole || (onward && !newWord));
    lastCaret = caret();
    begun = null;
  }

  /** Somebody else's changes came in: they are not undone here. */
  function acceptOthers() {
    current = copy(items());
    run = "";
  }

  /**
   * @param {Step[]} from
   * @param {Step[]} to
   * @param {"from" | "to"} side the caret of the step to go to
   * @returns {boolean} whether there was a step
   */
  function walk(from, to, side) {
    const step = from.pop();
    if (!step) return false;
    const now = copy(items());
    take(back(step.target, step.reached, items()));
    current = copy(items());
    run = "";
    to.push({ target: now, reached: copy(items()), from: step.from, to: step.to });
    go(step[side]);
    return true;
  }

  /**
   * Take back one step after others, which stay, but for words typed into what the step changed; this is a step of its
   * own.
   * @param {Step} step
   * @returns {boolean} false where it was undone before
   */
  function revert(step) {
    if (!done.includes(step)) return false;
    const now = copy(items());
    take(backAlone(step.target, step.reached, items()));
    current = copy(items());
    run = "";
    done.push({ target: now, reached: copy(items()), from: lastCaret, to: step.from });
    undone = [];
    go(step.from);
    return true;
  }

  return {
    note,
    revert,
    latest: () => done.at(-1) ?? null,
    /** @param {Step} step */
    has: (step) => done.includes(step),
    begin,
    typed,
    acceptOthers,
    undo: () => walk(done, undone, "from"),
    redo: () => walk(undone, done, "to"),
  };
}
