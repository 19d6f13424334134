// @ts-check
/* Saving the answers about the case on the page: each waits in this browser until the server has it, and what was saved
   elsewhere is not overwritten without asking. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { newId } from "../../core/ids.js";
import { element, find, optionalElement } from "../../core/page.js";
import { SaveQueue } from "../../core/save_queue.js";
import { showSaving as showStatus } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { wordsOf } from "../../core/words.js";
import { asVote, describe, labelPayload, resultsOf, sameState, storageKey, withKept } from "./label_answers.js";
import { codeWords, showCodes } from "./label_codes.js";
import { showPassages } from "./label_passages.js";
import {
  isAnswered,
  isCoded,
  isLevels,
  isRead,
  labelOf,
  questionOf,
  radiosOf,
  reasonsOf,
  rowOf,
  rowsOf,
  showState,
  showVote,
  stateOf,
} from "./label_rows.js";

/**
 * @typedef {import("./label_answers.js").LabelState} LabelState
 * @typedef {import("./label_answers.js").LabelEntry} LabelEntry
 * @typedef {import("../../core/server.js").Answer} Answer
 * @typedef {import("../../core/save_queue.js").Halt} Halt
 */

/**
 * @typedef {object} Sheet the case on the page
 * @property {HTMLElement} page
 * @property {boolean} writable
 * @property {string} who
 * @property {Map<string, string>} refused why the server did not take what the page shows, by question
 * @property {Set<string>} early questions with a note or a certainty that waits for its answer
 * @property {string} lastSaved
 */

const WAIT_MS = 400; // from a keystroke in a note, or a move of the slider, to its saving

const savedBox = optionalElement("saved", HTMLElement);
const text = wordsOf("labelling-words");

/** @type {Sheet} */
export let sheet;

export const queue = new SaveQueue(
  {
    send: ([[question, entry]]) =>
      save(sheet.page.dataset.answerUrl, {
        who: sheet.who,
        answer: labelPayload(question, /** @type {any} */ (entry)),
      }),
    resultsOf: (answer, [[question]]) => resultsOf(answer, question),
    isSame: (entry, current) => sameState(/** @type {any} */ (entry), /** @type {any} */ (current)),
    onStored: (question, { version, current }) => {
      rowOf(question).dataset.version = String(version);
      if (sheet.refused.delete(question)) element("refusal", HTMLElement).replaceChildren();
      sheet.lastSaved = current?.at ?? sheet.lastSaved;
      withdrawRefusal("online");
    },
    onAsk: () => conflicts.askNext(),
    onRefused: (question, _sent, detail) => {
      sheet.refused.set(question, detail);
      refuse(detail);
    },
    onHalted: showHalt,
    onChange: showSaving,
  },
  new SaveStore(() => localStorage, storageKey("", "", "")),
);

const conflicts = startConflicts({
  queue,
  describe: (question, entry, current) => {
    const row = rowOf(question);
    return {
      changed: text("changed").replace("NUMBER", row.dataset.number ?? ""),
      theirs: `${inWords(row, /** @type {any} */ (current))} · ${current.at}`,
      mine: inWords(row, /** @type {any} */ (entry)),
    };
  },
  onChosen: (question, current, { keepsMine }) => {
    if (keepsMine) return;
    if (sheet.refused.delete(question)) element("refusal", HTMLElement).replaceChildren();
    showState(rowOf(question), /** @type {any} */ (current));
    summarise();
  },
});

/* Begins with the case that is on the page now. */
export function openSheet() {
  const page = element("work", HTMLElement);
  const { who = "", task = "", saved = "", writable } = page.dataset;
  sheet = { page, writable: writable === "1", who, refused: new Map(), early: new Set(), lastSaved: saved };
  queue.editor.who = who;
  // The next case has the same questions: entries of the case before must not be saved for it.
  queue.open(new SaveStore(() => localStorage, storageKey(who, task, "")));
  conflicts.close();
}

/* What the page shows */

/** @returns {HTMLElement[]} */
export const allRows = () => rowsOf(sheet.page);

export function summarise() {
  const rows = allRows();
  const done = rows.filter(isAnswered).length;
  for (const row of rows) {
    showVote(row, {
      offer: (low, high) => text("offer").replace("LOW", low).replace("HIGH", high),
      chosen: text("chosen"),
      any: text("offer_any"),
      help: text("both"),
    });
    if (isRead(row)) showPassages(row, put);
    if (isCoded(row)) showCodes(row, put);
    row.classList.toggle("decided", isAnswered(row));
    find(row, "[data-early]", HTMLElement).hidden = !sheet.early.has(questionOf(row));
  }
  const bar = element("answered", HTMLProgressElement);
  bar.max = rows.length || 1;
  bar.value = done;
  element("answered-text", HTMLElement).textContent = `${done} / ${rows.length}`;
  document.getElementById("submit")?.classList.toggle("ready", done === rows.length);
  if (done === rows.length) withdrawRefusal("answered");
}

