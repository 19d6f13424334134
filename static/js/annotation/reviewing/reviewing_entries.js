// @ts-check
/* What is on its way from the checking and adjudication pages, and the rows that show it. */
import { newId } from "../../core/ids.js";
import { currentRow, idOf, rowOf, select } from "../shared/criteria.js";
import { afterPress, isPressed } from "../shared/press.js";
import { resumedEntry } from "./review_entries.js";
import { existingReasonField, isReasonOpen, reasonBox, reasonField, showReason } from "./reviewing_reasons.js";
import { keep, keptEntries, queue } from "./reviewing_sheet.js";
import { endWaiting, showOutcome, showWaiting } from "./reviewing_waiting.js";

/** @typedef {import("./review_entries.js").ReviewEntry} ReviewEntry */

const RENEWED = ["outcome", "amended", "marked", "version", "client", "at"];

/** @param {HTMLElement} row */
function originOf(row) {
  return { was: row.dataset.outcome ?? "", version: Number(row.dataset.version), clientId: newId() };
}

/**
 * @param {HTMLElement} row
 * @param {{ outcome: string, reason: string }} chosen
 */
export function addEntry(row, chosen) {
  const id = idOf(row);
  const before = queue.pending.get(id);
  const was = before?.was ?? row.dataset.outcome ?? "";
  // Another tab of this work may have sent what is waiting.
  const after = before ? [before.client_id] : [];
  queue.put(id, { ...chosen, was, unsent: true }, Number(row.dataset.version), { after });
}

/**
 * Bases what the person chose last on the version that is stored.
 * @param {string} id
 * @param {HTMLElement | undefined} newRow as the server has it
 */
export function goOnFrom(id, newRow) {
  const entry = queue.pending.get(id);
  const row = rowOf(id);
  if (entry && newRow) entry.was = newRow.dataset.outcome ?? "";
  if (row && newRow) row.dataset.version = newRow.dataset.version;
}

/**
 * Sends what this browser holds and the server does not, from before a reload or from another tab of the same work.
 */
export function takeUpKept() {
  for (const [id, entry] of Object.entries(keptEntries())) {
    const row = rowOf(id);
    if (!row || !entry?.unsent || queue.pending.has(id)) continue;
    const resumed = resumedEntry(entry, originOf(row));
    queue.takeUp(id, resumed);
    showOutcome(row, resumed.outcome);
    showWaiting(row, resumed.reason);
  }
}

/* Rows */

/**
 * @param {string} html
 * @returns {DocumentFragment}
 */
export function parse(html) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  return holder.content;
}

/** @param {string} html */
export function rowFrom(html) {
  const row = parse(html).querySelector("[data-row]");
  return row instanceof HTMLElement ? row : null;
}

/**
 * @param {HTMLElement} row
 * @param {HTMLElement} newRow as the server has it
 */
function copyState(row, newRow) {
  for (const name of RENEWED) if (name in newRow.dataset) row.dataset[name] = newRow.dataset[name];
}

/**
 * The row as the server has it; a reason that is being written in the old one is not disturbed.
 * @param {string} id
 * @param {HTMLElement | null} newRow
 */
export function renewRow(id, newRow) {
  const row = rowOf(id);
  if (!row || !newRow) return;
  if (isPressed()) {
    // A button of the row may be held down: the row is replaced once it is up, unless something else was chosen.
    copyState(row, newRow);
    afterPress(() => setTimeout(() => queue.pending.has(id) || renewRow(id, newRow)));
    return;
  }
  if (isReasonOpen(row) && row.dataset.undone && !queue.pending.has(id)) {
    renewAround(row, newRow);
    return;
  }
  if (isReasonOpen(row)) {
    const field = reasonField(row);
    if (field?.value && field.value !== field.defaultValue && !queue.pending.has(id)) {
      keep(id, { outcome: reasonBox(row)?.dataset.outcome, reason: field.value, unsent: false });
    }
    copyState(row, newRow);
    endWaiting(row);
    return;
  }
  const wasCurrent = currentRow() === row;
  const hadFocus = row.contains(document.activeElement);
  row.replaceWith(newRow);
  if (wasCurrent) select(newRow, { focus: hadFocus || document.activeElement === document.body });
}

/**
 * A row whose ruling or amendment was undone: nothing of it stays but the reason, which waits for another outcome or,
 * if the person has chosen one by now, for being saved.
 * @param {HTMLElement} row with an open field
 * @param {HTMLElement} newRow
 */
function renewAround(row, newRow) {
  const field = existingReasonField(row);
  const { value, selectionStart, selectionEnd } = field;
  const named = reasonBox(row)?.dataset.outcome ?? "";
  // A reason for the outcome that the row showed is now one for the outcome that is stored, which may be another.
  const outcome = named && named === row.dataset.outcome ? (newRow.dataset.outcome ?? "") : named;
  const hadFocus = document.activeElement === field;
  const wasCurrent = currentRow() === row;
  row.replaceWith(newRow);
  if (wasCurrent) select(newRow, { focus: !hadFocus });
  showReason(newRow, outcome, value);
  keep(idOf(newRow), value ? { outcome, reason: value, unsent: false } : null);
  if (!hadFocus) return;
  existingReasonField(newRow).focus();
  existingReasonField(newRow).setSelectionRange(selectionStart, selectionEnd);
}

/**
 * The server refuses the entry: the row shows what is stored, and the reason can be used again.
 * @param {string} id
 * @param {ReviewEntry} entry
 */
export function giveUp(id, entry) {
  if (queue.pending.has(id)) return; // a later choice is on its way, and stays shown
  const row = rowOf(id);
  if (!row) return;
  showOutcome(row, entry.was); // what the server has
  endWaiting(row);
  if (!entry.reason) {
    keep(id, null);
    return;
  }
  keep(id, { ...entry, unsent: false });
  showReason(row, entry.outcome, entry.reason);
}
