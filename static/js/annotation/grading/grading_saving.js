// @ts-check
/* Sending the decisions of the grading page: what is made shows at once, waits in the outbox, and is sent until the
   server has it. */
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { rowOf, sheetElement } from "../shared/criteria.js";
import { afterStale, isSameDecision } from "../shared/decisions.js";
import { isFinal, showFinalState } from "./grading_closed.js";
import { startAsking } from "./grading_conflict.js";
import { queue, sheet, startQueue } from "./grading_sheet.js";
import { clearRefusal, refuse, showSaving, summarise } from "./grading_status.js";
import { broadcast, send, sendLeft, who } from "../shared/outbox.js";
import { decisionOf, show } from "../shared/rows.js";

/**
 * @typedef {import("../../core/save_queue.js").Entry} SaveEntry
 * @typedef {import("../../core/save_queue.js").Halt} Halt
 * @typedef {import("../../core/server.js").Answer} Answer
 * @typedef {import("../shared/decisions.js").Entry} Entry
 * @typedef {import("../shared/decisions.js").StoredDecision} StoredDecision
 */

const MAX_AT_ONCE = 100;
const text = wordsOf("grading-words");

startQueue({
  send: (batch) => send(sheetElement().dataset.decisionsUrl ?? "", entriesOf(batch)),
  batchSize: MAX_AT_ONCE,
  isSame: (entry, current) => isSameDecision(/** @type {any} */ (entry), /** @type {any} */ (current)),
  resolve: (_id, entry, sent, current) =>
    afterStale(/** @type {any} */ (entry), /** @type {any} */ (sent), /** @type {any} */ (current)),
  onStored,
  onAsk: () => conflicts.askNext(),
  onRefused: (id, _sent, detail) => {
    // The content is refused and always would be, so the row goes back to what is saved.
    const row = rowOf(id);
    if (row && !queue.pending.has(id)) show(row, sheet.stored[id]);
    toast(detail, "error");
  },
  onHalted: showHalt,
  onSettled: () => {
    document.querySelector("#refusal [data-refused]:not([data-missing])")?.remove();
    summarise();
  },
  onResumed: (halt) => {
    if (halt === "somebody") clearRefusal();
    sendLeft(sheet.assignment);
  },
  isOpen: () => sheet.writable,
  onChange: showSaving,
  who,
});
export const conflicts = startAsking();

/**
 * @param {[string, SaveEntry][]} batch
 * @returns {Record<string, Entry>}
 */
export function entriesOf(batch) {
  return /** @type {any} */ (Object.fromEntries(batch));
}

/**
 * @param {string} id of the criterion
 * @param {{ version: number, current?: Record<string, any> }} stored
 * @param {SaveEntry | null} sent
 */
function onStored(id, { version, current }, sent) {
  const { assignment } = sheet;
  const row = rowOf(id);
  if (row) row.dataset.version = String(version);
  const { at } = current ?? {};
  sheet.lastSaved = at;
  if (current?.client_id !== undefined) sheet.stored[id] = /** @type {any} */ ({ ...current });
  else if (sent) {
    const state = /** @type {Entry} */ (sent);
    sheet.stored[id] = { ...state };
    broadcast({ type: "saved", assignment, id, version, at, client: sent.client_id, state });
  }
}

/**
 * @param {Halt} halt
 * @param {Answer} answer
 */
function showHalt(halt, { body }) {
  if (isFinal(body)) {
    showFinalState();
    return;
  }
  // The reason is shown above the criteria; the entries stay in this browser.
  if (halt === "refused") refuse(body?.detail ?? text("unsent"));
  else if (halt === "somebody") refuse(text("somebody"));
  else if (halt === "gone") toast(text("gone"), "error");
}

/**
 * Shows decisions that were stored from another device since the page was loaded.
 * @param {Record<string, StoredDecision> | undefined} stored by criterion
 * @returns {number} how many
 */
export function takeUpStored(stored = {}) {
  let count = 0;
  for (const [id, current] of Object.entries(stored)) {
    const row = rowOf(id);
    if (!row || queue.pending.has(id) || current.version <= Number(row.dataset.version)) continue;
    row.dataset.version = String(current.version);
    if (!isSameDecision(decisionOf(row), current)) count += 1;
    sheet.stored[id] = { ...current };
    show(row, current);
  }
  if (count) summarise();
  return count;
}

window.addEventListener("online", () => sendLeft(sheet.assignment));
queue.listen();