export function showSaving() {
  const { early, lastSaved } = sheet;
  const state = queue.state({ early: early.size, saved: Boolean(lastSaved) });
  const words = {
    offline: () => `${queue.pending.size} ${text("offline")}`,
    kept: () => `${queue.pending.size} ${text("kept")}`,
    saving: () => text("saving"),
    early: () => `${early.size} ${text("early")}`,
    saved: () => `${text("saved")} ${lastSaved}`,
    unchanged: () => text("saves"),
  }[state]();
  showStatus(savedBox, state, words);
  if (state === "saved") withdrawRefusal("saved");
}

/**
 * @param {string} detail
 * @param {"answered" | "saved" | "online" | ""} [until] it goes by itself when every question is answered, when all is
 *   saved, or when the connection is back
 */
export function refuse(detail, until = "") {
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.dataset.until = until;
  notice.setAttribute("role", "alert");
  const words = document.createElement("p");
  words.textContent = detail;
  notice.append(words);
  element("refusal", HTMLElement).replaceChildren(notice);
  notice.scrollIntoView({ block: "nearest" });
}

/** @param {"answered" | "saved" | "online"} reached */
function withdrawRefusal(reached) {
  document.querySelector(`#refusal > [data-until=${reached}]`)?.remove();
}

/**
 * @param {Halt} halt
 * @param {Answer} answer
 */
function showHalt(halt, { body }) {
  if (halt === "refused") refuse(body?.detail ?? text("unsent"));
  else if (halt === "somebody" || halt === "gone") refuse(text(halt));
}

/**
 * @param {HTMLElement} row
 * @param {LabelState} state
 */
function inWords(row, state) {
  return describe(answerWords(row, state), state, text("certain"));
}

/**
 * The answer as the page has it, without certainty and note.
 * @param {HTMLElement} row
 * @param {LabelState} state
 * @returns {string} empty where no answer is chosen
 */
function answerWords(row, state) {
  if (isCoded(row)) return codeWords(row, state);
  /** @param {string | undefined} value */
  const labelled = (value) => [...radiosOf(row), ...reasonsOf(row)].find((radio) => value && radio.value === value);
  const [option, upper, reason] = [state.value, state.upper, state.reason].map(labelled);
  if (!option) return "";
  const label = upper ? between(labelOf(option), labelOf(upper)) : labelOf(option);
  return reason ? `${label} (${labelOf(reason)})` : label;
}

/**
 * @param {string} low
 * @param {string} high
 * @returns {string} a vote between two levels
 */
function between(low, high) {
  return text("between").replace("LOW", low).replace("HIGH", high);
}

/* Kept in this browser until the server has it */

/**
 * Shows what an earlier visit left unsaved for this question, and sends it.
 * @param {HTMLElement} row
 */
export function restore(row) {
  const question = questionOf(row);
  let entry = queue.store.get(question);
  if (!entry) return;
  const shown = stateOf(row);
  if (!entry.value && shown.value && !isCoded(row)) {
    // Answered elsewhere in the meantime: that answer is kept, and the waiting note fills an empty one.
    const filled = withKept(entry, shown);
    const completed = isLevels(row) ? asVote(filled) : filled;
    const words = answerWords(row, completed);
    entry = { ...completed, words, version: Number(row.dataset.version), client_id: newId() };
    if (sameState(/** @type {any} */ (entry), shown)) {
      queue.store.remove(question);
      return;
    }
    queue.store.put(question, entry);
  }
  showState(row, entry);
  summarise();
  if (entry.value || isCoded(row)) queue.takeUp(question, entry);
  else sheet.early.add(question);
}

/**
 * @param {HTMLElement} row what it shows is saved
 * @param {number} [wait] until it is sent, in milliseconds
 */
export function put(row, wait = 0) {
  if (!row.isConnected || !sheet.writable) return;
  const question = questionOf(row);
  const state = stateOf(row);
  const version = Number(row.dataset.version);
  // That no code is marked any more is saved, too: the codes that were saved before would stay otherwise.
  if (state.value || isCoded(row)) {
    sheet.early.delete(question);
    // The words are for pages that do not have the question.
    queue.put(question, { ...state, words: answerWords(row, state) }, version, { wait });
  } else if (state.note || state.certainty !== null) {
    // A note or a certainty without an answer waits here, and is sent with the answer.
    sheet.early.add(question);
    queue.store.put(question, { ...state, version, client_id: newId() });
  } else {
    sheet.early.delete(question);
    queue.store.remove(question);
  }
  summarise();
  showSaving();
}

/** @param {HTMLElement} row that is being written in */
export function putLater(row) {
  put(row, WAIT_MS);
}

window.addEventListener("beforeunload", (event) => {
  if (queue.pending.size || (sheet.early.size && queue.store.memory.size)) event.preventDefault();
});
window.addEventListener("online", () => withdrawRefusal("online"));
queue.listen();
