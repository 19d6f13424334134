// @ts-check
/* The editor of a case. Its whole content is saved a moment after every change, with the version that was seen; until
   the server has answered that it is saved, a copy is kept in the browser's storage. Without this script the page is a
   plain form. */
import "./authoring_time.js";
import { newId } from "../core/ids.js";
import { element, find, findAll, targetWithin } from "../core/page.js";
import { session, token } from "../core/server.js";
import { toast } from "../core/toast.js";
import { showDifferences } from "./case_conflict.js";
import { hasSameText, isSame, mergeContents, partOf, withFields } from "./case_content.js";
import { startForm } from "./case_form.js";
import { startPreview } from "./case_preview.js";
import { editor, fields, fillIn, form, isFrozen, stored, words } from "./case_state.js";

/**
 * @typedef {import("./case_content.js").Content} Content
 * @typedef {import("./case_content.js").FieldName} FieldName
 * @typedef {import("./case_content.js").Part} Part
 * @typedef {{ id: string, version: number, state: Part }} Save what is sent, or was and is not yet answered
 * @typedef {object} Entry what is kept in the browser's storage
 * @property {number} version that was seen
 * @property {Part} state
 * @property {Part} [base] of the version that was seen
 * @property {Save | null} [inFlight]
 * @property {number} at when it was kept
 * @typedef {{ version: number, case: Content, saved_at: string }} StoredVersion
 * @typedef {object} SaveAnswer
 * @property {number} [version]
 * @property {string} [saved_at]
 * @property {string} [privacy] HTML of what may name a person
 * @property {Content} [case] what is stored, where somebody else saved in between
 * @property {string} [reason]
 * @property {string} [detail]
 * @property {Record<string, string[]>} [errors] by field
 */

const SAVE_MS = 800;
const RETRY_MS = 5000;
const FLUSH_STEP_MS = 100;
const MAX_FLUSH_STEPS = 30;

const line = element("case-saved", HTMLElement);
const versionField = find(form, '[name="version"]', HTMLInputElement);
const saveUrl = editor.dataset.save ?? "";
const who = editor.dataset.who ?? "";
const { read, show, finishTags } = startForm(changed);

/* Saving */
const prefix = `consilium.case:${who}:${editor.dataset.case}:`;
const own = prefix + newId();
let version = stored.version;
let saved = partOf(stored.case, fields);
/** @type {Save | null} */
let inFlight = null; // it is sent again as it was, under the same id
let sending = false;
/** @type {{ both: FieldName[], theirs: Part, seen: { version: number, base: Part } } | null} */
let conflict = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
let lastSaved = line.textContent ?? "";
const previewSoon = startPreview(read, post);

/**
 * @param {Part} content
 * @param {Part} other
 */
function same(content, other) {
  return isSame(content, other, fields);
}

/**
 * @param {string} text
 * @param {"" | "saving" | "offline"} [kind]
 */
function showState(text, kind = "") {
  line.textContent = text;
  line.className = `saved ${kind}`.trim();
}

/** @param {string} [time] at which it was saved */
function settled(time = "") {
  clearTimeout(timer);
  drop();
  if (time) lastSaved = fillIn(words("saved"), { time });
  showState(lastSaved);
}

/** @returns {boolean} whether the browser could keep it */
function keep() {
  /** @type {Entry} */
  const entry = { version, state: read(), base: saved, ...conflict?.seen, inFlight, at: Date.now() };
  try {
    localStorage.setItem(own, JSON.stringify(entry));
    return true;
  } catch {
    return false;
  }
}

function drop(key = own) {
  try {
    localStorage.removeItem(key);
  } catch {
    // It was not kept either.
  }
}

function changed() {
  previewSoon();
  if (conflict) {
    keep();
    return;
  }
  if (!inFlight && same(read(), saved)) {
    settled(); // taken back before it was sent
    return;
  }
  const isKept = keep();
  showState(words("saving"), "saving");
  if (!isKept) showState(words("full"), "offline");
  clearTimeout(timer);
  timer = setTimeout(send, SAVE_MS);
}

/**
 * @param {string} url
 * @param {unknown} body
 * @param {RequestInit} [options]
 */
async function post(url, body, options = {}) {
  const headers = { "Content-Type": "application/json", "X-CSRFToken": token(), "HX-Request": "true" };
  return fetch(url, { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(body), ...options });
}

/** @param {Save} save */
function payload(save) {
  return { who, version: save.version, client_id: save.id, case: save.state };
}

/**
 * @param {Save} save
 * @returns {Promise<{ status: number, body: SaveAnswer }>} `status` 0 where there is no connection
 */
async function deliver(save) {
  const attempt = async () => {
    const answer = await post(saveUrl, payload(save));
    /** @type {SaveAnswer} */
    const body = await answer.json().catch(() => ({}));
    // Without a version the answer was cut off, or is that of a network in between.
    return { status: answer.status === 200 && body.version === undefined ? 0 : answer.status, body };
  };
  try {
    const answer = await attempt();
    if (answer.status !== 403) return answer;
    // The token may be an old one; asking who is signed in renews it.
    const current = await session();
    if (current?.signed_in) return await attempt();
    return current ? answer : { status: 0, body: {} }; // the connection was lost in between
  } catch {
    return { status: 0, body: {} };
  }
}

