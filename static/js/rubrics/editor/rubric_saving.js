// @ts-check
/* Saving of a rubric: the whole list with the version that was seen. Where somebody else saved in between, both are
   merged, and the person is asked about what both changed. */
import { element, find, findAll } from "../../core/page.js";
import { ownResults, SaveQueue } from "../../core/save_queue.js";
import { showSaving } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { ask, save as post } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { hasUnknown, learn } from "./rubric_cited.js";
import { applyAnswers, copy, merge, newItemId, sameList } from "./rubric_model.js";
import { showRows } from "./rubric_rows.js";
import { editor, start, words } from "./rubric_state.js";
import { addUnsure, arrivedList, isLater, storagePrefix, unsavedEntries } from "./rubric_unsaved.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {import("./rubric_model.js").Question} Question
 * @typedef {import("./rubric_state.js").Draft} Draft
 * @typedef {import("./rubric_state.js").Fault} Fault
 * @typedef {import("../../core/server.js").Answer} Answer
 */

const WAIT_MS = 900;
const KEEP_MS = 150; // so that a long list is not written to the storage with each letter
const POLL_MS = 15_000;
const TIMEOUT_MS = 30_000; // for an answer

/** @param {string} text a time; its day is shown where that is not today */
function clock(text) {
  const at = new Date(text);
  const time = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
  const isToday = at.toDateString() === new Date().toDateString();
  return isToday ? time : `${at.toLocaleDateString([], { dateStyle: "medium" })} ${time}`;
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
  const own = newItemId(); // so that two pages of one case store their entries apart
  const url = editor.dataset.draftUrl ?? "";
  const savedBox = element("saved", HTMLElement);
  const troubleBox = element("trouble", HTMLElement);
  let version = start.version;
  let draftId = start.draft; // versions of another draft start from the beginning again
  let base = copy(start.items); // what the server has, as far as this page knows
  let typed = false; // something is not in the queue yet
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let lastSaved = start.saved_at && start.version > 1 ? start.saved_at : "";
  /** @type {Item[] | null} */
  let unanswered = null; // the common origin, while a question is open: a later page asks it again
  /** @type {Set<() => void>} */
  const awaited = new Set(); // what is called once all is saved
  /** @type {Item[][]} */
  let unsure = []; // lists that were sent and not answered: they may have arrived

  const queue = new SaveQueue(
    {
      send: ([[id, entry]]) => {
        unsure = addUnsure(unsure, entry.items);
        queue.store.put(id, { ...entry, unsure });
        const request = { who: start.who, draft: draftId, version: entry.version, client_id: entry.client_id };
        return post(url, { ...request, items: entry.items }, { timeout: TIMEOUT_MS });
      },
      resultsOf: (answer) => ownResults(answer, own),
      isSame: (entry, current) => sameList(entry.items, current.items),
      resolve: (_id, _entry, _sent, current) => {
        settle(/** @type {any} */ (current));
        return "resolved";
      },
      onStored: (_id, { current }, sent) => sent && accept(sent.items, /** @type {any} */ (current)),
      onHalted: refuse,
      onChange: showState,
      who: start.who,
    },
    new SaveStore(() => localStorage, prefix),
  );

  const isDirty = () => typed || queue.pending.size > 0;

  /** The line in the bar. */
  function showState() {
    const state = queue.state({ typed, saved: Boolean(lastSaved) });
    const saved = lastSaved ? words("saved").replace("TIME", clock(lastSaved)) : words("saves");
    const isAtRest = state === "saved" || state === "unchanged" || state === "early";
    showSaving(savedBox, state, isAtRest ? saved : words(state));
    for (const link of findAll(document, "[data-of-draft]", HTMLElement)) link.hidden = draftId === null;
    if (isDirty()) return;
    const due = [...awaited];
    awaited.clear();
    for (const run of due) run();
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

  /* Sending */

  /**
   * The list goes into the queue, and into this browser's storage.
   * @param {number} [wait] until it is sent, in milliseconds
   */
  function put(wait = 0) {
    clearTimeout(timer);
    typed = false;
    if (!queue.questions.size && sameList(items(), base) && !queue.mayHaveArrived(own)) queue.forget(own);
    else {
      const state = { items: copy(items()), base: unanswered ?? base, draft: draftId, unsure, at: Date.now() };
      queue.put(own, state, version, { wait });
    }
    showState();
  }

  /** @param {number} [wait] in milliseconds */
  function changed(wait = WAIT_MS) {
    typed = true;
    clearTimeout(timer);
    if (wait) timer = setTimeout(() => put(wait - KEEP_MS), KEEP_MS);
    else put();
    showState();
  }

  /** @returns {Promise<boolean>} whether all is saved */
  async function save() {
    if (typed) put();
    await queue.flushAll();
    return !isDirty();
  }

  /**
   * Take up what pages before this one could not save. A page that was rendered before the last save of the page before
   * it shows an old list: it first fetches the saved one.
   */
  async function pickUp() {
    const entries = unsavedEntries(() => localStorage, prefix, prefix + own);
    if (entries.some((entry) => isLater(entry, { draft: draftId, version }))) await catchUp();
    else if (!entries.length) poll();
    /** @type {Question[]} */
    let questions = [];
    for (const entry of entries) {
      unsure = [...unsure, ...(entry.unsure ?? []), entry.items];
      // Where the later list could not be had, the one that the entry began from is the latest known.
      const stored = isLater(entry, { draft: draftId, version }) ? entry.base : items();
      const merged = merge(arrivedList(unsure, stored) ?? entry.base, entry.items, stored);
      questions = questions.concat(merged.questions);
      show(merged.items);
    }
    if (entries.length && !sameList(items(), base)) {
      if (questions.length) unanswered = entries[0].base;
      put(WAIT_MS);
      toast(words("found"));
      if (questions.length) question(questions, start.saved_by, { version });
      else save();
    }
    for (const entry of entries) localStorage.removeItem(entry.name);
  }

  /**
   * The server has saved a list.
   * @param {Item[]} list
   * @param {Draft} answer without the items
   */
  function accept(list, answer) {
    unsure = [];
    showTrouble("");
    version = answer.version;
    draftId = answer.draft;
    base = list;
    lastSaved = answer.saved_at;
    showAuthor("", "");
    if (isDirty()) put(WAIT_MS); // based on the list that is saved now
    showMissing(answer.missing);
    if (hasUnknown(items())) learnCited();
  }

  /** What an earlier page cited without a connection is described by the server once it is saved. */
  async function learnCited() {
    const { status, body } = await ask("GET", url);
    if (status !== 200 || !body?.cited?.length) return;
    learn(body.cited);
    showRows(items());
  }

  /**
   * The server refused the save, and no other version is stored.
   * @param {import("../../core/save_queue.js").Halt} halt
   * @param {Answer} answer
   */
  function refuse(halt, { body }) {
    if (halt === "signed-out") return;
    /** @type {Fault[]} */
    const errors = body?.errors ?? [];
    const faults = errors.map(({ line, message }) => (line ? `${line}. ${message}` : message));
    const detail = body?.detail ?? (halt === "somebody" ? words("somebody") : "");
    const reasons = [detail, ...faults, body?.gone || halt === "gone" ? words("gone") : ""].filter(Boolean);
    showTrouble(reasons.join(" ") || words("kept")); // a proxy's refusal has no reasons
  }

  /**
   * Somebody saved in between: what only one changed is taken, and the person is asked about the rest.
   * @param {Draft} draft
   */
  function settle(draft) {
    learn(draft.cited);
    base = arrivedList(unsure, draft.items) ?? base;
    unsure = [];
    const merged = merge(base, items(), draft.items);
    const isQuiet = !isDirty();
    if (merged.questions.length) unanswered = base;
    version = draft.version;
    draftId = draft.draft;
    base = copy(draft.items);
    lastSaved = draft.saved_at;
    showAuthor(draft.saved_by, draft.saved_at);
    if (!sameList(merged.items, items())) show(merged.items);
    queue.rebase(own, version);
    if (!isQuiet) put(WAIT_MS);
    showMissing(draft.missing);
    if (merged.questions.length) question(merged.questions, draft.saved_by, draft);
    else if (draft.saved_by !== start.name || isQuiet) {
      const isOwn = draft.saved_by === start.name;
      toast(words(isQuiet ? (isOwn ? "theirs_own" : "theirs") : "merged").replace("PERSON", draft.saved_by));
    }
    showState();
  }

  /** A dialog in the middle of a word would swallow the rest of it. */
  async function pause() {
    await queue.untilPause();
    while (document.querySelector("dialog[open]")) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  /**
   * @param {Question[]} questions
   * @param {string} person
   * @param {{ version: number }} stored
   */
  async function question(questions, person, stored) {
    queue.ask(own, { version: stored.version });
    await pause();
    const answers = await askConflict(questions, person);
    unanswered = null;
    queue.answer(own, { keepsMine: true });
    show(applyAnswers(items(), questions, answers));
    put();
  }

  /** Start from the stored draft, if it is later than the one the page was rendered with. */
  async function catchUp() {
    const { status, body } = await ask("GET", url);
    if (status !== 200 || body?.status !== "draft" || !isLater(body, { draft: draftId, version })) return;
    learn(body.cited);
    const merged = merge(base, items(), body.items);
    version = body.version;
    draftId = body.draft;
    base = copy(body.items);
    lastSaved = body.saved_at;
    show(merged.items);
    showMissing(body.missing);
  }

  /** Ask what others did meanwhile. */
  async function poll() {
    if (!document.hidden) await fetchStored(`?version=${version}&draft=${draftId ?? ""}`);
  }

  /** Ask for the stored draft, and for what is missing now: the case may have changed since the last save. */
  async function refresh() {
    const body = await fetchStored("");
    if (body?.version === version) showMissing(body.missing);
  }

  /**
   * @param {string} query with the version that is shown, the answer to it is empty
   * @returns {Promise<Draft | null>} what is stored, where it is a draft or nothing yet
   */
  async function fetchStored(query) {
    if (isDirty() || queue.underWay || queue.halted || !navigator.onLine) return null;
    const { status, body } = await ask("GET", `${url}${query}`);
    if (status !== 200 || !body || isDirty()) return null; // offline: nothing is shown while nothing is unsaved
    if (body.status !== "draft" && (body.status || version)) {
      queue.halted = "gone";
      showTrouble(words("gone"));
      return null;
    }
    if (body.version > version || body.draft !== draftId) settle(body);
    return body;
  }

  /** @param {Event} event */
  function leave(event) {
    if (event.type === "visibilitychange" && document.visibilityState === "visible") return;
    finish();
    if (isDirty()) save();
  }

  setInterval(poll, POLL_MS);
  window.addEventListener("focus", () => {
    if (isDirty()) save();
    else refresh();
  });
  document.addEventListener("visibilitychange", leave);
  window.addEventListener("pagehide", leave);
  window.addEventListener("beforeunload", () => {
    if (typed) put();
    if (isDirty() && !queue.isKept) showTrouble(words("full"));
  });
  queue.listen();
  showState();
  if (version > 1) showAuthor(start.saved_by, start.saved_at);
  /** @param {() => void} run called once, when all is saved */
  const whenSaved = (run) => void awaited.add(run);
  return { changed, save, refresh, pickUp, isDirty, whenSaved };
}
