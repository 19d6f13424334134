// @ts-check
/* Saving the response: the text waits in this browser until the server has it, and what another tab saved is not
   overwritten without asking. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { element, find, findAll, optionalElement } from "../../core/page.js";
import { SaveQueue } from "../../core/save_queue.js";
import { showSaving } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { wordsOf } from "../../core/words.js";
import { showPrivacy } from "./response_privacy.js";
import { draftOf, lengthOf, referenceLetter, storageKey } from "./response_text.js";

/**
 * @typedef {import("../../core/server.js").Answer} Answer
 * @typedef {import("../../core/save_queue.js").Halt} Halt
 */

const WAIT_MS = 600; // from a keystroke to its saving

export const page = element("work", HTMLElement);
export const editor = element("text", HTMLTextAreaElement);
export const text = wordsOf("responding-words");
export const who = page.dataset.who ?? "";
export const writable = Boolean(page.dataset.writable);

const savedBox = optionalElement("saved", HTMLElement);
const savedBefore = savedBox?.textContent ?? "";
const refusal = element("refusal", HTMLElement);
const task = page.dataset.task ?? "";

export let version = Number(page.dataset.version);
let reference = page.dataset.reference === "" ? null : Number(page.dataset.reference);
let lastSaved = "";
let leaving = false;

export const queue = new SaveQueue(
  {
    send: ([[, entry]]) => save(page.dataset.saveUrl, { who, draft: draftOf(/** @type {any} */ (entry)) }),
    isSame: (entry, current) => entry.text === current.text,
    onStored: (_id, stored, sent) => {
      version = stored.version;
      lastSaved = stored.current?.at ?? lastSaved;
      if (sent) refusal.replaceChildren();
      if (stored.current?.privacy) showPrivacy(element("identifying", HTMLElement), stored.current.privacy);
    },
    onAsk: () => {
      for (const dialog of findAll(document, "dialog[open]", HTMLDialogElement)) dialog.close();
      conflicts.askNext();
    },
    onHalted: showHalt,
    onChange: showState,
    who,
  },
  new SaveStore(() => localStorage, storageKey(who, "")),
);

const conflicts = startConflicts({
  queue,
  describe: (_id, entry, current) => ({
    theirs: current.text || text("nothing"),
    theirsAt: current.at,
    mine: entry.text || text("nothing"),
  }),
  onChosen: (_id, current, { keepsMine }) => {
    if (keepsMine) return;
    editor.value = current.text;
    reference = current.reference;
    showCount();
  },
});

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

function showState() {
  const state = queue.state({ saved: Boolean(lastSaved) });
  if (state === "saved") showSaving(savedBox, state, `${text("saved")} ${lastSaved}`);
  else showSaving(savedBox, state, state === "early" || state === "unchanged" ? savedBefore : text(state));
}

/** @param {string} detail */
export function refuse(detail) {
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  notice.appendChild(document.createElement("p")).textContent = detail;
  refusal.replaceChildren(notice);
  notice.scrollIntoView({ block: "nearest" });
}

/**
 * @param {Halt} halt
 * @param {Answer} answer
 */
function showHalt(halt, { body }) {
  if (halt === "refused") refuse(body?.detail ?? text("kept"));
  else if (halt === "somebody" || halt === "gone") refuse(text(halt));
}

/** @param {number} [wait] until it is sent, in milliseconds */
function put(wait = 0) {
  if (!writable) return;
  if (!editor.value.trim()) reference = null;
  const wasKept = queue.isKept;
  queue.put(task, { text: editor.value, reference }, version, { wait });
  if (wasKept && !queue.isKept) refuse(text("storage"));
  showCount();
}

/** @returns {number | null} the place of the reference that the text was begun from */
export function begunFrom() {
  return reference;
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

/**
 * Handing in found another version saved: the person is asked as if the page had tried to save over it.
 * @param {Answer} answer
 */
export async function settleStaleSubmission(answer) {
  const entry = queue.put(task, { text: editor.value, reference }, version, { wait: WAIT_MS });
  queue.stopTimer();
  await queue.settle(answer, [[task, entry]]);
  await queue.flushAll();
}

export function leave() {
  leaving = true;
}

window.addEventListener("beforeunload", (event) => {
  if (queue.pending.size && !leaving) event.preventDefault();
});
editor.addEventListener("input", () => put(WAIT_MS));
queue.listen();

/* What an earlier visit left unsaved: the editor shows this browser's text, and the server is asked. */
export function restore() {
  const kept = writable ? queue.store.get(task) : null;
  if (kept) {
    editor.value = kept.text;
    reference = kept.reference;
    queue.takeUp(task, kept);
    queue.flush();
  }
  showCount();
  showState();
}
