// @ts-check
/* My work: sends what a closed tab could not send, and shows where something still waits for its author. What the
   server no longer accepts can be discarded. */
import { element, find } from "../../core/page.js";
import { wordsOf } from "../../core/words.js";
import { leftEntries, pageOf, sendLeft } from "../shared/outbox.js";
import { discardButton, listOf } from "../shared/unsent.js";

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
function refusedPart(assignment, entries) {
  const { status, detail } = refusals.get(assignment) ?? { status: 0, detail: "" };
  const { response = "", batch = "" } = Object.values(entries)[0].about ?? {};
  const name = [response, batch].filter(Boolean).join(" · ");
  const box = document.createElement("div");
  const line = box.appendChild(document.createElement("p"));
  line.append(name ? `${text("left_of").replace("RESPONSE", name)} ${detail} ` : `${text("left")} ${detail} `);
  if (status !== 404) {
    const link = document.createElement("a");
    link.href = pageOf(assignment);
    link.textContent = text("open");
    line.append(link);
  }
  box.append(listOf(entries), discardButton(assignment, entries, show));
  return box;
}

function show() {
  const left = leftEntries();
  const refused = left.filter(([assignment]) => refusals.get(assignment));
  refusedNotice.replaceChildren(...refused.map(([assignment, entries]) => refusedPart(assignment, entries)));
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
