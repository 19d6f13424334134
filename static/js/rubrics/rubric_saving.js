// @ts-check
/* Saving of a rubric: the whole list with the version that was seen. What is not saved yet is kept in this browser's
   storage; where somebody else saved in between, both are merged, and what both changed is asked. */
import { newId } from "../core/ids.js";
import { element, find } from "../core/page.js";
import { ask, session } from "../core/server.js";
import { toast } from "../core/toast.js";
import { applyAnswers, copy, merge, newItemId, sameList } from "./rubric_model.js";
import { editor, start, words } from "./rubric_state.js";
import { addUnsure, arrivedList, retryDelay, storagePrefix, unsavedEntries } from "./rubric_unsaved.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_model.js").Question} Question
 * @typedef {import("./rubric_state.js").Draft} Draft
 * @typedef {import("./rubric_state.js").Fault} Fault
 * @typedef {Partial<Omit<Draft, "draft">> & {
 *   draft?: any, detail?: string, gone?: boolean, errors?: Fault[]
 * }} SaveAnswer `draft` is the id of the saved draft, or at 409 the whole stored draft
 */

const WAIT_MS = 900;
const POLL_MS = 15_000;
const TIMEOUT_MS = 30_000; // for an answer
const PAUSE_MS = 1500; // in which nothing is typed, before anything is asked
const MAX_KEPT_ALIVE = 60_000; // browsers take no more with a page that is left

/** @param {string} text a time */
function clock(text) {
  return new Date(text).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
}

/**
 * @param {object} page
 * @param {() => Item[]} page.items
 * @param {(items: Item[]) => void} page.show shows a list that came from elsewhere
 * @param {(faults: Fault[]) => void} page.showMissing
 * @param {(questions: Question[], person: string) => Promise<Record<string, string>>} page.askConflict
 * @param {() => void} page.finish takes what is still being typed
 */
