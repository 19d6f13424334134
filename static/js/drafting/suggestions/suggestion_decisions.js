// @ts-check
/* Decisions on suggestions that no save of the draft makes: kept in the browser and sent when the draft is saved, since
   the server decides on no suggestion that still stands in it. */
import { SaveQueue } from "../../core/save_queue.js";
import { SaveStore } from "../../core/save_store.js";
import { save as post } from "../../core/server.js";

/**
 * @typedef {"rejected" | "open" | "aside" | "read"} Kind
 * @typedef {{ decision: Kind, reason?: number | null, note?: string, seconds: number }} Sent
 */

const CHECK_MS = 300;
const MAX_AT_ONCE = 50;

/**
 * @param {object} page
 * @param {string} page.who an opaque name of the person signed in
 * @param {string} page.place the case
 * @param {() => string} page.url empty until the panel is loaded
 * @param {() => boolean} page.mayOpen false while the draft has changes that are not saved
 * @param {() => void} page.onRefused
 * @param {(offline: boolean) => void} page.onChange
 */
export function createDecisions({ who, place, url, mayOpen, onRefused, onChange }) {
  const store = new SaveStore(() => localStorage, `consilium.suggestions.${who}.${place}.`);
  const queue = new SaveQueue(
    {
      send: (batch) => post(url(), { who, decisions: batch.map(([id, entry]) => ({ id, ...sentOf(entry) })) }),
      isSame: () => false,
      isOpen: () => Boolean(url()) && mayOpen(),
      onRefused,
      onChange: () => onChange(queue.pending.size > 0 && (queue.failures > 0 || !navigator.onLine)),
      who,
      batchSize: MAX_AT_ONCE,
    },
    store,
  );

  /** @param {Record<string, any>} entry */
  function sentOf({ decision, reason, note, seconds }) {
    return { decision, reason: reason ?? null, note: note ?? "", seconds };
  }

  /**
   * @param {string} id of a suggestion
   * @param {Kind} decision
   * @param {{ reason?: number | null, note?: string, seconds?: number }} [details]
   */
  function put(id, decision, { reason = null, note = "", seconds = 0 } = {}) {
    const before = queue.pending.get(id);
    // Time alone replaces no decision that waits.
    const kept = decision === "read" && before ? before : { decision, reason, note };
    const total = seconds + (before?.seconds ?? 0);
    queue.put(id, { decision: kept.decision, reason: kept.reason ?? null, note: kept.note ?? "", seconds: total }, 0);
  }

  /**
   * The suggestion stands in the list again: what was decided on it before is not sent.
   * @param {string} id
   */
  function forget(id) {
    if (queue.pending.get(id)?.decision !== "read") queue.forget(id);
  }

  /** @returns {Record<string, Sent>} what earlier visits could not send */
  function takeUp() {
    const entries = store.entries();
    for (const [id, entry] of Object.entries(entries)) queue.takeUp(id, /** @type {any} */ (entry));
    queue.flush();
    return /** @type {any} */ (entries);
  }

  setInterval(() => {
    if (queue.pending.size && !queue.underWay && mayOpen() && !queue.failures) queue.flush();
  }, CHECK_MS);
  queue.listen();
  return {
    put,
    forget,
    takeUp,
    isPending: (/** @type {string} */ id) => queue.pending.has(id),
    flush: () => queue.flush(),
  };
}
