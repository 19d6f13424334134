// @ts-check
/* Saving the answers about the case on the page: each waits in this browser until the server has it, and nothing that
   was saved elsewhere is overwritten unasked. */
import { newId } from "../core/ids.js";
import { element, find, optionalElement, targetWithin } from "../core/page.js";
import { retryDelay } from "../core/retry_delay.js";
import { ask, session } from "../core/server.js";
import { wordsOf } from "../core/words.js";
import { describe, sameState, storageKey, withKept } from "./label_answers.js";
import { isAnswered, labelOf, questionOf, radiosOf, rowOf, rowsOf, showState, stateOf } from "./label_rows.js";
import { forgetEntry, keepEntry, keptEntry } from "./label_storage.js";
import { savingState } from "../core/saving_state.js";

/**
 * @typedef {import("./label_answers.js").LabelState} LabelState
 * @typedef {import("./label_answers.js").LabelEntry} LabelEntry
 * @typedef {import("./label_answers.js").StoredLabel} StoredLabel
 * @typedef {import("../core/server.js").Answer} Answer a refused one has `RefusedBody`, or null
 * @typedef {{ reason?: string, detail?: string, current: StoredLabel } | null} RefusedBody
 */

/**
 * @typedef {object} Sheet the case on the page, and what of it the server does not have; all by question
 * @property {HTMLElement} page
 * @property {boolean} writable
 * @property {string} who
 * @property {Map<string, LabelEntry>} pending not at the server yet
 * @property {Set<string>} early with a note or a certainty that waits for its answer
 * @property {Record<string, string[]>} sentIds of what was sent: an answer that was lost is no conflict
 * @property {Map<string, StoredLabel>} conflicts changed elsewhere: the person is asked
 * @property {string} lastSaved
 */

const SLOW_DOWN_MS = 400; // between a keystroke in a note or a move of the slider and its saving

const savedBox = optionalElement("saved", HTMLElement);
const choice = element("choice", HTMLDialogElement);
const text = wordsOf("labelling-words");

/** @type {Sheet} */
export let sheet;
/** @type {Promise<void> | null} */
let sending = null;
let failures = 0;
/** @type {number | undefined} */
let retry;
export let halted = ""; // why nothing is sent any more
let storable = true; // else it is kept as long as the page
/** @type {Map<string, number>} */
const timers = new Map(); // by question: what is saved in a moment

/* Begins with the case that is on the page now. */
export function openSheet() {
  const page = element("work", HTMLElement);
  sheet = {
    page,
    writable: page.dataset.writable === "1",
    who: page.dataset.who ?? "",
    pending: new Map(),
    early: new Set(),
    sentIds: {},
    conflicts: new Map(),
    lastSaved: page.dataset.saved ?? "",
  };
  halted = "";
  // The next case has the same questions: nothing of the one before may land in it.
  for (const timer of timers.values()) clearTimeout(timer);
  timers.clear();
  if (choice.open) choice.close();
}

/* What the page shows */

/** @returns {HTMLElement[]} */
export const allRows = () => rowsOf(sheet.page);

export function summarise() {
  const rows = allRows();
  const done = rows.filter(isAnswered).length;
  for (const row of rows) {
    row.classList.toggle("decided", isAnswered(row));
    find(row, "[data-early]", HTMLElement).hidden = !sheet.early.has(questionOf(row));
  }
  const bar = element("answered", HTMLProgressElement);
  bar.max = rows.length || 1;
  bar.value = done;
  element("answered-text", HTMLElement).textContent = `${done} / ${rows.length}`;
  document.getElementById("submit")?.classList.toggle("ready", done === rows.length);
}

export function showSaving() {
  if (!savedBox) return;
  const { pending, early, conflicts, lastSaved } = sheet;
  const state = savingState({
    unsent: pending.size,
    early: early.size,
    failures,
    online: navigator.onLine,
    halted: Boolean(halted),
    asking: conflicts.size > 0,
    saved: Boolean(lastSaved),
  });
  savedBox.classList.toggle("offline", state === "offline" || state === "kept");
  savedBox.classList.toggle("saving", state === "saving" || state === "early");
  const words = {
    offline: () => `${pending.size} ${text("offline")}`,
    kept: () => `${pending.size} ${text("kept")}`,
    saving: () => text("saving"),
    early: () => `${early.size} ${text("early")}`,
    saved: () => `${text("saved")} ${lastSaved}`,
    unchanged: () => text("saves"),
  }[state]();
  if (savedBox.textContent !== words) savedBox.textContent = words;
}

