// @ts-check
/* Work on its way to the server, for every page that saves by itself.

   An entry is the whole state of one thing (a decision, an answer, a text, a rubric) with the version that its author
   saw, and an id of its own. It waits in the browser's storage and leaves it only when the server has answered that
   this very entry is saved; a repeated one changes nothing there. `after` holds the ids of earlier entries that may
   have arrived though no answer did: a stored version with one of them is the author's own. No other version is
   overwritten: the page merges the two, or the person is asked. */
import { newId } from "./ids.js";
import { retryDelay } from "./retry_delay.js";
import { savingState } from "./saving_state.js";
import { session } from "./server.js";

/**
 * @typedef {import("./server.js").Answer} Answer
 * @typedef {import("./server.js").Session} Session
 * @typedef {import("./save_store.js").SaveStore<any>} SaveStore
 * @typedef {Record<string, any> & { version: number, client_id: string, after?: string[] }} Entry
 * @typedef {Record<string, any> & { version: number, client_id?: string }} Current the stored state
 * @typedef {[id: string, entry: Entry]} Waiting
 * @typedef {"" | "signed-out" | "somebody" | "gone" | "refused"} Halt why nothing is sent: nobody, or somebody else, is
 *   signed in to this browser; the work is not this person's any more; or the server refuses it for now
 * @typedef {object} SaveResult what became of one entry
 * @property {string | number} id
 * @property {"saved" | "stale" | "refused"} status stale: another version is stored; refused: for ever
 * @property {number} [version] that is stored, where it is saved
 * @property {Current} [current] what is stored; the page may want some of it where its own entry is saved
 * @property {string} [detail] why it is refused
 */

/**
 * @typedef {object} Editor what a page adds
 * @property {(batch: Waiting[]) => Promise<Answer>} send makes one request
 * @property {(answer: Answer, batch: Waiting[]) => SaveResult[] | null} [resultsOf] null where the answer has none;
 *   `results` of its body, unless the page reads it otherwise
 * @property {(entry: Entry, current: Current) => boolean} isSame whether both have the same content
 * @property {(id: string, entry: Entry, sent: Entry, current: Current) => Resolution | Promise<Resolution>} [resolve]
 *   what to do with an entry when another version is stored; `afterStale` unless the page merges
 * @property {(id: string, stored: { version: number, current?: Current }, sent: Entry | null) => void} [onStored]
 *   the page learns which version is stored; `sent`: the entry, if it is that one
 * @property {(id: string, current: Current) => void} [onAsk] the person is to be asked which version holds
 * @property {(id: string, sent: Entry, detail: string) => void} [onRefused] the entry has left the queue
 * @property {(halt: Halt, answer: Answer) => void} [onHalted] nothing is sent any more
 * @property {() => void} [onSettled] all results of an answer are dealt with
 * @property {(halt: Halt) => void} [onResumed] the author is back, after this
 * @property {() => boolean} [isOpen] false while nothing may be sent, since the work is handed in
 * @property {() => void} [onChange] something the page shows about saving has changed
 * @property {() => Promise<Session | null>} [session] who is signed in to this browser now; null: nobody can say
 * @property {string} [who] the opaque name of the author
 * @property {number} [batchSize] how many entries a request takes; 1 unless said
 */

/**
 * @typedef {"done" | "rebase" | "ask" | "resolved"} Resolution done: it is stored as it is; rebase: it goes over the
 *   stored version; ask: the person chooses; resolved: the page has dealt with it
 */

const MAX_AFTER = 30;
const MAX_ROUNDS = 5; // so that `flushAll` ends though the person goes on typing
const PAUSE_MS = 1_500; // in which nothing is typed, before a dialog opens: it would swallow the rest of a word
const TRANSIENT = [408, 425, 429]; // refused for now, whatever the content

/**
 * What to do with an entry when the server holds another version than the one it was made on.
 * @param {Entry} entry the newest one
 * @param {Entry} sent the one that was sent
 * @param {Current} current
 * @param {(entry: Entry, current: Current) => boolean} isSame
 * @returns {"done" | "rebase" | "ask"}
 */
export function afterStale(entry, sent, current, isSame) {
  if (isSame(entry, current)) return "done";
  return isBasedOn(entry, current.client_id) || isBasedOn(sent, current.client_id) ? "rebase" : "ask";
}

/**
 * True if the entry was made knowing of the save with that id, or is that save.
 * @param {Entry} entry
 * @param {string | undefined} clientId
 */
