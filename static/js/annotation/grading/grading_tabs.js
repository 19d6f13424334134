// @ts-check
/* The same response in another tab of this browser: what is decided there shows here. */
import { isBasedOn } from "../../core/save_queue.js";
import { rowOf } from "../shared/criteria.js";
import { afterStorageChange } from "../shared/decisions.js";
import { showFinalState } from "./grading_closed.js";
import { isOwnEntry } from "./grading_entries.js";
import { queue, sheet } from "./grading_sheet.js";
import { showSaving, summarise } from "./grading_status.js";
import { broadcast, onMessage } from "../shared/outbox.js";
import { show } from "../shared/rows.js";
import { afterPress } from "../shared/press.js";

/**
 * @typedef {import("../shared/decisions.js").Entry} Entry
 * @typedef {import("../shared/outbox.js").ReceivedMessage} ReceivedMessage
 */

const ANSWERS_MS = 300; // time for other tabs to answer
const TAKE_OVER_MS = 2_000;

/** @type {Set<string | undefined>} */
const otherTabs = new Set();

function showOtherTabs() {
  afterPress(() => {
    const notice = document.getElementById("elsewhere");
    if (notice) notice.hidden = !otherTabs.size;
  });
}

export function lookForOtherTabs() {
  otherTabs.clear();
  broadcast({ type: "hello", assignment: sheet.assignment });
  setTimeout(showOtherTabs, ANSWERS_MS);
}

/**
 * The storage that both tabs share has changed. What one tab puts there, either tab may send.
 * @param {string} id of the criterion
 * @param {Entry | null} before
 */
function settleStorageChange(id, before) {
  const inStorage = /** @type {Entry | null} */ (queue.store.get(id));
  const held = /** @type {Entry | undefined} */ (queue.pending.get(id));
  const isOwn = Boolean(held && isOwnEntry(held.client_id));
  const next = afterStorageChange({ inStorage, held, before, isOwn });
  if (next === "take" && inStorage) queue.pending.set(id, inStorage);
  else if (next === "restore" && held) queue.store.put(id, held);
  else if (next === "forget") queue.pending.delete(id);
  showSaving();
  // The tab that made the entry sends it; where that tab cannot, this one does.
  if (queue.pending.has(id)) setTimeout(() => queue.flush(), TAKE_OVER_MS);
}

/** @param {ReceivedMessage} message */
function receive(message) {
  if (message.assignment !== sheet.assignment) {
    if (otherTabs.delete(message.tab)) showOtherTabs();
    return;
  }
  switch (message.type) {
    case "hello":
      broadcast({ type: "here", assignment: sheet.assignment });
      otherTabs.add(message.tab);
      showOtherTabs();
      return;
    case "here":
      otherTabs.add(message.tab);
      showOtherTabs();
      return;
    case "bye":
      otherTabs.delete(message.tab);
      showOtherTabs();
      return;
    case "handed-in":
      showFinalState();
      return;
    default:
      // A page that can only be read shows the record.
      if (sheet.writable) receiveDecision(message);
  }
}

/** @param {Exclude<ReceivedMessage, import("../shared/outbox.js").PresenceMessage>} message */
function receiveDecision(message) {
  const { id } = message;
  const row = rowOf(id);
  if (!row) return;
  if (message.type === "shown") {
    queue.addToTrail(id, message.client);
    show(row, message.state);
    summarise();
  } else if (message.type === "saved") {
    queue.addToTrail(id, message.client);
    sheet.stored[id] = message.state;
    row.dataset.version = String(Math.max(message.version, Number(row.dataset.version)));
    const entry = queue.pending.get(id);
    if (entry?.client_id === message.client) queue.finish(id, entry, message.version);
    else if (entry && entry.version < message.version && isBasedOn(entry, message.client)) {
      queue.rebase(id, message.version);
    }
    sheet.lastSaved = message.at;
    showSaving();
  } else if (message.type === "entry") {
    settleStorageChange(id, message.before);
  }
}

onMessage(receive);
