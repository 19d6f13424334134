// @ts-check
/* The auditor's form: it saves itself, and is handed in as a whole. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { newId } from "../../core/ids.js";
import { element, find, findAll } from "../../core/page.js";
import { SaveQueue } from "../../core/save_queue.js";
import { showSaving } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { answersOf, keptEntry, QUESTIONS, textOf } from "./finding.js";
import "./audit_keys.js";
import { reportTime } from "../../core/time_reports.js";

/**
 * @typedef {import("./finding.js").Finding} Finding
 * @typedef {import("../../core/save_queue.js").Entry} Entry
 */

const WAIT_MS = 600; // from a keystroke to its saving

const form = element("finding", HTMLFormElement);
const savedBox = element("saving", HTMLElement);
const refusal = element("refusal", HTMLElement);
const text = wordsOf("audit-words");
const item = form.dataset.item ?? "";

let version = Number(form.dataset.version);
let stored = textOf(read()); // what the server has
let savedText = ""; // text of the status line where all is saved
let leaving = false; // everything is stored, and another page is being opened
let ended = false; // the case was submitted in another tab, or its audit was closed
/** @type {Set<string>} what was sent from here and may have arrived: the server returns no ids */
const sentTexts = new Set();

reportTime();

/* The form as one object, and back */

/** @param {string} name */
function fieldValue(name) {
  const field = form.elements.namedItem(name);
  if (field instanceof RadioNodeList || field instanceof HTMLTextAreaElement) return field.value;
  throw new Error(`The form has no field "${name}".`);
}

/** @returns {Finding} */
function read() {
  const ticked = findAll(document, "[name=criteria]:checked", HTMLInputElement);
  return {
    answers: answersOf(fieldValue),
    criteria: ticked.map((box) => Number(box.value)).sort((a, b) => a - b),
    outcome: fieldValue("outcome"),
    comment: fieldValue("comment"),
  };
}

/** @param {Finding} finding */
function write(finding) {
  for (const name of QUESTIONS) {
    for (const radio of findAll(form, `[name=${name}]`, HTMLInputElement)) {
      radio.checked = name in finding.answers && (radio.value === "sound") === finding.answers[name];
    }
  }
  for (const radio of findAll(form, "[name=outcome]", HTMLInputElement)) {
    radio.checked = radio.value === finding.outcome;
  }
  for (const box of findAll(document, "[name=criteria]", HTMLInputElement)) {
    box.checked = finding.criteria.includes(Number(box.value));
  }
  find(form, "[name=comment]", HTMLTextAreaElement).value = finding.comment;
}

/* Saving */

/** @param {string} detail empty where there is nothing to refuse */
function refuse(detail) {
  refusal.hidden = !detail;
  find(refusal, "p", HTMLElement).textContent = detail;
  if (detail) refusal.scrollIntoView({ block: "nearest" });
}

/* A refused submission marks the questions without an answer, until they have one. */
function markMissing() {
  for (const group of findAll(form, "[data-question], .audit-outcome", HTMLElement)) {
    group.classList.toggle("is-missing", !group.querySelector("input:checked"));
  }
}

/**
 * The case was submitted in another tab, or its audit was closed: nothing more is sent, but what was written here can
 * still be copied.
 * @param {boolean} forgets false if the browser keeps what was not saved, and asks before the page is left
 */
function endForm(forgets) {
  ended = true;
  leaving = forgets || textOf(read()) === stored;
  if (leaving) queue.forget(item);
  savedBox.hidden = true;
  find(form, "[name=comment]", HTMLTextAreaElement).readOnly = true;
  find(form, "button.primary", HTMLButtonElement).disabled = true;
  for (const box of findAll(document, "[form=finding], #finding input", HTMLInputElement)) box.disabled = true;
}

function showState() {
  const state = queue.state({ saved: Boolean(savedText) });
  const shown = state === "saved" ? savedText : state === "early" ? "" : text(state);
  showSaving(savedBox, state, shown);
}

/**
 * @param {string | undefined} url
 * @param {Entry} entry
 */
const post = (url, { version: seen, answers, criteria, outcome, comment }) =>
  save(url, { version: seen, answers, criteria, outcome, comment });

