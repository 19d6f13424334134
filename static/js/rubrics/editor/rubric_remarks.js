// @ts-check
/* Remarks below the rows: of the lint, which the server runs, of reviewers and of graders. */
import { element } from "../../core/page.js";
import { ask } from "../../core/server.js";
import { citesSuperseded } from "./rubric_cited.js";
import { showProblems } from "./rubric_missing.js";
import { field, list, rowOf, showNotes } from "./rubric_rows.js";
import { editor, findItem, placeOf, refusedPoints, remember, remembered, start, state, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_rows.js").Note} Note
 * @typedef {import("./rubric_rows.js").Remark} Remark
 */

const LINT_MS = 1100;
const STOPPING = ["placeholder", "privacy"];

/** @type {Map<string, Remark[]>} */
let remarks = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let requests = 0;

/**
 * @param {string} id of an item
 * @returns {Remark[]}
 */
export function remarksOf(id) {
  return remarks.get(id) ?? [];
}

/** @param {import("./rubric_model.js").Item} item */
export function showRemarks(item) {
  /** @type {Note[]} */
  const notes = [];
  const comment = start.comments[item.id];
  const read = start.comment_texts[item.id] ?? item.text;
  const label = read === item.text ? words("reviewer") : words("reviewer_then").replace("TEXT", () => read);
  if (comment) notes.push({ kind: "comment", label, text: comment });
  for (const text of start.evidence[String(item.criterion)] ?? []) {
    notes.push({ kind: "comment", label: words("faulty"), text });
  }
  if (refusedPoints.has(item.id)) notes.push({ kind: "problem", label: "", text: words("refused_points") });
  else if (!item.points && item.text.trim() && state.lastId !== item.id) {
    notes.push({ kind: "problem", label: "", text: words("needs") });
  }
  showNotes(rowOf(item.id), remarksOf(item.id), notes, (id) => (findItem(id) ? String(placeOf(id) + 1) : ""));
}

/** @param {number} [wait] in milliseconds */
export function lintSoon(wait = LINT_MS) {
  clearTimeout(timer);
  timer = setTimeout(lint, wait);
}

/** Placeholders and names of people keep the rubric from being sent, and are among what is missing. */
const problems = () =>
  state.items.flatMap((item, place) => {
    const own = remarksOf(item.id).filter(({ severity, rule }) => severity === "problem" && !STOPPING.includes(rule));
    const texts = own.map(({ why }) => why);
    if (citesSuperseded(item)) texts.push(words("cites_superseded"));
    return texts.map((message) => ({ line: place + 1, field: "text", message }));
  });

export async function lint() {
  showProblems(problems());
  if (!state.items.length || !navigator.onLine) return;
  requests += 1;
  const request = requests;
  const { status, body } = await ask("POST", editor.dataset.lintUrl ?? "", { items: state.items });
  if (status !== 200 || !body || request !== requests) return; // advice can wait for the connection
  remarks = new Map();
  /** @type {Remark[]} */
  const answered = body.remarks;
  for (const remark of answered) remarks.set(remark.item, [...remarksOf(remark.item), remark]);
  for (const item of state.items) showRemarks(item);
  showProblems(problems());
}

/**
 * Select the words that a remark is about; its places count code points, the browser's UTF-16 units.
 * @param {string} id
 * @param {Remark} remark
 */
export function selectWords(id, remark) {
  const area = field(rowOf(id), "text");
  /** @param {number} count */
  const units = (count) => [...area.value].slice(0, count).join("").length;
  area.focus();
  area.setSelectionRange(units(remark.start), units(remark.end));
}

const hide = element("hide-advice", HTMLInputElement);
hide.checked = remembered("advice", "") === "hidden";
list.classList.toggle("without-advice", hide.checked);
hide.addEventListener("change", () => {
  remember("advice", hide.checked ? "hidden" : "");
  list.classList.toggle("without-advice", hide.checked);
});
