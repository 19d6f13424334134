// @ts-check
/* My work: sends what a closed tab could not send, and shows where something still waits for its author. What the
   server no longer accepts can be discarded. */
import { element, find } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { leftEntries, pageOf, sendLeft, store } from "../shared/outbox.js";

/**
 * @typedef {import("../shared/outbox.js").LeftDetail} LeftDetail
 * @typedef {import("../shared/decisions.js").Entry} Entry
 */

const text = wordsOf("outbox-words");
const waitingNotice = element("unsent", HTMLElement);
const refusedNotice = element("refused-left", HTMLElement);
/** @type {Map<string, LeftDetail["refused"]>} */
const refusals = new Map();
document.addEventListener("consilium:left", (event) => {
  if (!(event instanceof CustomEvent)) return;
  /** @type {LeftDetail} */
  const { assignment, refused } = event.detail;
  refusals.set(assignment, refused);
});

/**
 * @param {string} assignment
 * @param {Record<string, Entry>} entries
 */
function refusedLine(assignment, entries) {
  const { status, detail } = refusals.get(assignment) ?? { status: 0, detail: "" };
  const line = document.createElement("p");
  line.append(`${text("left")} ${detail} `);
  if (status !== 404) {
    const link = document.createElement("a");
    link.href = pageOf(assignment);
    link.textContent = text("open");
    line.append(link, " ");
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "small";
  button.textContent = text("forget");
  button.addEventListener("click", () => {
    for (const [id, entry] of Object.entries(entries)) store.drop(assignment, id, entry.client_id);
    show();
  });
  line.append(button);
  return line;
}

function show() {
  const left = leftEntries();
  const refused = left.filter(([assignment]) => refusals.get(assignment));
  refusedNotice.replaceChildren(...refused.map(([assignment, entries]) => refusedLine(assignment, entries)));
  refusedNotice.hidden = !refused.length;
  const waiting = left.find(([assignment]) => !refusals.get(assignment));
  if (waiting) find(waitingNotice, "a", HTMLAnchorElement).href = pageOf(waiting[0]);
  waitingNotice.hidden = !waiting;
}

function look() {
  return sendLeft().then(show);
}

window.addEventListener("online", look);
document.addEventListener("consilium:signed-in", look);
look();
