// @ts-check
/* Sending what was chosen on the checking and adjudication pages, one criterion after the other. */
import { session, token } from "../core/server.js";
import { wordsOf } from "../core/words.js";
import { rowOf } from "./criteria.js";
import { who } from "./outbox.js";
import { reviewPayload, reviewRetryDelay } from "./review_entries.js";
import { askWhichHolds, onAnswer, settleStale } from "./reviewing_conflict.js";
import { giveUp, parse, rebaseEntry, removeEntry, renewRow, rowFrom } from "./reviewing_entries.js";
import { sheet } from "./reviewing_sheet.js";
import { clearRefusal, refuse, showSaving, summarise } from "./reviewing_status.js";

/**
 * @typedef {import("./review_entries.js").ReviewEntry} ReviewEntry
 * @typedef {{ status: number, html: string, leave: string | null, trigger: string | null }} PageAnswer `status` 0: no
 *   connection, or no whole answer in time; `leave`: where the server sends the browser; `trigger`: its toasts
 */

const TIMEOUT_MS = 15_000;
const text = wordsOf("reviewing-words");

/** @type {Promise<void> | null} */
let sending = null;
/** @type {number | undefined} */
let timer;

/**
 * @param {string} url
 * @param {Record<string, string>} values
 * @returns {Promise<PageAnswer>}
 */
export async function post(url, values) {
  try {
    const answer = await fetch(url, {
      method: "POST",
      credentials: "same-origin",
      headers: { "X-CSRFToken": token(), "HX-Request": "true" },
      body: new URLSearchParams(values),
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
    });
    return {
      status: answer.status,
      html: await answer.text(),
      leave: answer.headers.get("HX-Redirect"),
      trigger: answer.headers.get("HX-Trigger"),
    };
  } catch {
    return { status: 0, html: "", leave: null, trigger: null };
  }
}

/** @param {string} html */
export function sentenceOf(html) {
  return (parse(html).textContent ?? "").trim();
}

/** True where the same person is signed in; the page's token is renewed on the way. */
export async function isStillSamePerson() {
  const current = await session();
  if (!current?.signed_in || current.who === who) return true;
  sheet.halted = "somebody";
  refuse(text("somebody"));
  showSaving();
  return false;
}

function isAnythingToSend() {
  return Array.from(sheet.pending.keys()).some((id) => !sheet.questions.has(id));
}

/** @returns {Promise<void>} when all that can be sent now is sent */
export function flush() {
  sending ??= sendPending().finally(() => {
    sending = null;
    showSaving();
    // A new sheet came while the old one was sending.
    if (isAnythingToSend() && !sheet.halted && !sheet.failures) flush();
    askWhichHolds();
  });
  return sending;
}

function flushLater() {
  sheet.failures += 1;
  clearTimeout(timer);
  timer = setTimeout(flush, reviewRetryDelay(sheet.failures));
}

async function sendPending() {
  const { work } = sheet;
  for (const [id, entry] of sheet.pending) {
    if (sheet.questions.has(id)) continue;
    const row = rowOf(id);
    if (!row) {
      sheet.pending.delete(id);
      continue;
    }
    const answer = await post(row.dataset.url ?? "", reviewPayload(entry));
    if (work !== sheet.work) return;
    if (!(await settle(answer, id, entry))) return;
    summarise();
  }
}

/**
 * What came back; true when the next one may follow.
 * @param {PageAnswer} answer
 * @param {string} id of the criterion
 * @param {ReviewEntry} entry
 */
async function settle({ status, html }, id, entry) {
  if (status === 200) {
    settleSaved(id, entry, rowFrom(html));
    return true;
  }
  if (status === 401) {
    sheet.halted = "signed-out";
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    return false;
  }
  if (status === 0 || status >= 500) {
    flushLater();
    return false;
  }
  if (status === 403 || status === 404) {
    // Another account, an old token, or work that is somebody else's by now.
    if (!(await isStillSamePerson())) return false;
    if (status === 403) {
      flushLater();
      return false;
    }
    giveUp(id, entry);
    refuse(text("gone"));
    return true;
  }
  const newRow = status === 409 ? rowFrom(html) : null;
  if (newRow) settleStale(id, newRow);
  else {
    giveUp(id, entry);
    refuse(sentenceOf(html));
  }
  return true;
}

/**
 * @param {string} id
 * @param {ReviewEntry} entry
 * @param {HTMLElement | null} newRow
 */
function settleSaved(id, entry, newRow) {
  sheet.failures = 0;
  sheet.halted = "";
  sheet.savedAt = new Date().toLocaleTimeString(undefined, { hour12: false });
  if (sheet.pending.get(id) === entry) {
    removeEntry(id);
    renewRow(id, newRow);
  } else if (sheet.pending.has(id)) rebaseEntry(id, newRow, { was: entry.outcome });
  clearRefusal();
}

export async function resume() {
  sheet.failures = 0;
  if (!(await isStillSamePerson())) return;
  if (sheet.halted === "somebody") clearRefusal();
  sheet.halted = "";
  flush();
}

onAnswer(flush);
window.addEventListener("online", resume);
window.addEventListener("offline", showSaving);
document.addEventListener("consilium:signed-in", resume);