async function send() {
  clearTimeout(timer);
  if (sending || conflict) return;
  if (!inFlight) {
    const state = read();
    if (same(state, saved)) {
      settled();
      return;
    }
    inFlight = { id: newId(), version, state };
  }
  keep();
  sending = true;
  showState(words("saving"), "saving");
  const save = inFlight;
  const { status, body } = await deliver(save);
  sending = false;
  if (status === 200) accept(save, body);
  else if (status === 401 || status === 403) {
    showState(words("offline"), "offline");
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  } else if (status === 409 && body.reason === "somebody-else") showState(words("somebody"), "offline");
  else if (status === 409 && body.case) {
    mergeWith({ version: body.version ?? version, case: body.case, saved_at: body.saved_at ?? "" });
  } else if (status > 0 && status < 500) refuse(body);
  else {
    showState(words("offline"), "offline");
    timer = setTimeout(send, RETRY_MS);
  }
}

/** @param {number} value */
function setVersion(value) {
  version = value;
  versionField.value = String(value);
}

/**
 * @param {Save} save
 * @param {SaveAnswer} answer
 */
function accept(save, answer) {
  setVersion(answer.version ?? version);
  saved = save.state;
  inFlight = null;
  markErrors({});
  const privacy = element("privacy", HTMLElement);
  // Not while somebody types there why something may stay.
  if (!privacy.contains(document.activeElement)) privacy.innerHTML = answer.privacy ?? "";
  if (same(read(), saved)) settled(answer.saved_at);
  else changed();
}

/** @param {SaveAnswer} answer */
function refuse(answer) {
  inFlight = null;
  markErrors(answer.errors ?? {});
  const detail = answer.errors ? "" : answer.detail;
  showState(answer.errors?.case?.join(" ") || detail || words("problem"), "offline");
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
  send();
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
    event.preventDefault();
    send();
  }
});
window.addEventListener("online", send);
document.addEventListener("consilium:signed-in", send);
window.addEventListener("pagehide", () => {
  finishTags();
  if (conflict || (!inFlight && same(read(), saved))) return;
  inFlight ??= { id: newId(), version, state: read() };
  keep();
  post(saveUrl, payload(inFlight), { keepalive: true }).catch(() => {});
});

/* Links and forms that lead away wait until what was typed has arrived, for a while. */
async function flush() {
  for (let tries = 0; tries < MAX_FLUSH_STEPS && !conflict && (inFlight || !same(read(), saved)); tries += 1) {
    if (!sending) await send();
    if (line.classList.contains("offline")) break;
    await new Promise((resolve) => setTimeout(resolve, FLUSH_STEP_MS));
  }
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

/* Two versions: what only one of them changed is taken; where both did, somebody has to say which holds. */
const dialog = element("case-conflict", HTMLDialogElement);

/**
 * @param {StoredVersion} current what somebody else saved
 * @param {Part} [base] what both began from
 */
function mergeWith(current, base = saved) {
  const mine = read();
  const theirs = partOf(current.case, fields);
  const { merged, conflicts } = mergeContents(base, mine, theirs, fields);
  const seen = { version, base }; // until somebody has chosen, what is kept in the browser asks again
  inFlight = null;
  setVersion(current.version);
  saved = theirs;
  show({ ...stored.case, ...merged });
  if (!conflicts.length) {
    if (same(read(), saved)) settled(current.saved_at);
    else changed();
    return;
  }
  conflict = { both: conflicts, theirs, seen };
  keep();
  showDifferences(conflicts, mine, theirs);
  showState(words("problem"), "offline");
  dialog.showModal();
}

dialog.addEventListener("cancel", (event) => event.preventDefault());
dialog.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-conflict]");
  if (!button || !conflict) return;
  if (button.dataset.conflict === "theirs") {
    show({ ...stored.case, ...withFields(read(), conflict.theirs, conflict.both) });
  }
  conflict = null;
  dialog.close();
  changed();
  recover();
});

/* What an earlier visit left unsent */

/** @returns {string[]} the names of what other pages of this person and case kept */
function otherKeys() {
  try {
    return Object.keys(localStorage).filter((key) => key.startsWith(prefix) && key !== own);
  } catch {
    return [];
  }
}

/**
 * @param {string} key
 * @returns {Partial<Entry> | null}
 */
function entryOf(key) {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null; // not ours, or cut off
  }
}

function recover() {
  for (const key of otherKeys()) {
    const entry = entryOf(key);
    const state = entry?.state;
    // Content that was typed before the case went to review waits until it comes back.
    if (isFrozen && state && "conversation" in state && !hasSameText(state, stored.case)) continue;
    drop(key);
    if (!entry || !state || !fields.every((name) => name in state) || same(state, read())) continue;
    // Its last request arrived though its answer did not: what is stored is what it had seen.
    const isSeen = entry.version === version || (entry.inFlight && entry.inFlight.id === stored.edit_id);
    const current = { version, case: { ...stored.case, ...saved }, saved_at: "" };
    show({ ...stored.case, ...state });
    if (isSeen) {
      toast(words("restored"));
      changed();
    } else {
      version = entry.version ?? version; // what it had seen, until the two are brought together
      mergeWith(current, partOf({ ...stored.case, ...(entry.base ?? state) }, fields));
      if (conflict) return;
    }
  }
}

recover();
