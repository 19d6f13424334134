// @ts-check
/* Answers about cases that another page left in this browser. What can still be saved is saved. For the rest, a box
   shows why it waits and offers to discard it. Notes that wait for their answer in an open case are not shown there. */
import { element } from "../../core/page.js";
import { detailOf } from "../../core/save_queue.js";
import { SaveStore } from "../../core/save_store.js";
import { ask } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { answersFirst, describe, labelPayload, parseKey, prefixOf, levelValue } from "./label_answers.js";

/**
 * @typedef {import("./label_answers.js").LabelEntry} LabelEntry
 * @typedef {Map<string, LabelEntry>} Entries by their ids in the store
 * @typedef {{ status: number, reason: string }} Refusal why entries stay here
 * @typedef {Refusal & { task: string, entries: Entries }} Rest
 */

const text = wordsOf("labels-left-words");
// The page of a case replaces its sheet, and with it this box.
const box = () => element("labels-left", HTMLElement);
const author = () => document.getElementById("labels-left")?.dataset.who ?? "";

/** @type {() => SaveStore<LabelEntry>} */
const store = () => new SaveStore(() => localStorage, prefixOf(author()));
/** @param {string} id in the store */
const placeOf = (id) => parseKey(prefixOf(author()) + id, author());

/** @type {Rest[]} */
let rest = [];

/** @returns {Map<string, Entries>} by task, of this author; without the case that the page itself takes care of */
function keptEntries() {
  /** @type {Map<string, Entries>} */
  const kept = new Map();
  const page = document.getElementById("work");
  const own = page?.dataset.writable ? page.dataset.task : "";
  for (const [id, entry] of Object.entries(store().entries())) {
    const task = placeOf(id)?.task ?? "";
    if (task && task !== own) kept.set(task, (kept.get(task) ?? new Map()).set(id, entry));
  }
  return kept;
}

/**
 * @param {string} task
 * @param {string} id
 * @param {LabelEntry} entry
 */
function send(task, id, entry) {
  const url = (box().dataset.answers ?? "").replace("TASK", encodeURIComponent(task));
  return ask("POST", url, { who: author(), answer: labelPayload(placeOf(id)?.question ?? "", entry) });
}

/**
 * Sends a task's entries, and drops those that arrived.
 * @param {string} task
 * @param {Entries} entries
 * @returns {Promise<Refusal | undefined | null>} why some stay; null where the server cannot be asked now
 */
async function settle(task, entries) {
  let refusal;
  for (const [id, entry] of answersFirst(entries)) {
    const { status, body } = await send(task, id, entry);
    if (status === 200) {
      store().drop(id, entry.client_id);
      entries.delete(id);
    } else if (status === 404) return { status, reason: text("gone") };
    else if (body?.reason === "somebody-else" || ![409, 422].includes(status)) return null;
    else if (status === 409 && !body.results) return { status, reason: detailOf(body) };
    else if (entry.value) refusal = { status, reason: detailOf(body) };
    else break; // the case is open: its notes wait for their answers
  }
  return refusal;
}

let looking = false;

async function look() {
  if (looking || !author()) return;
  looking = true;
  try {
    await sendKept();
  } finally {
    looking = false;
  }
}

async function sendKept() {
  /** @type {Rest[]} */
  const refused = [];
  for (const [task, entries] of keptEntries()) {
    const refusal = await settle(task, entries);
    if (refusal === null) return;
    if (refusal) refused.push({ task, entries, ...refusal });
  }
  rest = refused;
  show();
}

function show() {
  if (!document.getElementById("labels-left")) return;
  box().hidden = !rest.length;
  box().replaceChildren(...rest.map(noticeOf));
}

/**
 * @param {Rest} left
 * @returns {HTMLElement}
 */
function noticeOf(left) {
  const notice = document.createElement("div");
  notice.className = "notice warning";
  const words = document.createElement("p");
  words.append(`${text("left")} ${left.reason} `);
  if (left.status !== 404) {
    const link = document.createElement("a");
    link.href = (box().dataset.page ?? "").replace("TASK", encodeURIComponent(left.task));
    link.textContent = text("open");
    words.append(link);
  }
  const list = document.createElement("ul");
  for (const entry of left.entries.values()) {
    const item = list.appendChild(document.createElement("li"));
    item.textContent = describe(entry.words || levelValue(entry), entry, text("certain"));
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = text("forget");
  button.addEventListener("click", () => forget(left));
  notice.append(words, list, button);
  return notice;
}

/** @param {Rest} left */
function forget(left) {
  for (const [id, entry] of left.entries) store().drop(id, entry.client_id);
  rest = rest.filter((other) => other !== left);
  show();
  toast(text("forgotten"));
}

window.addEventListener("online", look);
document.addEventListener("consilium:signed-in", look);
document.addEventListener("consilium:sheet", show);
look();