export function isBasedOn(entry, clientId) {
  return Boolean(clientId) && (entry.client_id === clientId || Boolean(entry.after?.includes(clientId ?? "")));
}

/**
 * Why the server does not take what was sent, in its own words.
 * @param {any} body
 * @returns {string} empty where it says nothing
 */
export function detailOf(body) {
  return body?.detail ?? body?.results?.[0]?.detail ?? "";
}

/**
 * The results of a page that saves one thing, and keeps it under an id of its own.
 * @param {Answer} answer
 * @param {string} id
 * @returns {SaveResult[] | null}
 */
export function ownResults({ body }, id) {
  /** @type {SaveResult[] | undefined} */
  const results = body?.results;
  return results ? results.map((result) => ({ ...result, id })) : null;
}

export class SaveQueue {
  /** @type {Map<string, Entry>} what the server does not have yet, in the order in which it is sent */
  pending = new Map();
  /** @type {Map<string, Current>} what is stored instead, until the person has chosen */
  questions = new Map();
  /** @type {Halt} */
  halted = "";
  failures = 0; // since the last answer
  isKept = true; // the browser's storage has the last entry; else only the page does

  /** @type {Map<string, string[]>} ids of what was sent or shown, the oldest first */
  #trails = new Map();
  /** @type {Set<string>} ids of what was sent and not answered: it may have arrived */
  #unconfirmed = new Set();
  /** @type {Map<string, number>} when an entry is to be sent, where that is not now */
  #due = new Map();
  /** @type {Promise<void> | null} */
  #sending = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #typedAt = 0;
  #puts = 0; // how many states were put
  #putsSent = 0; // how many of them were put when the last request was made
  #opened = 0; // how many pieces of work there were before this one
  #isRepeated = false; // 403 or 404 was answered before, and the same person is signed in

  /**
   * @param {Editor} editor
   * @param {SaveStore} store
   */
  constructor(editor, store) {
    this.editor = editor;
    this.store = store;
  }

