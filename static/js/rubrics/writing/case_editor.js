// @ts-check
/* The editor of a case. Its whole content is saved a moment after every change. Two people may write it at once: what
   only one of them changed is taken, and the person is asked about what both changed. Without this script the page is a
   plain form. */
import { reportTime } from "../../core/time_reports.js";
import { newId } from "../../core/ids.js";
import { element, find, findAll, targetWithin } from "../../core/page.js";
import { isBasedOn, ownResults, SaveQueue } from "../../core/save_queue.js";
import { showSaving } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { showDifferences } from "./case_conflict.js";
import { hasSameText, isSame, mergeContents, partOf, withFields } from "./case_content.js";
import { startForm } from "./case_form.js";
import { showName } from "./case_name.js";
import { startPreview } from "./case_preview.js";
import { editor, fields, fillIn, form, isFrozen, stored, words } from "./case_state.js";

/**
 * @typedef {import("./case_content.js").Content} Content
 * @typedef {import("./case_content.js").FieldName} FieldName
 * @typedef {import("./case_content.js").Part} Part
 * @typedef {import("../../core/server.js").Answer} Answer
 * @typedef {import("../../core/save_queue.js").Resolution} Resolution
 * @typedef {object} State what is kept in the browser's storage, besides version and ids
 * @property {Part} state
 * @property {Part} base what both began from
 * @typedef {State & import("../../core/save_queue.js").Entry} Entry
 */

const WAIT_MS = 800;
const TIMEOUT_MS = 30_000; // for an answer
const FLUSH_MS = 3_000; // how long a link waits for unsaved text

const line = element("case-saved", HTMLElement);
const versionField = find(form, '[name="version"]', HTMLInputElement);
const dialog = element("case-conflict", HTMLDialogElement);
const who = editor.dataset.who ?? "";
const { read, show, finishTags } = startForm(changed);
const previewSoon = startPreview(read);

reportTime();

/* Saving */
const own = newId(); // so that two pages of one case store their entries apart
let version = stored.version;
let saved = partOf(stored.case, fields);
let lastSaved = line.textContent ?? "";
let problem = ""; // why nothing is sent
/** @type {FieldName[]} what both changed, while somebody is asked */
let conflicts = [];

/** @type {SaveQueue} */
const queue = new SaveQueue(
  {
    send: ([[, entry]]) =>
      save(
        editor.dataset.save,
        { who, version: entry.version, client_id: entry.client_id, case: entry.state },
        { timeout: TIMEOUT_MS },
      ),
    resultsOf: (answer) => ownResults(answer, own),
    isSame: (entry, current) => same(entry.state, current.case),
    resolve: (_id, entry, _sent, current) => settleStale(entry, current),
    onStored: accept,
    onHalted: refuse,
    onChange: showState,
    who,
  },
  new SaveStore(() => localStorage, `consilium.case:${who}:${editor.dataset.case}:`),
);

/**
 * @param {Part} content
 * @param {Part} other
 */
function same(content, other) {
  return isSame(content, other, fields);
}

function showState() {
  const state = queue.state({ saved: true });
  const isLosable = queue.pending.size > 0 && !queue.isKept;
  if (isLosable) showSaving(line, "offline", words("full"));
  else if (state === "kept") showSaving(line, state, problem || words("kept"));
  else if (state === "offline" || state === "saving") showSaving(line, state, words(state));
  else showSaving(line, state, lastSaved);
}

function changed() {
  previewSoon();
  const base = conflicts.length ? queue.pending.get(own)?.base : saved;
  if (!conflicts.length && same(read(), saved) && !queue.mayHaveArrived(own)) queue.forget(own);
  else queue.put(own, { state: read(), base, at: Date.now() }, version, { wait: WAIT_MS });
}

/** @param {Part} content as it is stored now */
function setSaved(content) {
  saved = content;
  showName(content.key);
}

/** @param {number} value */
function setVersion(value) {
  version = value;
  versionField.value = String(value);
}

/**
 * @param {string} _id
 * @param {{ version: number, current?: Record<string, any> }} answer
 * @param {import("../../core/save_queue.js").Entry | null} sent
 */
function accept(_id, { version: value, current }, sent) {
  setVersion(value);
  if (current?.saved_at) lastSaved = fillIn(words("saved"), { time: current.saved_at });
  if (!sent) return;
  setSaved(sent.state);
  problem = "";
  markErrors({});
  const privacy = element("privacy", HTMLElement);
  // Not while somebody types a reason there.
  if (current?.privacy !== undefined && !privacy.contains(document.activeElement)) privacy.innerHTML = current.privacy;
  if (queue.pending.has(own)) changed(); // based on the content that is saved now
}

/**
 * @param {import("../../core/save_queue.js").Halt} halt
 * @param {Answer} answer
 */