/** @param {string} detail */
export function refuse(detail) {
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  const words = document.createElement("p");
  words.textContent = detail;
  notice.append(words);
  element("refusal", HTMLElement).replaceChildren(notice);
}

/* Kept in this browser until the server has it */

/** @param {string} question */
const keyOf = (question) => storageKey(sheet.who, sheet.page.dataset.task ?? "", question);

/**
 * @param {string} question
 * @param {LabelEntry} entry
 */
function keep(question, entry) {
  storable = keepEntry(keyOf(question), entry);
}

/** @param {string} question */
const forget = (question) => forgetEntry(keyOf(question));

/**
 * What an earlier visit left of this question goes into the page, and to the server.
 * @param {HTMLElement} row
 */
export function restore(row) {
  const question = questionOf(row);
  let entry = keptEntry(keyOf(question));
  if (!entry) return;
  const shown = stateOf(row);
  if (!entry.value && shown.value) {
    // Answered elsewhere in the meantime: the note that waited for it goes along, over nothing.
    entry = { ...withKept(entry, shown), version: Number(row.dataset.version), client_id: newId() };
    if (sameState(entry, shown)) {
      forget(question);
      return;
    }
    keep(question, entry);
  }
  showState(row, entry);
  summarise();
  if (entry.value) sheet.pending.set(question, entry);
  else sheet.early.add(question);
}

/** @param {HTMLElement} row what it shows is saved */
export function put(row) {
  if (!row.isConnected) return;
  const question = questionOf(row);
  const state = stateOf(row);
  clearTimeout(timers.get(question));
  timers.delete(question);
  if (!sheet.writable) return;
  const version = sheet.pending.get(question)?.version ?? Number(row.dataset.version);
  const entry = { ...state, version, client_id: newId() };
  if (!state.value) {
    keepEarly(question, entry);
    return;
  }
  sheet.early.delete(question);
  summarise();
  sheet.pending.set(question, entry);
  keep(question, entry);
  showSaving();
  flush();
}

/**
 * A note or a certainty without its answer waits here, and goes with it.
 * @param {string} question
 * @param {LabelEntry} entry
 */
function keepEarly(question, entry) {
  if (entry.note || entry.certainty !== null) {
    sheet.early.add(question);
    keep(question, entry);
  } else {
    sheet.early.delete(question);
    forget(question);
  }
  summarise();
  showSaving();
}

export function putAll() {
  for (const row of allRows()) if (timers.has(questionOf(row))) put(row);
}

/** @param {HTMLElement} row */
export function putLater(row) {
  const question = questionOf(row);
  summarise();
  clearTimeout(timers.get(question));
  timers.set(
    question,
    setTimeout(() => put(row), SLOW_DOWN_MS),
  );
}

/* Sending */

/**
 * @param {string | undefined} url
 * @param {object} body
 * @returns {Promise<Answer>}
 */
export const post = (url, body) => ask("POST", url ?? "", { who: sheet.who, ...body });

const waiting = () => [...sheet.pending].filter(([question]) => !sheet.conflicts.has(question));

/** @returns {Promise<void>} when all that can be sent was sent, or could not be */
export function flush() {
  if (sending) return sending;
  if (halted || !sheet.writable || !waiting().length) return Promise.resolve();
  clearTimeout(retry);
  sending = deliver().finally(() => {
    sending = null;
    showSaving();
    if (!halted && waiting().length) retry = setTimeout(flush, retryDelay(failures));
  });
  return sending;
}

async function deliver() {
  const from = sheet;
  while (!halted && waiting().length) {
    const [question, entry] = waiting()[0];
    sheet.sentIds[question] ??= [];
    sheet.sentIds[question].push(entry.client_id);
    const answer = await post(sheet.page.dataset.answerUrl, { answer: { question, ...entry } });
    if (from !== sheet || !settle(question, entry, answer)) return;
  }
}

/**
 * @param {string} question
 * @param {LabelEntry} sent
 * @param {Answer} answer
 * @returns {boolean} whether the next request may follow
 */
