// @ts-check
/* Saving the response: the text waits in this browser until the server has it, and nothing of another tab is written
   over unasked. */
import { newId } from "../core/ids.js";
import { element, find, findAll, optionalElement, targetWithin } from "../core/page.js";
import { retryDelay } from "../core/retry_delay.js";
import { ask, session } from "../core/server.js";
import { wordsOf } from "../core/words.js";
import { draftOf, lengthOf, longerTrail, referenceLetter, storageKey } from "./response_text.js";
import { savingState } from "../core/saving_state.js";

/**
 * @typedef {import("./response_text.js").Draft} Draft
 * @typedef {import("./response_text.js").KeptDraft} KeptDraft
 * @typedef {import("./response_text.js").StoredDraft} StoredDraft
 * @typedef {import("../core/server.js").Answer} Answer a refused one has `RefusedBody`, or null
 * @typedef {{ reason?: string, detail?: string, current: StoredDraft } | null} RefusedBody
 */

const SLOW_DOWN_MS = 600; // between a keystroke and its saving

export const page = element("work", HTMLElement);
export const editor = element("text", HTMLTextAreaElement);
export const text = wordsOf("responding-words");
export const who = page.dataset.who ?? "";
export const writable = Boolean(page.dataset.writable);

const savedBox = optionalElement("saved", HTMLElement);
const refusal = element("refusal", HTMLElement);
const choice = element("choice", HTMLDialogElement);
const key = storageKey(who, page.dataset.task ?? "");

export let version = Number(page.dataset.version);
/** @type {Draft | null} */
export let pending = null; // what the server does not have yet
/** @type {StoredDraft | null} */
export let conflict = null; // saved elsewhere, while the person chooses
let reference = page.dataset.reference === "" ? null : Number(page.dataset.reference);
/** @type {string[]} */
let trail = []; // ids of what was sent: an answer that was lost is no conflict
/** @type {number | null} */
let later = null;
/** @type {Promise<void> | null} */
let sending = null;
/** @type {number | undefined} */
let retry;
let failures = 0;
let halted = ""; // why nothing is sent any more
let storable = true;
let lastSaved = "";
let leaving = false;

/* What the page shows */

/** @returns {string} how long the text is */
export function lengthInWords() {
  const { words, characters } = lengthOf(editor.value);
  return `${words} ${text("words")} · ${characters} ${text("characters")}`;
}

function showCount() {
  element("count", HTMLElement).textContent = lengthInWords();
  document.getElementById("submit")?.classList.toggle("ready", Boolean(editor.value.trim()));
  const from = element("from", HTMLElement);
  from.hidden = reference === null;
  if (reference === null) return;
  const letter = referenceLetter(reference);
  find(from, "span", HTMLElement).textContent = text("begun_from").replace("LETTER", letter);
}

function showSaving() {
  if (!savedBox) return;
  const state = savingState({
    unsent: pending ? 1 : 0,
    failures,
    online: navigator.onLine,
    halted: Boolean(halted),
    asking: conflict !== null,
    saved: Boolean(lastSaved),
  });
  savedBox.classList.toggle("offline", state === "offline" || state === "kept");
  savedBox.classList.toggle("saving", state === "saving");
  if (state === "early" || state === "unchanged") return;
  const words = state === "saved" ? `${text("saved")} ${lastSaved}` : text(state);
  if (savedBox.textContent !== words) savedBox.textContent = words;
}

/** @param {string} detail */
export function refuse(detail) {
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  notice.appendChild(document.createElement("p")).textContent = detail;
  refusal.replaceChildren(notice);
}

/* Kept in this browser until the server has it */

function keep() {
  try {
    localStorage.setItem(key, JSON.stringify({ ...pending, trail }));
    storable = true;
  } catch {
    if (storable) refuse(text("storage"));
    storable = false; // full or forbidden: it is kept as long as the page
  }
}

function forget() {
  pending = null;
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}

