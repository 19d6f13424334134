// @ts-check
/* Asks whether a tag that is new to the benchmark is meant, where a known one is near: "cardio" beside "cardiology". */
import { nearest, sameWord } from "./nearest.js";
import { wordsOf } from "./words.js";

/**
 * @typedef {object} Ways what is done with the answer
 * @property {(word: string) => void} take a word that is not taken yet
 * @property {(typed: string, word: string) => void} replace a word that was taken as it was typed
 * @typedef {{ input: HTMLInputElement, typed: string, isTaken: boolean, box: HTMLElement, first: string }} Asked
 * @typedef {Ways & Asked} Question
 */

/** @type {Question | null} there is one question at most */
let open = null;
let isPressed = false; // while a button of the mouse is down, nothing on the page moves
/** @type {(() => void) | null} */
let afterPress = null;

function close() {
  open?.box.remove();
  open = null;
  afterPress = null;
}

/** @param {string} word */
function answer(word) {
  if (!open) return;
  const { input, typed, isTaken, take, replace } = open;
  close();
  if (!isTaken) take(word);
  else if (word !== typed) replace(typed, word);
  input.focus();
}

/**
 * @param {string} text
 * @param {string} word
 */
function answerButton(text, word) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = text;
  button.addEventListener("click", () => answer(word));
  return button;
}

/**
 * @param {HTMLInputElement} input
 * @param {string} typed
 * @param {string[]} matches
 * @param {boolean} isTaken
 * @param {Element} place after which the question stands
 * @param {Ways} ways
 */
function ask(input, typed, matches, isTaken, place, ways) {
  close();
  const words = wordsOf("new-word-words");
  const box = document.createElement("div");
  box.className = "new-word";
  box.setAttribute("role", "status");
  const text = document.createElement("span");
  text.textContent = words("is_new").replace("WORD", typed);
  const buttons = matches.map((word) => answerButton(words("instead").replace("WORD", word), word));
  if (!isTaken) buttons[0].append(" ", Object.assign(document.createElement("kbd"), { textContent: "⏎" }));
  box.append(text, ...buttons, answerButton(words("keep").replace("WORD", typed), typed));
  place.after(box);
  open = { ...ways, input, typed, isTaken, box, first: matches[0] };
}

/**
 * Enter in a field for a new word: takes it if it is known or unlike all known ones, else asks first. Enter once more
 * takes the nearest.
 * @param {HTMLInputElement} input
 * @param {string[]} known
 * @param {Element} place
 * @param {Ways} ways
 */
export function enterWord(input, known, place, ways) {
  const typed = input.value.trim();
  if (!typed) return;
  if (open?.input === input && open.typed === typed && !open.isTaken) {
    answer(open.first);
    return;
  }
  const same = sameWord(typed, known);
  const matches = same === undefined ? nearest(typed, known) : [];
  if (matches.length) ask(input, typed, matches, false, place, ways);
  else {
    close();
    ways.take(same ?? typed);
  }
}

/**
 * A word that was taken because its field was left: it stands as it was typed, and what is near is offered instead.
 * @param {HTMLInputElement} input
 * @param {string} typed
 * @param {string[]} known
 * @param {Element} place
 * @param {Ways} ways
 */
export function questionTaken(input, typed, known, place, ways) {
  const matches = sameWord(typed, known) === undefined ? nearest(typed, known) : [];
  if (open?.input === input) {
    if (open.typed === typed) {
      open.isTaken = true;
      return;
    }
    close();
  }
  if (!matches.length) return;
  const show = () => {
    if (place.isConnected) ask(input, typed, matches, true, place, ways);
  };
  if (isPressed) afterPress = show;
  else show();
}

/**
 * Whether the focus goes from the field to its question: then the word waits for the answer.
 * @param {EventTarget | null} target
 */
export function isAnswer(target) {
  return target instanceof Node && open?.box.contains(target) === true;
}

document.addEventListener("pointerdown", () => {
  isPressed = true;
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    isPressed = false;
    // The click on what was pressed comes first.
    const show = afterPress;
    afterPress = null;
    if (show) setTimeout(show);
  });
}
document.addEventListener("input", (event) => {
  if (event.target === open?.input && open?.input.value.trim()) close();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !open || document.querySelector("dialog[open]")) return;
  if (isAnswer(event.target)) open.input.focus();
});
