// @ts-check
/* Undo of the last step of a piece of work, offered for ten seconds or as long as the page says, also on the page that
   the step leads to. The pointer or the focus on the message keeps it for a minute. The server decides whether it can
   still be undone. After a response was skipped for later, its page is offered. */
import { parseStored } from "./save_store.js";
import { ask } from "./server.js";
import { toast } from "./toast.js";
import { wordsOf } from "./words.js";

/**
 * @typedef {{ url: string, text: string, label?: string, isPage?: boolean }} Step `url`: the endpoint that undoes it,
 *   or with `isPage` the page to go back to; `text`: what was done; `label` of the button, without it *Undo*
 * @typedef {Step & { until: number, kept: number }} Offer `until`: the end of the message, and `kept`: its end while
 *   the pointer or the focus is on it; milliseconds since 1970
 */

const SHOWN_MS = 10_000;
const MAX_SHOWN_MS = 60_000; // annotation/services/undo.py
const KEY = "consilium.undo";

/** @type {Offer | null} of this page; the storage of the tab keeps it for the next page */
let offer = null;
/** @type {HTMLElement | null} the message with the button */
let message = null;

/** @param {Offer | null} next */
function remember(next) {
  offer = next;
  try {
    if (next) sessionStorage.setItem(KEY, JSON.stringify(next));
    else sessionStorage.removeItem(KEY);
  } catch {
    // Storage is refused: the offer ends with this page.
  }
}

/** @param {Partial<Step> & { text: string, shownMs?: number }} step that was just taken */
export function offerUndo({ url, shownMs = SHOWN_MS, ...step }) {
  if (!url) return;
  const now = Date.now();
  remember({ ...step, url, until: now + shownMs, kept: now + MAX_SHOWN_MS });
  show();
}

function show() {
  if (!offer) return;
  const { text, until, kept, label } = offer;
  // The server's message about the same step gives way to the message with the button.
  for (const item of document.querySelectorAll("#toasts .toast")) {
    if (item.querySelector("p")?.textContent?.trim() === text || item.querySelector("[data-toast-action]")) {
      item.remove();
    }
  }
  const action = { label: label ?? wordsOf("page-words")("undo"), run: takeUndo };
  const shownMs = Math.max(0, until - Date.now());
  message = toast(text, "success", { action, shownMs, mostMs: kept - Date.now() });
}

/** @param {string} text of a step: true where the message about it is shown with the button */
export function hasOffer(text) {
  return offer?.text === text;
}

/** Another step was taken, which cannot be undone: the message about the step before goes, and so does its undo. */
export function endOffer() {
  remember(null);
  for (const button of document.querySelectorAll("#toasts [data-toast-action]")) button.closest(".toast")?.remove();
}

/** Undo the step that was taken last; false where none can be undone any more. */
export function takeUndo() {
  if (!offer || !(message?.isConnected || Date.now() <= offer.until)) return false;
  const { url, isPage } = offer;
  remember(null);
  if (isPage) location.assign(url);
  else undo(url);
  return true;
}

/** @param {string} url of the endpoint that undoes a step; the page that it answers with is opened */
export async function undo(url) {
  const { status, body } = await ask("POST", url, {});
  if (status === 200) {
    if (offer?.url === url) endOffer(); // a button of the page has undone the same step
    location.assign(body.url);
  } else toast(body?.detail ?? wordsOf("page-words")(status ? "failed" : "lost"), "error");
}

/* The key U, as on the page of the step. A page with keys of its own has prevented the event by then. */
window.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.toLowerCase() !== "u" || document.querySelector("dialog[open]")) return;
  const { target } = event;
  if (target instanceof HTMLElement && (target.isContentEditable || target.matches("input, select, textarea"))) return;
  if (takeUndo()) event.preventDefault();
});

/** On a page that was just loaded: the offer of the page before, if its time is not over. */
export function resumeOffer() {
  try {
    offer = parseStored(sessionStorage.getItem(KEY));
  } catch {
    offer = null;
  }
  if (offer && Date.now() < offer.until) show();
  else if (offer) remember(null);
}
