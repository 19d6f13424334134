// @ts-check
/* Decisions that wait in this browser and are not on record: in words, and with a button that discards them. */
import { wordsOf } from "../../core/words.js";
import { store } from "./outbox.js";

/**
 * @typedef {import("./decisions.js").Decision} Decision
 * @typedef {import("./decisions.js").Entry} Entry
 */

const text = wordsOf("outbox-words");

/**
 * @param {Decision} decision
 * @returns {string} such as "Not met · borderline · the note"
 */
export function inWords(decision) {
  const { outcome, borderline, evidence, note, answer } = decision;
  const parts = [
    text(outcome || "undecided"),
    borderline ? text("borderline") : "",
    evidence?.length ? text("evidence") : "",
    note,
    answer,
  ];
  return parts.filter(Boolean).join(" · ");
}

/**
 * @param {Record<string, Entry>} entries of one response, by criterion
 * @returns {HTMLUListElement} one item for each, in the order of the rubric
 */
export function listOf(entries) {
  const list = document.createElement("ul");
  const number = (/** @type {Entry} */ entry) => Number(entry.about?.number) || Number.MAX_SAFE_INTEGER;
  for (const entry of Object.values(entries).sort((first, second) => number(first) - number(second))) {
    const item = list.appendChild(document.createElement("li"));
    const name = entry.about?.number ? text("criterion").replace("NUMBER", entry.about.number) : text("a_criterion");
    item.textContent = `${name}: ${inWords(entry)}`;
  }
  return list;
}

/**
 * @param {string} assignment
 * @param {Record<string, Entry>} entries
 * @param {() => void} afterwards
 */
export function discardButton(assignment, entries, afterwards) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = text("forget");
  button.addEventListener("click", () => {
    for (const [id, entry] of Object.entries(entries)) store.drop(assignment, id, entry.client_id);
    afterwards();
  });
  return button;
}
