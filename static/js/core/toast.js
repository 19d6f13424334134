// @ts-check
/* Short messages at the edge of the page. Errors and warnings stay until they are closed. */
import { wordsOf } from "./words.js";

const SHOWN_MS = 6000;
const CHECKED_MS = 250;

/**
 * The message goes after its time. The pointer or the focus on it keeps it; its time starts again once both have left.
 * @param {Element} item
 * @param {number} [shownMs]
 * @param {number} [mostMs] how long it can be kept in all
 */
export function expire(item, shownMs = SHOWN_MS, mostMs = Number.POSITIVE_INFINITY) {
  if (item.classList.contains("error") || item.classList.contains("warning")) return;
  const end = Date.now() + mostMs;
  let timer = setTimeout(go, shownMs);
  function go() {
    const isHeld = item.matches(":hover") || item.contains(document.activeElement);
    const left = end - Date.now();
    if (isHeld && left > 0) timer = setTimeout(go, Math.min(CHECKED_MS, left));
    else item.remove();
  }
  function renew() {
    clearTimeout(timer);
    timer = setTimeout(go, Math.max(0, Math.min(shownMs, end - Date.now())));
  }
  for (const event of ["mouseleave", "focusout"]) item.addEventListener(event, renew);
}

/**
 * @param {string} text
 * @param {"info" | "success" | "warning" | "error"} [level]
 * @param {{
 *   action?: { label: string, run: () => void }, shownMs?: number, mostMs?: number, until?: "online",
 * }} [options] `action`: a button; the message goes once it is pressed. `mostMs`: how long the pointer or the focus
 *   keeps it at most. `until`: it goes with this event of the window
 * @returns {HTMLElement | null} the message, for a caller that removes it
 */
export function toast(text, level = "info", { action, shownMs, mostMs, until } = {}) {
  const box = document.getElementById("toasts");
  if (!box || !text) return null;
  const item = document.createElement("div");
  item.className = `toast ${level}`;
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.dataset.toastClose = "";
  close.setAttribute("aria-label", wordsOf("page-words")("close"));
  close.textContent = "×";
  item.append(words, ...(action ? [actionButton(item, action)] : []), close);
  forgetSame(box, text);
  box.append(item);
  makeRoom(box);
  if (until) window.addEventListener(until, () => item.remove(), { once: true });
  expire(item, shownMs, mostMs);
  return item;
}

/**
 * The same message again takes the place of the first one.
 * @param {HTMLElement} box
 * @param {string} text
 */
function forgetSame(box, text) {
  for (const item of box.querySelectorAll(".toast")) {
    if (item.querySelector("p")?.textContent?.trim() === text) item.remove();
  }
}

/** @type {ResizeObserver | null} */
let observer = null;

/**
 * In a narrow window errors and warnings stay above the controls: the page scrolls clear of them (components.css), and
 * what has the focus is moved from under them.
 * @param {HTMLElement} box
 */
function makeRoom(box) {
  if (!observer) {
    observer = new ResizeObserver(() => putHeight(box));
    observer.observe(box);
  }
  putHeight(box);
  const focused = document.activeElement;
  if (!focused || focused === document.body) return;
  const [covered, covering] = [focused.getBoundingClientRect(), box.getBoundingClientRect()];
  if (covered.bottom > covering.top && covered.top < covering.bottom) focused.scrollIntoView({ block: "nearest" });
}

/** @param {HTMLElement} box */
function putHeight(box) {
  document.documentElement.style.setProperty("--toasts-height", `${box.offsetHeight}px`);
}

/** Take away messages about errors: what was refused has been done since. */
export function clearErrors() {
  for (const item of document.querySelectorAll("#toasts .toast.error")) item.remove();
}

/**
 * @param {HTMLElement} item the message
 * @param {{ label: string, run: () => void }} action
 */
function actionButton(item, { label, run }) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "action";
  button.dataset.toastAction = "";
  button.textContent = label;
  button.addEventListener("click", () => {
    item.remove();
    run();
  });
  return button;
}
