// @ts-check
/* Sending the decisions of the grading page: what is made shows at once, waits in the outbox, and is sent until the
   server has it. */
import { session } from "../core/server.js";
import { toast } from "../core/toast.js";
import { wordsOf } from "../core/words.js";
import { rowOf, sheetElement } from "./criteria.js";
import { afterStale, retryDelay } from "./decisions.js";
import { askWhichHolds, isAsking, onAnswer } from "./grading_conflict.js";
import { finishEntry, keepEntry, rebaseEntry } from "./grading_entries.js";
import { connection, sheet, waitingEntries } from "./grading_sheet.js";
import { clearRefusal, refuse, showSaving, summarise } from "./grading_status.js";
import { broadcast, send, sendLeft, who } from "./outbox.js";
import { show } from "./rows.js";

/**
 * @typedef {import("../core/server.js").Answer} Answer
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Entry} Entry
 * @typedef {import("./decisions.js").SaveResult} SaveResult
 * @typedef {import("./decisions.js").StoredDecision} StoredDecision
 */

const MAX_AT_ONCE = 100;
const text = wordsOf("grading-words");

/** @type {Promise<void> | null} the request under way */
let sending = null;
/** @type {number | undefined} */
let timer;
let missed = false; // the server knew nothing of this work when it was last asked

/**
 * Save what the person decided.
 * @param {string} id of the criterion
 * @param {Decision} decision
 */
export function save(id, decision) {
  keepEntry(id, decision);
  showSaving();
  flush();
}

/** @returns {Promise<void>} when what is under way is over, or nothing can be sent now */
export function flush() {
  if (sending) return sending;
  if (connection.halted || !sheet.writable || !waitingEntries().length) return Promise.resolve();
  clearTimeout(timer);
  sending = deliver().finally(() => {
    sending = null;
    showSaving();
    flushLater(retryDelay(connection.failures));
  });
  return sending;
}

/** @param {number} delay in milliseconds */
export function flushLater(delay) {
  if (!connection.halted && waitingEntries().length) timer = setTimeout(flush, delay);
}

/** For handing in: when this has settled nothing is under way, and only the caller sends. */
export function requestUnderWay() {
  return sending;
}

export function stopTimer() {
  clearTimeout(timer);
}

async function deliver() {
  const { assignment } = sheet;
  while (!connection.halted && waitingEntries().length) {
    const batch = Object.fromEntries(waitingEntries().slice(0, MAX_AT_ONCE));
    showSaving();
    const answer = await send(sheetElement().dataset.decisionsUrl ?? "", batch);
    if (assignment !== sheet.assignment) return;
    if (!settle(answer, batch)) return;
  }
}

/**
 * What came back; true when the next request may follow.
 * @param {Answer} answer
 * @param {Record<string, Entry>} batch
 */
export function settle({ status, body }, batch) {
  if (status === 200) {
    connection.failures = 0;
    missed = false;
    document.querySelector("#refusal [data-refused]:not([data-missing])")?.remove();
    settleResults(body.results, batch);
    return true;
  }
  if (body?.results) settleResults(body.results, batch);
  if (status === 401) {
    connection.halted = "signed-out";
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  } else if (status === 404) {
    connection.halted = "refused";
    // Somebody else may have been signed in for that moment only: once more, then it is gone for good.
    const isFirst = !missed;
    missed = true;
    checkSession(() => (isFirst ? resume() : toast(text("elsewhere"), "error")));
  } else if (body?.detail) {
    connection.halted = "refused"; // the reason is shown above the criteria; the entries stay in this browser
    refuse(body.detail);
  } else {
    if (status === 403 && connection.failures === 0) session();
    connection.failures += 1;
  }
  return false;
}

/**
 * @param {SaveResult[]} results
 * @param {Record<string, Entry>} batch
 */
export function settleResults(results, batch) {
  for (const result of results) {
    const id = String(result.id);
    const sent = batch[id];
    if (!sent) continue;
    if (result.status === "saved") settleSaved(id, sent, result);
    else if (result.status === "stale") settleStale(id, sent, result.current);
    else settleRefused(id, sent, result.detail);
  }
  summarise();
  askWhichHolds();
}

/**
 * @param {string} id
 * @param {Entry} sent
 * @param {{ version: number, current: { at: string } }} saved
 */
function settleSaved(id, sent, { version, current: { at } }) {
  const { assignment } = sheet;
  const row = rowOf(id);
  sheet.stored[id] = { ...sent };
  if (row) row.dataset.version = String(version);
  sheet.lastSaved = at;
  finishEntry(id, sent, version);
  broadcast({ type: "saved", assignment, id, version, at, client: sent.client_id, state: sent });
}

/**
 * Refused for what it says: it would be refused for ever, so the row goes back to what is saved.
 * @param {string} id
 * @param {Entry} sent
 * @param {string} detail
 */
function settleRefused(id, sent, detail) {
  const row = rowOf(id);
  finishEntry(id, sent, sheet.stored[id].version ?? 0);
  if (row && !sheet.entries[id]) show(row, sheet.stored[id]);
  toast(detail, "error");
}

/**
 * @param {string} id
 * @param {Entry} sent
 * @param {StoredDecision} stored
 */
function settleStale(id, sent, stored) {
  const entry = sheet.entries[id];
  if (!entry) return;
  const row = rowOf(id);
  sheet.stored[id] = { ...stored };
  if (row) row.dataset.version = String(stored.version);
  const next = afterStale(entry, sent, stored);
  if (next === "done") finishEntry(id, entry, stored.version);
  else if (next === "rebase") rebaseEntry(id, stored.version);
  else sheet.questions.set(id, stored);
  sheet.lastSaved = stored.at;
}

/* Going on after an interruption */

/**
 * Whose browser is it by now? Asked when the person comes back to this tab.
 * @param {() => void} [then] called if it is still theirs
 */
export async function checkSession(then = resume) {
  const current = await session();
  if (current?.signed_in && current.who !== who) {
    connection.halted = "somebody";
    refuse(text("somebody"));
    showSaving();
  } else if (current?.signed_in) then();
}

export function resume() {
  if (isAsking()) return;
  if (connection.halted === "somebody") clearRefusal();
  connection.halted = "";
  flush();
  sendLeft(sheet.assignment);
}

onAnswer(flush);
window.addEventListener("online", () => {
  connection.failures = 0;
  flush();
  sendLeft(sheet.assignment);
});
window.addEventListener("offline", showSaving);
document.addEventListener("consilium:signed-in", resume);
