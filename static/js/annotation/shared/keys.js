// @ts-check
/* Single keys of the grading, checking and adjudication pages. They do nothing while somebody types, or while a dialog
   is open. */
import { move, select, shownRows } from "./criteria.js";
import { keyName } from "./key_names.js";
import { handlePickKey } from "./passages.js";

const REPEATED = ["j", "k", "ArrowDown", "ArrowUp", " ", "shift+ ", "PageDown", "PageUp"];
const PRESSED_BY_SPACE = "button, summary, a[href], input";
const TYPED_IN = "textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])";

/** @type {Map<string, () => unknown>} */
const actions = new Map();

/**
 * @param {string[]} names as `keyName` gives them
 * @param {() => unknown} action
 */
export function onKeys(names, action) {
  for (const name of names) actions.set(name, action);
}

/** @param {EventTarget | null} target */
function isTypedIn(target) {
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(TYPED_IN));
}

/** @param {string} id */
function openDialog(id) {
  const dialog = document.getElementById(id);
  if (dialog instanceof HTMLDialogElement) dialog.showModal();
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
  if (document.querySelector("dialog[open]")) return;
  const name = keyName(event);
  if (isTypedIn(event.target)) return;
  if (handlePickKey(name, event)) return;
  // Enter and space belong to the button that has the focus.
  if (event.key === " " && event.target instanceof Element && event.target.matches(PRESSED_BY_SPACE)) return;
  const action = actions.get(name);
  if (!action) return;
  event.preventDefault();
  if (!event.repeat || REPEATED.includes(name)) action();
});

onKeys(["j", "ArrowDown"], () => move(1));
onKeys(["k", "ArrowUp"], () => move(-1));
onKeys(["Home"], () => select(shownRows()[0]));
onKeys(["End"], () => select(shownRows().at(-1)));
onKeys(["?"], () => openDialog("keys"));
onKeys(["g"], () => openDialog("guidelines"));