function refuse(halt, { body }) {
  if (halt === "refused" && body?.errors) {
    markErrors(body.errors);
    problem = body.errors.case?.join(" ") || words("problem");
  } else if (halt === "refused") {
    markErrors({});
    problem = body?.detail || words("kept");
  } else problem = words(halt === "signed-out" ? "kept" : halt);
}

/** @param {Record<string, string[]>} errors by field */
function markErrors(errors) {
  for (const list of findAll(form, "ul.errors[id]", HTMLElement)) {
    const texts = errors[list.id.replace("error-", "")] ?? [];
    list.replaceChildren(...texts.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
    const field = list.parentElement?.querySelector("input, textarea");
    if (texts.length) field?.setAttribute("aria-invalid", "true");
    else field?.removeAttribute("aria-invalid");
  }
}

form.addEventListener("input", changed);
form.addEventListener("change", changed);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  flush();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
    event.preventDefault();
    flush();
  }
});
window.addEventListener("pagehide", finishTags);
queue.listen();

/* Links and forms that lead away wait until what was typed has arrived, for a while. */
function flush() {
  return Promise.race([queue.flushAll(), new Promise((resolve) => setTimeout(resolve, FLUSH_MS))]);
}

document.addEventListener("click", async (event) => {
  const link = targetWithin(event, "a[data-after-save]");
  if (!(link instanceof HTMLAnchorElement)) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  await flush();
  location.assign(link.href);
});

document.addEventListener("submit", async (event) => {
  const target = event.target;
  if (!(target instanceof HTMLFormElement && target.matches("form[data-after-save]"))) return;
  event.preventDefault();
  await flush();
  target.submit();
});

/* Two versions: what only one of them changed is taken; where both did, the person has to choose. */

/**
 * @param {import("../../core/save_queue.js").Entry} entry
 * @param {Record<string, any>} current
 * @returns {Resolution}
 */
function settleStale(entry, current) {
  const theirs = partOf(current.case, fields);
  if (isBasedOn(entry, current.client_id)) {
    setSaved(theirs);
    setVersion(current.version);
    queue.rebase(own, version, { state: entry.state, base: theirs });
    return "resolved";
  }
  return mergeWith(theirs, current, entry);
}

/**
 * @param {Part} theirs what is stored
 * @param {Record<string, any>} current
 * @param {import("../../core/save_queue.js").Entry} entry
 * @returns {Resolution}
 */
function mergeWith(theirs, current, { base, version: seen }) {
  const mine = read();
  const { merged, conflicts: both } = mergeContents(base, mine, theirs, fields);
  setVersion(current.version);
  if (current.saved_at) lastSaved = fillIn(words("saved"), { time: current.saved_at });
  setSaved(theirs);
  show({ ...stored.case, ...merged });
  previewSoon();
  if (!both.length) {
    if (same(read(), theirs)) {
      queue.forget(own);
      return "resolved";
    }
    queue.rebase(own, current.version, { state: read(), base: theirs });
    return "resolved";
  }
  // The common origin is kept until the person has chosen, so that a later page asks again.
  queue.rebase(own, seen, { state: read(), base });
  conflicts = both;
  problem = words("asked");
  showDifferences(both, mine, theirs);
  queue.ask(own, { ...current, version: current.version });
  dialog.showModal();
  return "resolved";
}

dialog.addEventListener("cancel", (event) => event.preventDefault());
dialog.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-conflict]");
  if (!button || !conflicts.length) return;
  if (button.dataset.conflict === "theirs") show({ ...stored.case, ...withFields(read(), saved, conflicts) });
  conflicts = [];
  problem = "";
  dialog.close();
  queue.answer(own, { keepsMine: true });
  changed();
  flush();
  recover();
});

/* What an earlier visit left unsent */

function recover() {
  for (const [id, entry] of Object.entries(queue.store.entries())) {
    if (id === own) continue;
    const { state, base } = entry;
    // Content that was typed before the case went to review waits until it comes back.
    if (isFrozen && state && "conversation" in state && !hasSameText(state, stored.case)) continue;
    queue.store.remove(id);
    if (!state || !fields.every((name) => name in state) || same(state, read())) continue;
    queue.addToTrail(own, ...(entry.after ?? []), entry.client_id);
    // This page was rendered before the last save of the page before it: what that page had seen is later.
    if (base && entry.version > version) {
      saved = partOf({ ...stored.case, ...base }, fields);
      setVersion(entry.version);
    }
    const theirs = saved;
    show({ ...stored.case, ...state });
    // The stored version is the one that the entry was made on, or an own save whose answer never came.
    if (entry.version === version || isBasedOn(entry, stored.edit_id)) {
      toast(words("restored"));
      changed();
      continue;
    }
    const held = queue.put(
      own,
      { state: read(), base: partOf({ ...stored.case, ...(base ?? state) }, fields) },
      entry.version,
      {
        wait: WAIT_MS,
      },
    );
    mergeWith(theirs, { version, case: { ...stored.case, ...theirs } }, held);
    if (conflicts.length) return;
  }
}

recover();