const queue = new SaveQueue(
  {
    send: ([[, entry]]) => {
      sentTexts.add(textOf(findingOf(entry)));
      return post(form.dataset.save, entry);
    },
    isSame: (entry, current) => textOf(findingOf(entry)) === textOf(findingOf(current)),
    resolve: (_id, entry, _sent, current) => {
      const currentText = textOf(findingOf(current));
      if (currentText === textOf(findingOf(entry))) return "done";
      return sentTexts.has(currentText) ? "rebase" : "ask";
    },
    onStored: (_id, saved, sent) => {
      version = saved.version;
      if (!sent) return;
      sentTexts.clear(); // the same text stored later would be another tab's
      stored = textOf(findingOf(sent));
      savedText = text("saved");
    },
    onAsk: () => conflicts.askNext(),
    onHalted: (halt, { body }) => {
      if (halt === "refused") {
        refuse(body?.detail || text("kept"));
        if (body?.final || body?.closed) endForm(Boolean(body.final));
      } else if (halt !== "signed-out") refuse(text(halt));
    },
    onChange: showState,
  },
  new SaveStore(() => localStorage, "consilium.audit:"),
);

/**
 * @param {Record<string, any>} state
 * @returns {Finding}
 */
function findingOf({ answers, criteria, outcome, comment }) {
  return { answers, criteria, outcome, comment };
}

/** @param {Record<string, any>} state */
function inWords({ answers, criteria, outcome, comment }) {
  const radio = findAll(form, "[name=outcome]", HTMLInputElement).find(({ value }) => value === outcome);
  const label = radio?.closest("label")?.querySelector("b")?.textContent ?? "";
  const sound = QUESTIONS.filter((name) => answers[name] === true).map(questionLabel);
  const faults = QUESTIONS.filter((name) => answers[name] === false).map(questionLabel);
  const numbers = findAll(document, "[name=criteria]", HTMLInputElement)
    .filter((box) => criteria.includes(Number(box.value)))
    .map((box) => box.closest("label")?.querySelector(".num")?.textContent ?? "");
  const parts = [
    label,
    sound.length ? `${text("sound")}: ${sound.join(", ")}` : "",
    faults.length ? `${text("fault")}: ${faults.join(", ")}` : "",
    numbers.length ? text("marked").replace("NUMBERS", numbers.join(", ")) : "",
    comment,
  ];
  return parts.filter(Boolean).join(" · ") || text("empty");
}

/** @param {string} name of a question */
function questionLabel(name) {
  const legend = form.querySelector(`[data-question="${name}"] legend`);
  return legend?.lastChild?.textContent?.trim() ?? "";
}

const conflicts = startConflicts({
  queue,
  describe: (_id, entry, current) => ({ theirs: inWords(current), mine: inWords(entry) }),
  onChosen: (_id, current, { keepsMine }) => {
    version = current.version;
    stored = textOf(findingOf(current));
    savedText = text("saved");
    if (!keepsMine) write(findingOf(current));
  },
});

function changed() {
  refuse("");
  for (const group of findAll(form, ".is-missing:has(input:checked)", HTMLElement))
    group.classList.remove("is-missing");
  if (queue.pending.has(item) || textOf(read()) !== stored) queue.put(item, read(), version, { wait: WAIT_MS });
}

form.addEventListener("input", changed);
document.addEventListener("change", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.name === "criteria") changed();
});
window.addEventListener("beforeunload", (event) => {
  if (queue.pending.size && !leaving) event.preventDefault();
});
queue.listen();

/* Handing in */

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (leaving || ended) return;
  await queue.underWay;
  if (queue.questions.size) {
    conflicts.askNext();
    return;
  }
  const entry = queue.put(item, read(), version, { wait: WAIT_MS });
  queue.stopTimer();
  const answer = await post(form.dataset.submit, entry);
  if (answer.status === 200 && answer.body?.next) {
    leaving = true;
    queue.forget(item);
    location.assign(answer.body.next);
    return;
  }
  await queue.settle(answer, [[item, entry]]);
  if (ended) return;
  if (answer.status === 422) markMissing();
  if (answer.status === 0) {
    refuse(text("not_submitted"));
    window.addEventListener("online", askAgain, { once: true });
  }
  // Handing in was refused; the finding is saved all the same.
  if (queue.halted === "refused") queue.halted = "";
  queue.stopWaiting();
  queue.flush();
});

function askAgain() {
  if (!refusal.hidden) refuse(text("submit_again"));
}

/* Back after handing in: the browser may show the page as it was, though the finding is final. */
window.addEventListener("pageshow", (event) => {
  if (event.persisted && leaving) location.reload();
});

/* What an earlier visit left unsaved is shown in the form, and sent. */
const kept = keptEntry(queue.store.get(item), newId);
if (!kept) queue.store.remove(item);
else {
  write(findingOf(kept));
  if (textOf(read()) === stored) queue.store.remove(item);
  else {
    queue.store.put(item, kept); // with its id, by which it is removed once saved
    queue.takeUp(item, kept);
    toast(text("restored"));
    queue.flush();
  }
}
