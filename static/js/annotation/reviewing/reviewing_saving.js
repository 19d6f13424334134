// @ts-check
/* Sending what was chosen on the checking and adjudication pages, one criterion after the other. */
import { find, findAll } from "../../core/page.js";
import { session, token } from "../../core/server.js";
import { wordsOf } from "../../core/words.js";
import { idOf, rowOf, rows, sheetElement } from "../shared/criteria.js";
import { who } from "../shared/outbox.js";
import { reviewPayload } from "./review_entries.js";
import { afterStale, askWhichHolds, closeQuestion, startAsking } from "./reviewing_conflict.js";
import { giveUp, goOnFrom, parse, renewRow, rowFrom } from "./reviewing_entries.js";
import { existingReasonField, press, reasonBox } from "./reviewing_reasons.js";
import { queue, sheet, startQueue } from "./reviewing_sheet.js";
import { clearRefusal, refuse, showSaving, summarise } from "./reviewing_status.js";

/**
 * @typedef {import("../../core/server.js").Answer} Answer its body is a `PageAnswer`
 * @typedef {import("../../core/save_queue.js").SaveResult} SaveResult its `current` has the row as the server has it
 * @typedef {import("../../core/save_queue.js").Waiting} Waiting
 * @typedef {{ status: number, html: string, leave: string | null, trigger: string | null }} PageAnswer `status` 0: no
 *   connection, or no whole answer in time; `leave`: where the server sends the browser; `trigger`: its toasts
 */

const TIMEOUT_MS = 15_000;
const NEVER_TAKEN = [400, 422]; // the content is refused, and always would be
const text = wordsOf("reviewing-words");

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
  queue.halted = "somebody";
  refuse(text("somebody"));
  showSaving();
  return false;
}

/**
 * @param {Waiting[]} batch of one
 * @returns {Promise<Answer>}
 */
async function send([[id, entry]]) {
  const row = rowOf(id);
  if (!row) return { status: 422, body: { html: "" } }; // not on the page any more
  const answer = await post(row.dataset.url ?? "", reviewPayload(/** @type {any} */ (entry)));
  const detail = answer.status === 409 && !rowFrom(answer.html) ? sentenceOf(answer.html) : undefined;
  return { status: answer.status, body: { ...answer, detail } };
}

/**
 * The server answers with the row of the criterion, or with a sentence.
 * @param {Answer} answer
 * @param {Waiting[]} batch
 * @returns {SaveResult[] | null}
 */
function resultsOf({ status, body }, [[id]]) {
  if (NEVER_TAKEN.includes(status)) return [{ id, status: "refused", detail: sentenceOf(body.html) }];
  const row = status === 200 || status === 409 ? rowFrom(body.html) : null;
  if (!row) return null;
  const { version, client: client_id } = row.dataset;
  const current = { row, version: Number(version), client_id };
  return [{ id, status: status === 200 ? "saved" : "stale", version: current.version, current }];
}

/** What changes the work, here and in the bars. */
const WRITING = "#finish-form button, #release-form button, [form=release-form], [data-open-return], #criteria button";
const WRITING_IN_DOCK = "#dock :is([data-choose], [data-dock-undo], [form])";

/**
 * The work takes nothing more: it was completed in another tab, or is not this person's any more. The page shows what
 * is stored, says why, and leads to the list.
 * @returns {Promise<string>} why
 */
export async function closeSheet() {
  sheet.writable = false;
  for (const [id, entry] of [...queue.pending]) {
    queue.forget(id);
    giveUp(id, /** @type {any} */ (entry));
  }
  closeQuestion();
  summarise();
  showSaving();
  const { url = "", listUrl = "" } = sheetElement().dataset;
  const completed = await completedPage(url);
  if (completed) showCompleted(completed);
  for (const row of rows()) showAsStored(row);
  const message = text(completed ? "completed" : "gone");
  const link = document.createElement("a");
  link.href = listUrl;
  link.textContent = text("to_list");
  refuse(message, { link });
  for (const button of findAll(document, `${WRITING}, ${WRITING_IN_DOCK}`, HTMLButtonElement)) button.disabled = true;
  return message;
}

/**
 * @param {string} url of the work
 * @returns {Promise<DocumentFragment | null>} its page, where it is there to be read as completed by this person
 */
async function completedPage(url) {
  const page = await pageOf(url);
  return page?.querySelector("#done-notice") ? page : null;
}

/** @param {DocumentFragment} page with the criteria as they were completed */
function showCompleted(page) {
  for (const row of rows()) {
    const newRow = page.querySelector(`[data-row="${CSS.escape(idOf(row))}"]`);
    if (newRow instanceof HTMLElement) renewRow(idOf(row), newRow);
  }
  summarise();
}

/**
 * The outcome that is stored is the chosen one. A reason that was typed can be read and copied, no more.
 * @param {HTMLElement} row
 */
function showAsStored(row) {
  press(row, row.dataset.outcome ?? "");
  const box = reasonBox(row);
  if (!box) return;
  find(box, "[data-not-yet]", HTMLElement).hidden = true;
  existingReasonField(row).readOnly = true;
}

/**
 * @param {string} url of a page
 * @returns {Promise<DocumentFragment | null>} the page as it is now; null where it cannot be read
 */
export async function pageOf(url) {
  try {
    const answer = await fetch(url, { credentials: "same-origin", signal: AbortSignal.timeout?.(TIMEOUT_MS) });
    return answer.ok ? parse(await answer.text()) : null;
  } catch {
    return null;
  }
}

startQueue({
  send,
  resultsOf,
  isSame: (entry, { row }) => afterStale(entry, row) === "done",
  resolve: (_id, entry, _sent, { row }) => afterStale(entry, row),
  onStored: (id, { current }, sent) => {
    if (queue.pending.has(id)) goOnFrom(id, current?.row);
    else renewRow(id, current?.row ?? null);
    if (sent) {
      sheet.savedAt = new Date().toLocaleTimeString(undefined, { hour12: false });
      clearRefusal(id, ""); // what is missing elsewhere is still missing
    }
    summarise();
  },
  onAsk: () => askWhichHolds(),
  onRefused: (id, sent, detail) => {
    giveUp(id, /** @type {any} */ (sent));
    if (detail) refuse(detail);
    summarise();
  },
  onHalted: (halt, { body }) => {
    if (halt === "refused") refuse(body?.detail || text("unsent"));
    else if (halt === "gone") closeSheet();
    else if (halt !== "signed-out") refuse(text(halt));
  },
  onResumed: (halt) => {
    if (halt === "somebody") clearRefusal();
  },
  onChange: showSaving,
  who,
});
startAsking();
queue.listen();
