// @ts-check
/* Decisions on their way: they wait in the browser's storage, for their author alone, until the server has them.

   An entry leaves the storage only when the server has answered that this very entry is saved; a repeated one changes
   nothing there. Two tabs share the storage, and send each other messages. */
import { newId } from "../../core/ids.js";
import { element } from "../../core/page.js";
import { isBasedOn } from "../../core/save_queue.js";
import { parseStored } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { payloadOf } from "./decisions.js";
import { OutboxStore } from "./outbox_store.js";

/**
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Entry} Entry
 * @typedef {import("./decisions.js").SaveResult} SaveResult
 * @typedef {{ type: "hello" | "here" | "bye" | "handed-in", assignment: string }} PresenceMessage
 * @typedef {{ type: "shown", assignment: string, id: string, state: Decision, client: string }} ShownMessage
 * @typedef {{ type: "saved", assignment: string, id: string, version: number, at: string, client: string,
 *   state: Entry }} SavedMessage
 * @typedef {{ type: "entry", assignment: string, id: string, entry: Entry | null, before: Entry | null }} EntryMessage
 *   the storage was changed by another tab
 * @typedef {PresenceMessage | ShownMessage | SavedMessage} TabMessage
 * @typedef {(TabMessage | EntryMessage) & { tab?: string }} ReceivedMessage
 * @typedef {{ assignment: string, left: Record<string, Entry>, refused: { status: number, detail: string } | null }}
 *   LeftDetail of the event "consilium:left"; `refused`: why the server takes none of it
 */

const { dataset } = element("outbox", HTMLElement);
export const who = dataset.who ?? "";
const tab = newId();

export const store = new OutboxStore(() => localStorage, who);

/* The server */

/**
 * @param {string} url
 * @param {Record<string, Entry>} batch
 * @param {Record<string, unknown>} [more]
 */
export function send(url, batch, more = {}) {
  return save(url, { decisions: Object.entries(batch).map(([id, entry]) => payloadOf(id, entry)), ...more });
}

/** @param {string} assignment */
export function pageOf(assignment) {
  return (dataset.page ?? "").replace("ASSIGNMENT", encodeURIComponent(assignment));
}

/* Other tabs of this browser */
/** @type {((message: ReceivedMessage) => void)[]} */
const listeners = [];
const channelName = `consilium:${who}`;
const channel = "BroadcastChannel" in window ? new BroadcastChannel(channelName) : null;

/** @param {TabMessage} message */
export function broadcast(message) {
  const signed = { ...message, tab };
  if (channel) channel.postMessage(signed);
  else {
    try {
      localStorage.setItem(channelName, JSON.stringify({ ...signed, nonce: newId() }));
    } catch {
      // Storage is refused: each tab learns from the server what the other did.
    }
  }
}

/** @param {(message: ReceivedMessage) => void} listener */
export function onMessage(listener) {
  listeners.push(listener);
}

/** @param {ReceivedMessage | null} message */
function receive(message) {
  for (const listener of listeners) if (message && message.tab !== tab) listener(message);
}

channel?.addEventListener("message", (event) => receive(event.data));
window.addEventListener("storage", (event) => {
  if (event.key === channelName) receive(parseStored(event.newValue));
  const place = store.placeOf(event.key);
  if (!place) return;
  const [entry, before] = [parseStored(event.newValue), parseStored(event.oldValue)];
  for (const listener of listeners) listener({ type: "entry", ...place, entry, before });
});

/* What another page left behind: a tab that was killed, hours without a connection */
/** @type {Promise<void> | null} */
let clearing = null;

/** @param {string} [except] the assignment that the page itself sends */
export function sendLeft(except) {
  clearing ??= sendAllLeft(except).finally(() => {
    clearing = null;
  });
  return clearing;
}

/** @param {string} [except] */
async function sendAllLeft(except) {
  for (const [assignment, left] of Object.entries(store.all())) {
    if (assignment === except) continue;
    const url = (dataset.decisions ?? "").replace("ASSIGNMENT", encodeURIComponent(assignment));
    /** @type {LeftDetail["refused"]} */
    let refused = null;
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const batch = store.entriesOf(assignment);
      if (!Object.keys(batch).length) break;
      const { status, body } = await send(url, batch);
      if (status === 0 || status === 401) return;
      if (status === 404 || status === 409) refused = { status, detail: body?.detail ?? "" };
      if (status !== 200) break;
      if (!settleLeft(assignment, batch, body.results)) break;
    }
    /** @type {LeftDetail} */
    const detail = { assignment, left, refused };
    document.dispatchEvent(new CustomEvent("consilium:left", { detail }));
  }
}

/**
 * True if something is to be sent once more, on the version that is stored by now.
 * @param {string} assignment
 * @param {Record<string, Entry>} batch
 * @param {SaveResult[]} results
 */
function settleLeft(assignment, batch, results) {
  let again = false;
  for (const result of results) {
    const id = String(result.id);
    if (result.status === "saved") store.drop(assignment, id, batch[id].client_id);
    else if (result.status === "stale" && isBasedOn(batch[id], result.current.client_id)) {
      store.put(assignment, id, { ...batch[id], version: result.current.version });
      again = true;
    }
  }
  return again;
}

/** @returns {[assignment: string, entries: Record<string, Entry>][]} */
export function leftEntries() {
  return Object.entries(store.all());
}