export function startSaving({ items, show, showMissing, askConflict, finish }) {
  const prefix = storagePrefix(start.who, editor.dataset.case ?? "");
  const key = prefix + newItemId();
  const url = editor.dataset.draftUrl ?? "";
  const savedBox = element("saved", HTMLElement);
  const troubleBox = element("trouble", HTMLElement);
  let version = start.version;
  let draftId = start.draft; // versions of another draft count from the beginning again
  let base = copy(start.items); // what the server has, as far as this page knows
  let dirty = false;
  /** @type {Promise<boolean> | null} */
  let busy = null;
  /** @type {"" | "signed-out" | "gone" | "refused"} */
  let halted = ""; // why nothing is sent
  let failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let keepTimer;
  /** @type {{ text: string, version: number, id: string } | null} */
  let sent = null; // the last request: repeated with the same id, it changes nothing
  let isKept = true; // in this browser
  let lastSaved = start.saved_at && start.version > 1 ? start.saved_at : "";
  let asking = false;
  /** @type {Item[] | null} */
  let unanswered = null; // the list that both began from: until a question is answered, a later page asks it again
  /** @type {Item[][]} */
  let unsure = []; // lists that were sent and not answered: they may have arrived
  let touched = 0; // when something was changed here last

  /** The line in the bar. */
  function showState() {
    const isStuck = dirty && (failures > 0 || !navigator.onLine || Boolean(halted));
    savedBox.dataset.state = isStuck ? "waiting" : dirty ? "saving" : "saved";
    savedBox.classList.toggle("offline", isStuck);
    savedBox.classList.toggle("saving", dirty && !isStuck);
    const text = stateText(isStuck);
    if (savedBox.textContent !== text) savedBox.textContent = text;
  }

  /** @param {boolean} isStuck */
  function stateText(isStuck) {
    const isOffline = !navigator.onLine || (failures > 0 && !halted);
    if (isStuck) return words(isOffline ? "offline" : "kept");
    if (dirty) return words("saving");
    return lastSaved ? words("saved").replace("TIME", clock(lastSaved)) : words("saves");
  }

  /**
   * Who else has written here, until this page saves.
   * @param {string} person
   * @param {string} at
   */
  function showAuthor(person, at) {
    const box = element("elsewhere", HTMLElement);
    box.hidden = !person || person === start.name;
    find(box, "p", HTMLElement).textContent = box.hidden
      ? ""
      : words("earlier")
          .replace("PERSON", person)
          .replace("TIME", new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }));
  }

  /** @param {string} text empty where there is no trouble */
  function showTrouble(text) {
    troubleBox.hidden = !text;
    find(troubleBox, "p", HTMLElement).textContent = text;
  }

  /* This browser's storage */
  function keep() {
    try {
      if (dirty) {
        const entry = { items: items(), base: unanswered ?? base, unsure, at: Date.now() };
        localStorage.setItem(key, JSON.stringify(entry));
      } else localStorage.removeItem(key);
      isKept = true;
    } catch {
      isKept = false;
    }
  }

  /** Take up what pages before this one could not save. */
  function pickUp() {
    const entries = unsavedEntries(() => localStorage, prefix, key);
    /** @type {Question[]} */
    let questions = [];
    for (const entry of entries) {
      unsure = [...unsure, ...(entry.unsure ?? []), entry.items];
      const merged = merge(arrivedList(unsure, items()) ?? entry.base, entry.items, items());
      questions = questions.concat(merged.questions);
      show(merged.items);
    }
    if (entries.length && !sameList(items(), base)) {
      changed(0);
      if (questions.length) unanswered = entries[0].base;
      keep();
      toast(words("found"));
      if (questions.length) question(questions, start.saved_by);
    }
    for (const entry of entries) localStorage.removeItem(entry.name);
  }

  /* Sending */
  /** @param {number} [wait] in milliseconds */
  function changed(wait = WAIT_MS) {
    dirty = true;
    touched = Date.now();
    showState();
    clearTimeout(timer);
    timer = setTimeout(save, wait);
    clearTimeout(keepTimer);
    keepTimer = setTimeout(keep, 150);
  }

  /** @returns {Promise<boolean>} whether all is saved */
  function save() {
    if (busy) return busy;
    if (!dirty || halted || asking) return Promise.resolve(!dirty);
    clearTimeout(timer);
    busy = deliver().finally(() => {
      busy = null;
      showState();
      if (dirty && !halted && !asking) {
        clearTimeout(timer);
        timer = setTimeout(save, failures ? retryDelay(failures) : WAIT_MS);
      }
    });
    showState();
    return busy;
  }

  /** @returns {Promise<boolean>} whether all is saved */
  async function deliver() {
    const list = copy(items());
    const text = JSON.stringify(list);
    if (sent?.text !== text || sent.version !== version) sent = { text, version, id: newId() };
    const request = { who: start.who, draft: draftId, version, client_id: sent.id, items: list };
    unsure = addUnsure(unsure, list);
    keep();
    const { status, body } = await ask("POST", url, request, {
      keepalive: JSON.stringify(request).length < MAX_KEPT_ALIVE,
      signal: AbortSignal.timeout?.(TIMEOUT_MS),
    });
    const isSuccess = status >= 200 && status < 300;
    // A page that a network puts in between is no answer either.
    if (status === 0 || (isSuccess && !body)) {
      failures += 1;
      keep();
      return false;
    }
    if (isSuccess) return accept(list, body);
    /** @type {SaveAnswer} */
    const answer = body ?? {};
    keep();
    if (status === 409 && answer.draft) return settle(answer.draft);
    await refuse(status, answer);
    return false;
  }

  /**
   * The server has saved a list.
   * @param {Item[]} list
   * @param {Draft} answer without the items
   */
  function accept(list, answer) {
    failures = 0;
    unsure = [];
    showTrouble("");
    version = answer.version;
    draftId = answer.draft;
    base = list;
    lastSaved = answer.saved_at;
    showAuthor("", "");
    dirty = !sameList(items(), list);
    keep();
    showMissing(answer.missing);
    return !dirty;
  }

  /**
   * The server has not saved, and nobody else has either.
   * @param {number} status
   * @param {SaveAnswer} answer
   */
  async function refuse(status, answer) {
    if (status === 401) {
      halted = "signed-out";
      pause().then(() => halted && document.dispatchEvent(new CustomEvent("consilium:signed-out")));
    } else if (status === 403 && !answer.detail && failures < 3) {
      failures += 1;
      await session(); // renews the token
    } else if (status === 422) {
      // Something in the list cannot be saved as it is; the next change tries again.
      failures += 1;
      const faults = (answer.errors ?? []).map(({ line, message }) => (line ? `${line}. ${message}` : message));
      showTrouble([answer.detail, ...faults].join(" "));
    } else if (answer.detail) {
      halted = answer.gone ? "gone" : "refused";
      showTrouble(answer.gone ? `${answer.detail} ${words("gone")}` : answer.detail);
    } else failures += 1;
  }

  /**
   * Somebody saved in between: what only one changed is taken, the rest is asked.
   * @param {Draft} draft
   */
  function settle(draft) {
    base = arrivedList(unsure, draft.items) ?? base;
    unsure = [];
    const merged = merge(base, items(), draft.items);
    const isQuiet = !dirty;
    if (merged.questions.length) unanswered = base;
    version = draft.version;
    draftId = draft.draft;
    base = copy(draft.items);
    lastSaved = draft.saved_at;
    showAuthor(draft.saved_by, draft.saved_at);
    if (!sameList(merged.items, items())) show(merged.items);
    dirty = merged.questions.length > 0 || !sameList(items(), base);
    keep();
    showMissing(draft.missing);
    if (merged.questions.length) question(merged.questions, draft.saved_by);
    else if (draft.saved_by !== start.name || isQuiet) {
      toast(words(isQuiet ? "theirs" : "merged").replace("PERSON", draft.saved_by));
    }
    showState();
    return !dirty;
  }

  /** A dialog in the middle of a word would swallow the rest of it. */
  async function pause() {
    while (Date.now() - touched < PAUSE_MS || document.querySelector("dialog[open]")) {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /**
   * @param {Question[]} questions
   * @param {string} person
   */
  async function question(questions, person) {
    asking = true;
    await pause();
    const answers = await askConflict(questions, person);
    asking = false;
    unanswered = null;
    show(applyAnswers(items(), questions, answers));
    changed(0);
    keep();
  }

  /** Ask what others did meanwhile. */
  async function poll() {
    if (document.hidden || dirty || busy || halted || asking || !navigator.onLine) return;
    const { status, body } = await ask("GET", `${url}?version=${version}&draft=${draftId ?? ""}`);
    if (status !== 200 || !body || dirty || busy) return; // offline: nothing is shown while there is nothing to save
    if (body.status !== "draft" && (body.status || version)) {
      halted = "gone";
      showTrouble(words("gone"));
    } else if (body.version > version || body.draft !== draftId) settle(body);
  }

  /** @param {Event} event */
  function leave(event) {
    if (event.type === "visibilitychange" && document.visibilityState === "visible") return;
    finish();
    if (!dirty) return;
    keep();
    save();
  }

  setInterval(poll, POLL_MS);
  window.addEventListener("focus", () => {
    // Whoever else was signed in may have left again.
    if (halted === "refused") halted = "";
    if (dirty) save();
    else poll();
  });
  window.addEventListener("online", () => {
    failures = 0;
    showState();
    save();
  });
  window.addEventListener("offline", showState);
  document.addEventListener("consilium:signed-in", () => {
    halted = "";
    save();
  });
  document.addEventListener("visibilitychange", leave);
  window.addEventListener("pagehide", leave);
  window.addEventListener("beforeunload", (event) => {
    keep();
    if (!dirty || isKept) return;
    showTrouble(words("full"));
    event.preventDefault();
  });
  showState();
  if (version > 1) showAuthor(start.saved_by, start.saved_at);
  return { changed, save, pickUp, isDirty: () => dirty };
}
