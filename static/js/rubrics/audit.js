// @ts-check
/* The auditor's form: it saves itself with the version it saw, keeps what could not be sent in this browser, and asks
   which of the two holds where another tab was faster. */
import { element, find, findAll, targetWithin } from "../core/page.js";
import { retryDelay } from "../core/retry_delay.js";
import { ask, session } from "../core/server.js";
import { wordsOf } from "../core/words.js";
import { answersOf, QUESTIONS, textOf } from "./finding.js";
import "./audit_keys.js";
import "./authoring_time.js";

/**
 * @typedef {import("./finding.js").Finding} Finding
 * @typedef {import("./finding.js").StoredFinding} StoredFinding
 * @typedef {import("./finding.js").KeptFinding} KeptFinding
 * @typedef {import("../core/server.js").Answer} Answer its body is one of the following, or null
 * @typedef {{ version?: number }} SavedBody
 * @typedef {{ next: string }} SubmittedBody
 * @typedef {{ detail?: string, standing?: StoredFinding } | null} RefusedBody
 */

const DELAY_MS = 600; // between a keystroke and its saving
const MAX_FAILURES = 6;

const form = element("finding", HTMLFormElement);
const saving = element("saving", HTMLElement);
const refusal = element("refusal", HTMLElement);
const question = element("overtaken", HTMLElement);
const text = wordsOf("audit-words");
const key = `consilium.audit:${form.dataset.item}`;

let version = Number(form.dataset.version);
let sent = textOf(read()); // what the server has
/** @type {number | undefined} */
let later;
/** @type {Promise<void> | null} */
let busy = null;
let failures = 0;
/** @type {StoredFinding | null} */
let stored = null; // what another tab saved, while the question is open
let leaving = false;

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

const dirty = () => textOf(read()) !== sent;

/* Kept in this browser until the server has it */

function keep() {
  try {
    if (dirty()) localStorage.setItem(key, JSON.stringify({ version, finding: read() }));
    else localStorage.removeItem(key);
  } catch {
    // It is kept as long as the page.
  }
}

function restore() {
  try {
    /** @type {KeptFinding | null} */
    const kept = JSON.parse(localStorage.getItem(key) ?? "null");
    if (!kept) return;
    const finding = read();
    write(kept.finding);
    if (!dirty()) {
      localStorage.removeItem(key);
      return;
    }
    saving.textContent = text("restored");
    // Written before the server's version: the person chooses.
    if (kept.version !== version) askWhich({ version, ...finding });
    else save();
  } catch {
    localStorage.removeItem(key);
  }
}

/* Saving */

/** @param {string} detail empty where there is nothing to refuse */
function refuse(detail) {
  refusal.hidden = !detail;
  find(refusal, "p", HTMLElement).textContent = detail;
  if (detail) refusal.scrollIntoView({ block: "nearest" });
}

/**
 * @param {string | undefined} url
 * @param {Finding} finding
 * @returns {Promise<Answer>}
 */
const post = (url, finding) => ask("POST", url ?? "", { version, ...finding });

/** @returns {Promise<void>} */
function save() {
  if (busy) return busy;
  if (stored || !dirty()) return Promise.resolve();
  clearTimeout(later);
  saving.textContent = text("saving");
  busy = deliver().finally(() => {
    busy = null;
    if (!stored && dirty()) later = setTimeout(save, retryDelay(failures) || DELAY_MS);
  });
  return busy;
}

async function deliver() {
  const finding = read();
  settle(await post(form.dataset.save, finding), finding);
  keep();
}

/**
 * @param {Answer} answer
 * @param {Finding} finding what was sent
 */
function settle({ status, body }, finding) {
  if (status === 200) {
    failures = 0;
    /** @type {SavedBody} */
    const saved = body;
    version = saved.version ?? version;
    sent = textOf(finding);
    saving.textContent = text("saved");
    return;
  }
  failures = Math.min(failures + 1, MAX_FAILURES);
  /** @type {RefusedBody} */
  const refused = body;
  if (status === 409 && refused?.standing) askWhich(refused.standing);
  else if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  else if (refused?.detail && status < 500 && status !== 403) refuse(refused.detail);
  else {
    saving.textContent = text("offline");
    if (status === 403) session(); // the next attempt takes the new token
  }
}

/** @param {StoredFinding} finding that of another tab, or of the server */
function askWhich(finding) {
  stored = finding;
  question.hidden = false;
  question.scrollIntoView({ block: "nearest" });
}

question.addEventListener("click", (event) => {
  const keepsMine = targetWithin(event, "[data-keep-mine]");
  if (!stored || !(keepsMine || targetWithin(event, "[data-take-saved]"))) return;
  version = stored.version;
  sent = textOf(stored);
  if (!keepsMine) write(stored);
  stored = null;
  failures = 0;
  question.hidden = true;
  keep();
  save();
});

function changed() {
  refuse("");
  keep();
  clearTimeout(later);
  later = setTimeout(save, DELAY_MS);
}

form.addEventListener("input", changed);
document.addEventListener("change", (event) => {
  if (event.target instanceof HTMLInputElement && event.target.name === "criteria") changed();
});
document.addEventListener("consilium:signed-in", save);
window.addEventListener("online", save);
window.addEventListener("beforeunload", (event) => {
  keep();
  if (dirty() && !leaving) event.preventDefault();
});

/* Handing in */

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  await busy;
  if (stored) {
    question.scrollIntoView({ block: "nearest" });
    return;
  }
  clearTimeout(later);
  const finding = read();
  const answer = await post(form.dataset.submit, finding);
  if (answer.status === 200) {
    leaving = true;
    localStorage.removeItem(key);
    /** @type {SubmittedBody} */
    const submitted = answer.body;
    location.assign(submitted.next);
    return;
  }
  settle(answer, finding);
});

restore();
