// @ts-check
/* The same response in another tab of this browser: what is decided there shows here. */
import { rowOf, sheetElement } from "./criteria.js";
import { afterStorageChange, isBasedOn } from "./decisions.js";
import { addToTrail, isOwnEntry, rebaseEntry } from "./grading_entries.js";
import { flush } from "./grading_saving.js";
import { sheet } from "./grading_sheet.js";
import { refuse, showSaving, summarise } from "./grading_status.js";
import { broadcast, onMessage, store } from "./outbox.js";
import { show } from "./rows.js";
import { wordsOf } from "../core/words.js";

/**
 * @typedef {import("./decisions.js").Entry} Entry
 * @typedef {import("./outbox.js").ReceivedMessage} ReceivedMessage
 */

const ANSWERS_MS = 300; // in which other tabs answer
const TAKE_OVER_MS = 2_000;
const text = wordsOf("grading-words");

/** @type {Set<string | undefined>} */
const otherTabs = new Set();

function showOtherTabs() {
  const notice = document.getElementById("elsewhere");
  if (notice) notice.hidden = !otherTabs.size;
}

export function lookForOtherTabs() {
  otherTabs.clear();
  broadcast({ type: "hello", assignment: sheet.assignment });
  setTimeout(showOtherTabs, ANSWERS_MS);
}

/**
 * The storage that both share has changed: what one tab puts there, either may send.
 * @param {string} id of the criterion
 * @param {Entry | null} before
 */
function settleStorageChange(id, before) {
  const inStorage = store.entriesOf(sheet.assignment)[id];
  const held = sheet.entries[id];
  const isOwn = Boolean(held && isOwnEntry(held.client_id));
  const next = afterStorageChange({ inStorage, held, before, isOwn });
  if (next === "take") sheet.entries[id] = inStorage;
  else if (next === "restore") store.put(sheet.assignment, id, held);
  else if (next === "forget") delete sheet.entries[id];
  showSaving();
  // The tab that made it sends it; where that one cannot, this one does.
  if (sheet.entries[id]) setTimeout(flush, TAKE_OVER_MS);
}

function settleHandedIn() {
  sheet.writable = false;
  sheetElement().dataset.writable = "";
  refuse(text("handed"));
  if (!Object.keys(sheet.entries).length) location.reload();
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
      settleHandedIn();
      return;
    default:
      receiveDecision(message);
  }
}

/** @param {Exclude<ReceivedMessage, import("./outbox.js").PresenceMessage>} message */
function receiveDecision(message) {
  const { id } = message;
  const row = rowOf(id);
  if (!row) return;
  if (message.type === "shown") {
    addToTrail(id, message.client);
    show(row, message.state);
    summarise();
  } else if (message.type === "saved") {
    addToTrail(id, message.client);
    sheet.stored[id] = message.state;
    row.dataset.version = String(Math.max(message.version, Number(row.dataset.version)));
    const entry = sheet.entries[id];
    if (entry?.client_id === message.client) {
      store.drop(sheet.assignment, id, message.client);
      delete sheet.entries[id];
    } else if (entry && entry.version < message.version && isBasedOn(entry, message.client)) {
      rebaseEntry(id, message.version);
    }
    sheet.lastSaved = message.at;
    showSaving();
  } else if (message.type === "entry") {
    settleStorageChange(id, message.before);
  }
}

onMessage(receive);