/** @returns {KeptDraft | null} */
function keptDraft() {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

/** @returns {Draft} what is in the editor */
function draftInEditor() {
  return { text: editor.value, reference, version, client_id: newId() };
}

function put() {
  clearTimeout(later ?? undefined);
  later = null;
  if (!writable) return;
  if (!editor.value.trim()) reference = null;
  // What was refused may be taken by now: the batch goes on, or the text is shorter.
  if (halted === "refused") halted = "";
  pending = draftInEditor();
  keep();
  showCount();
  showSaving();
  flush();
}

export function putNow() {
  if (later !== null) put();
}

/**
 * The text becomes that of a reference, or empty.
 * @param {string} words
 * @param {number | null} place of the reference
 */
export function replaceText(words, place) {
  editor.value = words;
  reference = place;
  put();
}

/* Sending */

/**
 * @param {string | undefined} url
 * @param {object} body
 * @returns {Promise<Answer>}
 */
export const post = (url, body) => ask("POST", url ?? "", body);

/** @returns {Promise<void>} when all that can be sent was sent, or could not be */
export function flush() {
  if (sending) return sending;
  if (!pending || halted || conflict) return Promise.resolve();
  clearTimeout(retry);
  sending = deliver().finally(() => {
    sending = null;
    showSaving();
    if (pending && !halted && !conflict) retry = setTimeout(flush, retryDelay(failures));
  });
  return sending;
}

async function deliver() {
  while (pending && !halted && !conflict) {
    const sent = pending;
    trail = longerTrail(trail, sent.client_id);
    keep();
    if (!settle(sent, await post(page.dataset.saveUrl, { who, draft: sent }))) return;
  }
}

/**
 * @param {Draft} sent
 * @param {Answer} answer
 * @returns {boolean} whether the next request may follow
 */
function settle(sent, { status, body }) {
  if (status === 200) {
    failures = 0;
    refusal.replaceChildren();
    done(sent.client_id, body);
    return true;
  }
  /** @type {RefusedBody} */
  const refused = body;
  if (refused?.reason === "stale") {
    settleStale(refused.current);
    return true;
  }
  if (status === 401) {
    halted = "signed-out";
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  } else if (refused?.reason === "somebody-else") {
    halted = "somebody";
    refuse(text("somebody"));
  } else if (status === 404) {
    halted = "gone";
    refuse(text("gone"));
  } else if ([409, 413, 422].includes(status)) {
    halted = "refused"; // paused, closed, handed in or too long; what was written stays in this browser
    refuse(refused?.detail ?? "");
  } else {
    if (status === 403) session();
    failures += 1;
  }
  return false;
}

/**
 * The server has what was sent under this id; what was written since goes after it.
 * @param {string} clientId
 * @param {StoredDraft} stored
 */
function done(clientId, stored) {
  version = stored.version;
  lastSaved = stored.at;
  if (pending?.client_id === clientId) forget();
  else if (pending) rebase(pending);
  showSaving();
}

/** @param {Draft} draft goes over the version that the page knows now */
function rebase(draft) {
  pending = { ...draft, version, client_id: newId() };
  keep();
}

/** @returns {Draft} */
function pendingDraft() {
  if (!pending) throw new Error("No text is waiting.");
  return pending;
}

/** @param {StoredDraft} stored saved since the page last saw it */
function settleStale(stored) {
  version = stored.version;
  const mine = pendingDraft();
  // Ours, though its answer was lost, needs no question.
  if (mine.text === stored.text) done(mine.client_id, stored);
  else if (trail.includes(stored.client_id)) rebase(mine);
  else askWhich(mine, stored);
}

/**
 * Handing in found another version saved: the person is asked as if the page had tried to save over it.
 * @param {StoredDraft} stored
 */
export function settleStaleSubmission(stored) {
  pending = draftInEditor();
  settleStale(stored);
}

export function leave() {
  leaving = true;
}

document.addEventListener("consilium:signed-in", () => {
  halted = "";
  flush();
});
window.addEventListener("online", () => {
  failures = 0;
  flush();
  showSaving();
});
window.addEventListener("offline", showSaving);
window.addEventListener("pagehide", putNow);
window.addEventListener("beforeunload", (event) => {
  putNow();
  if (pending && !leaving) event.preventDefault();
});
editor.addEventListener("input", () => {
  showCount();
  clearTimeout(later ?? undefined);
  later = setTimeout(put, SLOW_DOWN_MS);
});

/* Two versions of the text: the person chooses */

/**
 * @param {Draft} mine
 * @param {StoredDraft} stored
 */
function askWhich(mine, stored) {
  conflict = stored;
  find(choice, "[data-theirs]", HTMLElement).textContent = stored.text || text("nothing");
  find(choice, "[data-theirs-at]", HTMLElement).textContent = stored.at;
  find(choice, "[data-mine]", HTMLElement).textContent = mine.text || text("nothing");
  showSaving();
  for (const dialog of findAll(document, "dialog[open]", HTMLDialogElement)) dialog.close();
  choice.showModal();
}

choice.addEventListener("click", (event) => {
  const keepsMine = targetWithin(event, "[data-keep-mine]");
  if (!conflict || !(keepsMine || targetWithin(event, "[data-take-saved]"))) return;
  const stored = conflict;
  conflict = null;
  choice.close();
  if (keepsMine) rebase(pendingDraft());
  else {
    editor.value = stored.text;
    reference = stored.reference;
    done(pendingDraft().client_id, stored);
    showCount();
  }
  flush();
});
// Escape would leave the question open with nothing to answer it.
choice.addEventListener("cancel", (event) => event.preventDefault());

/* What an earlier visit left: the text of this browser goes into the editor, and the server is asked. */
export function restore() {
  const kept = writable ? keptDraft() : null;
  if (kept) {
    trail = kept.trail ?? [];
    editor.value = kept.text;
    reference = kept.reference;
    pending = draftOf(kept);
    flush();
  }
  showCount();
  showSaving();
}