  /**
   * Another piece of work is on the page; what is unsent of the one before stays in its store.
   * @param {SaveStore} store
   */
  open(store) {
    this.store = store;
    this.#opened += 1;
    clearTimeout(this.#timer);
    this.#sending = null;
    for (const map of [this.pending, this.questions, this.#trails, this.#due]) map.clear();
    this.#isRepeated = false;
    if (this.halted === "gone" || this.halted === "refused") this.halted = "";
  }

  /**
   * Keep a state, and send it.
   * @param {string} id
   * @param {Record<string, any>} state
   * @param {number} version the author saw, where nothing is on its way
   * @param {{ wait?: number, after?: string[] }} [options] `wait`: milliseconds in which nothing more may be put before
   *   it is sent; `after`: ids of entries that were on the screen, besides those that were sent
   * @returns {Entry}
   */
  put(id, state, version, { wait = 0, after = [] } = {}) {
    const before = this.pending.get(id);
    const trail = [...(before?.after ?? []), ...(this.#trails.get(id) ?? []), ...after];
    this.#puts += 1;
    const entry = {
      ...state,
      version: before?.version ?? version,
      client_id: newId(),
      after: [...new Set(trail)].slice(-MAX_AFTER),
    };
    this.#hold(id, entry);
    if (wait) {
      this.#typedAt = Date.now();
      this.#due.set(id, this.#typedAt + wait);
    } else this.#due.delete(id);
    // What was refused may be accepted now: the batch was resumed, or the text is shorter.
    if (this.halted === "refused") this.halted = "";
    this.editor.onChange?.();
    if (wait) this.#schedule(wait);
    else this.flush();
    return entry;
  }

  /**
   * @param {string} id
   * @param {Entry} entry
   */
  #hold(id, entry) {
    // At the end of the queue: a decision that is changed before it was sent is sent once.
    this.pending.delete(id);
    this.pending.set(id, entry);
    this.isKept = this.store.put(id, entry);
  }

  /**
   * Take up an entry that an earlier visit, or another tab, left unsent; it is sent by `flush`.
   * @param {string} id
   * @param {Entry} entry
   */
  takeUp(id, entry) {
    this.pending.set(id, entry);
    this.addToTrail(id, ...(entry.after ?? []), entry.client_id);
    this.#unconfirmed.add(entry.client_id);
  }

  /**
   * Whether some of what is on its way may be stored already; else it can be taken back here.
   * @param {string} id
   */
  mayHaveArrived(id) {
    const entry = this.pending.get(id);
    return Boolean(entry && [entry.client_id, ...(entry.after ?? [])].some((sent) => this.#unconfirmed.has(sent)));
  }

  /**
   * @param {string} id
   * @param {...string} clientIds of entries that were sent, or are on the screen
   */
  addToTrail(id, ...clientIds) {
    const trail = [...(this.#trails.get(id) ?? []), ...clientIds];
    this.#trails.set(id, [...new Set(trail)].slice(-MAX_AFTER));
  }

  /** @returns {Waiting[]} what may be sent now: it is due, and the person is not asked about it */
  waiting() {
    const now = Date.now();
    return [...this.pending].filter(([id]) => !this.questions.has(id) && (this.#due.get(id) ?? 0) <= now);
  }

  /** All entries are due now. */
  stopWaiting() {
    this.#due.clear();
  }

  #maySend() {
    return !this.halted && (this.editor.isOpen?.() ?? true);
  }

  /** @returns {Promise<void>} when all that is due was sent, or could not be */
  flush() {
    if (this.#sending) return this.#sending;
    if (!this.#maySend() || !this.waiting().length) return Promise.resolve();
    clearTimeout(this.#timer);
    const opened = this.#opened;
    const sending = this.#deliver().finally(() => {
      if (opened !== this.#opened) return;
      this.#sending = null;
      this.editor.onChange?.();
      this.#schedule();
    });
    this.#sending = sending;
    return sending;
  }

  /** Send all entries, due or not, refused before or not, and those put meanwhile. A failure ends it. */
  async flushAll() {
    if (this.halted === "refused") this.halted = "";
    for (let round = 0; round < MAX_ROUNDS && this.pending.size > this.questions.size; round += 1) {
      this.stopWaiting();
      await this.flush();
      if (this.failures || this.halted) return;
    }
  }

  /** @returns {Promise<void> | null} the requests under way */
  get underWay() {
    return this.#sending;
  }

  /** @param {number} [delay] in milliseconds; else as soon as anything is due, or may be tried again */
  #schedule(delay) {
    clearTimeout(this.#timer);
    const open = [...this.pending.keys()].filter((id) => !this.questions.has(id));
    if (!this.#maySend() || !open.length) return;
    const due = Math.min(...open.map((id) => this.#due.get(id) ?? 0));
    const wait = delay ?? (retryDelay(this.failures) || Math.max(0, due - Date.now()));
    this.#timer = setTimeout(() => this.flush(), wait);
  }

  /** Nothing is sent until `flush` or the next entry: the caller sends what waits itself. */
  stopTimer() {
    clearTimeout(this.#timer);
  }

  async #deliver() {
    const { store } = this;
    const opened = this.#opened;
    while (this.#maySend() && this.waiting().length) {
      const batch = this.waiting().slice(0, this.editor.batchSize ?? 1);
      for (const [id, entry] of batch) {
        this.addToTrail(id, entry.client_id);
        this.#unconfirmed.add(entry.client_id);
      }
      this.editor.onChange?.();
      this.#putsSent = this.#puts;
      const answer = await this.editor.send(batch);
      if (opened !== this.#opened) {
        dropSaved(store, batch, this.#resultsOf(answer, batch));
        return;
      }
      // What was put meanwhile is sent before anything is called refused: it may be accepted, as after a refusal.
      if (this.#hasNews && isRefusal(answer) && !this.#resultsOf(answer, batch).length) return;
      if (!(await this.settle(answer, batch))) return;
    }
  }

  /** Whether something was put since the last request of the queue was made. */
  get #hasNews() {
    return this.#puts > this.#putsSent;
  }

  /**
   * @param {Answer} answer
   * @param {Waiting[]} batch
   * @returns {SaveResult[]} for entries of the batch
   */
  #resultsOf(answer, batch) {
    const { resultsOf } = this.editor;
    const results = resultsOf ? resultsOf(answer, batch) : answer.body?.results;
    if (!Array.isArray(results)) return [];
    return results.filter(({ id }) => batch.some(([sentId]) => sentId === String(id)));
  }

  /**
   * Deals with the answer to a request of the queue, or of the page itself.
   * @param {Answer} answer
   * @param {Waiting[]} batch
   * @returns {Promise<boolean>} whether the next request may follow
   */
  async settle(answer, batch) {
    const opened = this.#opened;
    const results = this.#resultsOf(answer, batch);
    const entries = new Map(batch);
    if (!results.length) return this.#settleFailure(answer);
    this.failures = 0;
    this.#isRepeated = false;
    for (const result of results) {
      const id = String(result.id);
      const sent = entries.get(id);
      if (sent) await this.#settleResult(id, sent, result);
      if (opened !== this.#opened) return false;
    }
    this.editor.onSettled?.();
    return !this.failures;
  }

  /**
   * @param {Answer} answer
   * @returns {Promise<boolean>} whether to try once more at once
   */
  async #settleFailure(answer) {
    const { status, body } = answer;
    if (status === 401) this.#halt("signed-out", answer);
    else if (body?.reason === "somebody-else") this.#halt("somebody", answer);
    else if (status === 403 || status === 404) return this.#checkAuthor(answer);
    else if (isRefusal(answer)) {
      this.#halt("refused", answer);
      if (this.#hasNews) this.halted = ""; // the page made the request itself, and something was put meanwhile
    } else this.failures += 1; // no connection, an error, or the sign-in page of a network
    return false;
  }

  /**
   * 403 or 404: an old token, an account that was signed in for a moment, or work that is somebody else's by now.
   * @param {Answer} answer
   */
  async #checkAuthor(answer) {
    const opened = this.#opened;
    const current = await (this.editor.session ?? session)(); // renews the token of the page
    if (opened !== this.#opened) return false;
    if (!current) this.failures += 1;
    else if (!current.signed_in) this.#halt("signed-out", answer);
    else if (this.#isSomebodyElse(current)) this.#halt("somebody", answer);
    else if (!this.#isRepeated) {
      this.#isRepeated = true;
      return true;
    } else if (answer.status === 404) this.#halt("gone", answer);
    else if (answer.body?.detail) this.#halt("refused", answer);
    else this.failures += 1;
    return false;
  }

  /** @param {Session} current */
  #isSomebodyElse(current) {
    return current.signed_in && Boolean(this.editor.who) && current.who !== this.editor.who;
  }

  /**
   * @param {Halt} halt
   * @param {Answer} answer
   */
  #halt(halt, answer) {
    this.halted = halt;
    clearTimeout(this.#timer);
    this.editor.onHalted?.(halt, answer);
    if (halt === "signed-out") this.untilPause().then(() => this.halted === halt && askToSignIn());
  }

  /**
   * @param {string} id
   * @param {Entry} sent
   * @param {SaveResult} result
   */
  async #settleResult(id, sent, result) {
    const { status, version, current, detail = "" } = result;
    for (const clientId of [sent.client_id, ...(sent.after ?? [])]) this.#unconfirmed.delete(clientId);
    if (status === "saved" && version !== undefined) {
      this.finish(id, sent, version);
      this.editor.onStored?.(id, { version, current }, sent);
    } else if (status === "stale" && current)
      await this.#settleStale(id, sent, { ...current, version: version ?? current.version });
    else if (status === "refused") {
      this.finish(id, sent, sent.version);
      this.editor.onRefused?.(id, sent, detail);
    } else this.failures += 1;
  }

  /**
   * @param {string} id
   * @param {Entry} sent
   * @param {Current} current
   */
  async #settleStale(id, sent, current) {
    const stored = { version: current.version, current };
    const entry = this.pending.get(id);
    if (!entry) return;
    const { isSame, resolve } = this.editor;
    const resolution = resolve ? await resolve(id, entry, sent, current) : afterStale(entry, sent, current, isSame);
    if (resolution === "done") {
      this.finish(id, entry, current.version);
      this.editor.onStored?.(id, stored, entry);
      return;
    }
    if (resolution !== "resolved") this.editor.onStored?.(id, stored, null);
    if (resolution === "rebase") {
      // The server contradicts itself; asking it at once again would go on for ever.
      if (entry.version === current.version) this.failures += 1;
      this.rebase(id, current.version);
    } else if (resolution === "ask") this.ask(id, current);
  }

  /**
   * Nothing of this is sent until the person has chosen.
   * @param {string} id
   * @param {Current} current
   */
  ask(id, current) {
    this.questions.set(id, current);
    this.editor.onAsk?.(id, current);
  }

  /**
   * What the person chose: theirs goes over what is stored, or is forgotten.
   * @param {string} id
   * @param {{ keepsMine: boolean }} choice
   * @returns {Current | null} what is stored; null where nothing was asked
   */
  answer(id, { keepsMine }) {
    const current = this.questions.get(id);
    if (!current) return null;
    this.questions.delete(id);
    const entry = this.pending.get(id);
    if (entry && keepsMine) this.rebase(id, current.version);
    else if (entry) this.finish(id, entry, current.version);
    this.editor.onChange?.();
    return current;
  }

  /**
   * An entry is saved; one that was put after it is based on the saved version.
   * @param {string} id
   * @param {Entry} sent
   * @param {number} version that is stored
   */
  finish(id, sent, version) {
    this.store.drop(id, sent.client_id);
    const entry = this.pending.get(id);
    if (entry?.client_id === sent.client_id) {
      this.pending.delete(id);
      this.#due.delete(id);
    } else if (entry && entry.version < version) this.rebase(id, version);
  }

  /**
   * The entry goes on from the version that is stored by now.
   * @param {string} id
   * @param {number} version
   * @param {Record<string, any>} [state] what else changes in it
   */
  rebase(id, version, state) {
    const before = this.pending.get(id);
    if (!before) return;
    const entry = { ...before, version };
    // The earlier state may have arrived: under its id the server would take the new one for a repetition.
    if (state) Object.assign(entry, state, { client_id: newId(), after: [...(before.after ?? []), before.client_id] });
    this.pending.set(id, entry);
    this.isKept = this.store.put(id, entry);
  }

  /**
   * Forget an entry that is not to be sent any more.
   * @param {string} id
   */
  forget(id) {
    const entry = this.pending.get(id);
    if (entry) this.store.drop(id, entry.client_id);
    this.pending.delete(id);
    this.questions.delete(id);
    this.#due.delete(id);
    this.editor.onChange?.();
  }

  /** Somebody may be in the middle of a word. */
  get isBeingTyped() {
    return Date.now() - this.#typedAt < PAUSE_MS;
  }

  /** @returns {Promise<void>} when nobody is in the middle of a word */
  async untilPause() {
    while (this.isBeingTyped) await new Promise((resolve) => setTimeout(resolve, 200));
  }

  /** Go on after an interruption, if the browser is still its author's. */
  async resume() {
    const opened = this.#opened;
    const current = await (this.editor.session ?? session)();
    if (opened !== this.#opened) return;
    if (current && this.#isSomebodyElse(current)) {
      this.#halt("somebody", { status: 200, body: null });
      this.editor.onChange?.();
      return;
    }
    if (this.halted === "signed-out" && !current?.signed_in) return;
    const { halted } = this;
    if (current) this.halted = "";
    this.failures = 0;
    if (current) this.editor.onResumed?.(halted);
    this.editor.onChange?.();
    await this.flush();
  }

  /**
   * @param {{ early?: number, typed?: boolean, saved: boolean }} page `early`: how many entries wait for something on
   *   the page; `typed`: something is not in the queue yet; `saved`: something was saved before
   * @returns {import("./saving_state.js").SavingState}
   */
  state({ early = 0, typed = false, saved }) {
    return savingState({
      unsent: this.pending.size + Number(typed),
      early,
      failures: this.failures,
      online: navigator.onLine,
      halted: Boolean(this.halted),
      asking: this.questions.size > 0,
      saved,
    });
  }

  /** Send when the connection is back or somebody has signed in. Called once per page. */
  listen() {
    window.addEventListener("online", () => {
      this.failures = 0;
      this.editor.onChange?.();
      this.flush();
    });
    window.addEventListener("offline", () => this.editor.onChange?.());
    window.addEventListener("pagehide", () => {
      this.stopWaiting();
      this.flush();
    });
    window.addEventListener("beforeunload", (event) => {
      if (this.pending.size && !this.isKept) event.preventDefault();
    });
    document.addEventListener("consilium:signed-in", () => {
      // The author has just signed in: the work is sent even if `resume` gets no answer.
      if (this.halted === "signed-out") this.halted = "";
      this.resume();
    });
    window.addEventListener("focus", () => {
      if (this.halted) this.resume();
    });
  }
}

/**
 * Whether the server, or a proxy before it, refuses what was sent.
 * @param {Answer} answer
 */
function isRefusal({ status, body }) {
  const hasReason = status >= 400 && status < 500 && body?.detail && !TRANSIENT.includes(status);
  return status === 413 || Boolean(hasReason);
}

function askToSignIn() {
  document.dispatchEvent(new CustomEvent("consilium:signed-out"));
}

/**
 * What was saved of a piece of work that is not on the page any more.
 * @param {SaveStore} store
 * @param {Waiting[]} batch
 * @param {SaveResult[]} results
 */
function dropSaved(store, batch, results) {
  for (const [id, entry] of batch) {
    if (results.some((result) => String(result.id) === id && result.status === "saved"))
      store.drop(id, entry.client_id);
  }
}