function settle(question, sent, { status, body }) {
  if (status === 200) {
    /** @type {StoredLabel} */
    const stored = body;
    failures = 0;
    sheet.lastSaved = stored.at;
    done(question, sent.client_id, stored.version);
    return true;
  }
  /** @type {RefusedBody} */
  const refused = body;
  if (refused?.reason === "stale") {
    settleStale(question, refused.current);
    return true;
  }
  if (status === 401) {
    halted = "signed-out";
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  } else if (refused?.reason === "somebody-else" || status === 404) {
    halted = "somebody";
    refuse(text("somebody"));
  } else if (status === 409 || status === 413) {
    halted = "refused"; // paused, closed, handed in or too long; what was answered stays in this browser
    refuse(refused?.detail ?? "");
  } else if (refused?.detail) {
    // Refused for what it says: it would be refused for ever.
    refuse(refused.detail);
    if (sheet.pending.get(question)?.client_id === sent.client_id) {
      sheet.pending.delete(question);
      forget(question);
    }
    return true;
  } else {
    if (status === 403) session();
    failures += 1;
  }
  return false;
}

/**
 * @param {string} question
 * @returns {LabelEntry}
 */
function pendingOf(question) {
  const entry = sheet.pending.get(question);
  if (!entry) throw new Error(`Nothing of question ${question} is waiting.`);
  return entry;
}

/**
 * The server has what was sent under this id; what was written since goes after it.
 * @param {string} question
 * @param {string} clientId
 * @param {number} version
 */
function done(question, clientId, version) {
  rowOf(question).dataset.version = String(version);
  if (sheet.pending.get(question)?.client_id === clientId) {
    sheet.pending.delete(question);
    forget(question);
  } else if (sheet.pending.has(question)) rebase(question, version);
}

/**
 * @param {string} question
 * @param {number} version what is waiting was written over this one
 */
function rebase(question, version) {
  const entry = { ...pendingOf(question), version, client_id: newId() };
  sheet.pending.set(question, entry);
  keep(question, entry);
}

/**
 * @param {string} question
 * @param {StoredLabel} stored saved since the page last saw it
 */
function settleStale(question, stored) {
  rowOf(question).dataset.version = String(stored.version);
  sheet.lastSaved = stored.at;
  const mine = pendingOf(question);
  // Ours, though its answer was lost, needs no question.
  if (sameState(mine, stored)) done(question, mine.client_id, stored.version);
  else if (sheet.sentIds[question].includes(stored.client_id)) rebase(question, stored.version);
  else {
    sheet.conflicts.set(question, stored);
    askWhich();
  }
}

document.addEventListener("consilium:signed-in", () => {
  halted = "";
  flush();
});
window.addEventListener("online", () => {
  failures = 0;
  flush();
});
window.addEventListener("offline", showSaving);
window.addEventListener("pagehide", putAll);
window.addEventListener("beforeunload", (event) => {
  putAll();
  if (sheet.pending.size || (sheet.early.size && !storable)) event.preventDefault();
});

/* Two versions of one answer: the person chooses */

/**
 * @param {HTMLElement} row
 * @param {LabelState} state
 */
function inWords(row, state) {
  const radio = radiosOf(row).find((option) => option.value === state.value);
  return describe(radio && labelOf(radio), state, text("certain"));
}

function askWhich() {
  const [next] = sheet.conflicts;
  if (!next || choice.open) return;
  const [question, stored] = next;
  const row = rowOf(question);
  const number = row.dataset.number ?? "";
  choice.dataset.choice = question;
  find(choice, "[data-changed]", HTMLElement).textContent = text("changed").replace("NUMBER", number);
  find(choice, "[data-theirs]", HTMLElement).textContent = `${inWords(row, stored)} · ${stored.at}`;
  find(choice, "[data-mine]", HTMLElement).textContent = inWords(row, pendingOf(question));
  showSaving();
  choice.showModal();
}

choice.addEventListener("click", (event) => {
  const question = choice.dataset.choice ?? "";
  const stored = sheet.conflicts.get(question);
  const keepsMine = targetWithin(event, "[data-keep-mine]");
  if (!stored || !(keepsMine || targetWithin(event, "[data-take-saved]"))) return;
  sheet.conflicts.delete(question);
  choice.close();
  if (keepsMine) rebase(question, stored.version);
  else {
    done(question, pendingOf(question).client_id, stored.version);
    showState(rowOf(question), stored);
    summarise();
  }
  showSaving();
  flush();
  askWhich();
});
// Escape would leave the question open with nothing to answer it.
choice.addEventListener("cancel", (event) => event.preventDefault());
