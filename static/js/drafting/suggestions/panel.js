// @ts-check
/* The panel of suggestions beside the criteria. Taking one puts a criterion into the list, which is saved like any
   other; the state of a suggestion follows from the list. */
import { find, targetWithin } from "../../core/page.js";
import { token } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { learn } from "../../rubrics/editor/rubric_cited.js";
import { act, focus, insert, saving } from "../../rubrics/editor/rubric_list.js";
import { copy } from "../../rubrics/editor/rubric_model.js";
import { row } from "../../rubrics/editor/rubric_rows.js";
import { startSide } from "../../rubrics/editor/rubric_side.js";
import { announce, editor, placeOf, start, state, watchList } from "../../rubrics/editor/rubric_state.js";
import { createDecisions } from "./suggestion_decisions.js";
import { activate, lineOf, showLines, showReasons, suggestionOf, toggleMore, words } from "./suggestion_lines.js";
import { nextAfter, stateOf, undecided } from "./suggestion_state.js";
import { ReadingTime } from "./suggestion_time.js";

/**
 * @typedef {import("./suggestion_state.js").Known} Known
 * @typedef {import("./suggestion_state.js").Decision} Decision
 */

const DRAFTING_MS = 5_000;
const REASON_KEY = /^[1-6]$/;
const OTHER_REASON = 6; // asks which one
/** @type {Decision} */
const OPEN = { state: "open", aside: false, reason: null };

/** @type {Known[]} */
let known = [];
/** @type {Map<string, Decision>} what was decided here and the server may not have said yet */
const decided = new Map();
/** @type {Set<string>} the suggestions that are in the list */
let listed = new Set();
/** @type {string[]} decided on here, the latest last */
const done = [];
let activeId = "";
let askedId = ""; // the suggestion of which the reason is asked
let urls = { open: "", decide: "", ask: "" };
let isUnderWay = false; // a run drafts for the case
let isAwaited = false; // the person asked for suggestions here, and may decide by keys once they are there
const time = new ReadingTime();

const decisions = createDecisions({
  who: start.who,
  place: editor.dataset.case ?? "",
  url: () => urls.decide,
  mayOpen: () => !saving.isDirty(),
  onRefused: () => {
    toast(words("refused"), "warning");
    decided.clear();
    load("GET");
  },
  onChange: (isOffline) => say(isOffline ? words("offline") : ""),
});

const { pane } = startSide("suggestions", {
  code: "KeyG",
  onOpen: async (byPerson) => {
    if (!known.length) await show();
    if (byPerson) enter();
  },
  enter,
  onFold: () => time.look("", Date.now()),
});

/** @param {string} id */
const decisionOf = (id) => stateOf(knownOf(id), state.items, decided.get(id));
/** @param {string} id */
function knownOf(id) {
  const suggestion = known.find((other) => other.id === id);
  if (!suggestion) throw new Error(`There is no suggestion "${id}".`);
  return suggestion;
}
const order = () => undecided(known, decisionOf);

/** @param {string} text empty where there is nothing to say */
function say(text) {
  find(pane, "[data-status]", HTMLElement).textContent = text;
}

/* Loading */

/** Show the panel; suggestions open to an author at this moment, once enough is written. */
async function show() {
  if (!(await load("GET"))) return;
  const box = find(pane, "[data-suggestions]", HTMLElement);
  if ("ready" in box.dataset) await load("POST", urls.open);
}

/**
 * @param {"GET" | "POST"} method
 * @param {string} [address]
 * @returns {Promise<boolean>} whether the content is there
 */
async function load(method, address = pane.dataset.address ?? "") {
  try {
    const answer = await fetch(address, {
      method,
      credentials: "same-origin",
      headers: { "X-CSRFToken": token(), "HX-Request": "true" },
    });
    if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    if (!answer.ok) throw new Error(String(answer.status));
    take(new DOMParser().parseFromString(await answer.text(), "text/html"));
    say("");
    return true;
  } catch {
    say(words(navigator.onLine ? "unread" : "no_connection"));
    return false;
  }
}

/** @param {Document} page what the server answered */
function take(page) {
  const box = find(page, "[data-suggestions]", HTMLElement);
  urls = {
    open: box.dataset.openUrl ?? "",
    decide: box.dataset.decideUrl ?? "",
    ask: box.dataset.askUrl ?? "",
  };
  const wasUnderWay = isUnderWay;
  isUnderWay = "underWay" in box.dataset;
  const script = page.getElementById("suggestions-known");
  /** @type {Known[]} */
  const fresh = JSON.parse(script?.textContent ?? "[]");
  const isSame =
    known.length > 0 &&
    fresh
      .map(({ id }) => id)
      .sort()
      .join() ===
      known
        .map(({ id }) => id)
        .sort()
        .join();
  // The nodes stay where the suggestions are the same: what is unfolded stays so, and the focus is kept.
  if (isSame && isUnderWay === wasUnderWay) {
    const byId = new Map(fresh.map((suggestion) => [suggestion.id, suggestion]));
    known = known.map((suggestion) => byId.get(suggestion.id) ?? suggestion);
  } else {
    known = fresh;
    find(pane, "[data-content]", HTMLElement).replaceChildren(document.adoptNode(box));
    for (const suggestion of known) learn(suggestion.cited);
    for (const [id, entry] of Object.entries(decisions.takeUp())) {
      if (entry.decision !== "read") decided.set(id, localDecision(entry.decision, entry.reason ?? null));
    }
  }
  for (const id of decided.keys()) if (!decisions.isPending(id)) decided.delete(id);
  listed = inList();
  render();
}

/**
 * @param {"rejected" | "open" | "aside" | "read"} kind
 * @param {number | null} reason
 * @returns {Decision}
 */
function localDecision(kind, reason) {
  return { state: kind === "rejected" ? "rejected" : "open", aside: kind === "aside", reason };
}

const inList = () => new Set(state.items.map((item) => item.suggestion).filter(Boolean));

function render() {
  if (!known.length) return;
  const open = order();
  showLines(
    pane,
    open,
    known.map(({ id }) => id),
    decisionOf,
  );
  if (!known.some(({ id }) => id === activeId)) activeId = open[0] ?? known[0].id;
  activate(pane, activeId);
  showReasons(pane, askedId);
}

/* Moving */

/** @param {string} id */
function go(id) {
  const line = lineOf(pane, id);
  if (!line) return;
  activeId = id;
  activate(pane, id);
  line.focus({ preventScroll: true });
  line.scrollIntoView({ block: "nearest" });
}

function enter() {
  if (!known.length) pane.querySelector("button")?.focus();
  else go(decisionOf(activeId).state === "open" ? activeId : (order()[0] ?? activeId));
}

/** @param {number} by */
function step(by) {
  const lines = Array.from(pane.querySelectorAll("[data-suggestion]")).map(suggestionOf);
  const place = lines.indexOf(activeId) + by;
  go(lines[Math.max(0, Math.min(lines.length - 1, place))]);
}

/* Deciding */

/**
 * @param {string} id
 * @param {"rejected" | "open" | "aside"} kind
 * @param {number | null} [reason]
 * @param {string} [note] which other reason
 */
function decide(id, kind, reason = null, note = "") {
  decided.set(id, localDecision(kind, reason));
  decisions.put(id, kind, { reason, note, seconds: time.take(id, Date.now()) });
}

/**
 * @param {string} id
 * @param {boolean} rewords whether the caret goes into its text
 */
function takeUp(id, rewords) {
  const before = order();
  const suggestion = knownOf(id);
  const present = state.items.find((item) => item.suggestion === id);
  const item = present ?? copy([suggestion.item])[0];
  if (!present) {
    decided.delete(id);
    decisions.forget(id);
    listed.add(id);
    insert([item], state.items.at(-1)?.id ?? "");
    done.push(id);
    decisions.put(id, "read", { seconds: time.take(id, Date.now()) });
    row(item.id)?.scrollIntoView({ block: "nearest" });
    announce(words("taken_as").replace("NUMBER", String(placeOf(item.id) + 1)));
  }
  if (rewords) focus(item.id, "text", item.text.length);
  else go(nextAfter(before, id, decisionOf) || id);
}

/** @param {string} id */
function askReason(id) {
  askedId = id;
  render();
  go(id);
}

/** Ask which other reason it is: a field beside the reasons. */
function askOther() {
  const line = lineOf(pane, askedId);
  if (!line) return;
  const box = find(line, "[data-other]", HTMLElement);
  box.hidden = false;
  find(box, "[data-other-reason]", HTMLInputElement).focus();
}

/** Reject with the reason that is written in the field; without words, the field asks for them. */
function rejectOther() {
  const line = lineOf(pane, askedId);
  if (!line) return;
  const input = find(line, "[data-other-reason]", HTMLInputElement);
  input.value = input.value.trim();
  if (input.reportValidity()) reject(OTHER_REASON, input.value);
}

/** @param {number} reason */
function chooseReason(reason) {
  if (reason === OTHER_REASON) askOther();
  else reject(reason);
}

/**
 * @param {number | null} reason null where the person does not say
 * @param {string} [note] which other reason
 */
function reject(reason, note = "") {
  const id = askedId;
  const before = order();
  const isListed = listed.has(id);
  askedId = "";
  decided.set(id, localDecision("rejected", reason));
  if (isListed) removeFromList(id);
  decide(id, "rejected", reason, note);
  done.push(id);
  render();
  go(nextAfter(before, id, decisionOf) || id);
}

/** @param {string} id */
function removeFromList(id) {
  listed.delete(id);
  act((items) => {
    items.splice(0, items.length, ...items.filter((item) => item.suggestion !== id));
  });
}

/** @param {string} id */
function putAside(id) {
  const { state: now, aside } = decisionOf(id);
  if (now !== "open") return;
  const before = order();
  decide(id, aside ? "open" : "aside");
  if (!aside) done.push(id);
  render();
  go(aside ? id : nextAfter(before, id, decisionOf) || id);
}

/** Undo the decision on the active suggestion; where there is none, the latest one. */
function undo() {
  const now = decisionOf(activeId);
  const id = now.state !== "open" || now.aside ? activeId : (done.pop() ?? "");
  if (!id) {
    toast(words("nothing"));
    return;
  }
  askedId = "";
  decided.set(id, OPEN);
  if (listed.has(id)) removeFromList(id);
  decide(id, "open");
  for (let place = done.indexOf(id); place >= 0; place = done.indexOf(id)) done.splice(place, 1);
  render();
  go(id);
  announce(words("undone"));
}

/** @param {string} id */
function view(id) {
  const line = lineOf(pane, id);
  if (line) toggleMore(line);
}

/* The list has changed. */
watchList((cause) => {
  if (!known.length) return;
  const now = inList();
  for (const { id } of known) {
    if (now.has(id) && !listed.has(id)) {
      decided.delete(id);
      decisions.forget(id);
    } else if (!now.has(id) && listed.has(id)) {
      // Undoing takes the decision back; whoever deletes the criterion rejects the suggestion, and is asked why.
      if (cause === "undo") decide(id, "open");
      else if (cause === "action") {
        decided.set(id, localDecision("rejected", null));
        askedId = id;
      }
    }
  }
  listed = now;
  render();
  if (cause === "others") load("GET");
});

/* Keys and buttons */

/** @type {Record<string, () => void>} */
const keys = {
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  Enter: () => takeUp(activeId, false),
  e: () => takeUp(activeId, true),
  x: () => askReason(activeId),
  v: () => view(activeId),
  p: () => putAside(activeId),
  u: undo,
};

/**
 * @param {KeyboardEvent} event
 * @returns {boolean} whether the key did something
 */
function panelKey(event) {
  const { key, target } = event;
  const id = suggestionOf(target);
  const isOnLine = target instanceof HTMLElement && "suggestion" in target.dataset;
  const isWriting = target instanceof HTMLElement && "otherReason" in target.dataset;
  if (askedId && (id === askedId || !id)) {
    if (isWriting && key === "Enter") rejectOther();
    else if (isWriting && key !== "Escape") return false;
    else if (REASON_KEY.test(key)) chooseReason(Number(key));
    else if (key === "Enter" && isOnLine) reject(null);
    else if (key === "Escape") {
      const id = askedId;
      askedId = "";
      render();
      go(id);
    } else return false;
    return true;
  }
  if (!id || !known.length || (key === "Enter" && !isOnLine)) return false; // buttons and links do what they do
  activeId = id;
  const action = keys[key.length === 1 ? key.toLowerCase() : key];
  action?.();
  return Boolean(action);
}

pane.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
  if (panelKey(event)) {
    event.preventDefault();
    event.stopPropagation();
  }
});

/* A line that becomes the active one grows. Between pressing and releasing the button of a mouse it must not, or the
   release would be beside what was pressed. */
let isPressed = false;
pane.addEventListener("pointerdown", () => {
  isPressed = true;
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    isPressed = false;
  });
}

pane.addEventListener("focusin", (event) => {
  const id = suggestionOf(event.target);
  time.look(id, Date.now());
  if (!id || id === activeId || isPressed) return;
  activeId = id;
  activate(pane, id);
});
pane.addEventListener("focusout", () => time.look("", Date.now()));

/** @type {Record<string, (id: string) => unknown>} */
const buttons = {
  open: async () => (await saving.save()) && load("POST", urls.open).then(enter),
  ask: async () => {
    isAwaited = await load("POST", urls.ask);
  },
  take: (id) => takeUp(id, false),
  edit: (id) => takeUp(id, true),
  reject: askReason,
  rejectOther,
  aside: putAside,
  view,
  undo: (id) => {
    activeId = id;
    undo();
  },
};

pane.addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-do-suggestions], [data-reason]");
  const id = suggestionOf(event.target);
  if (button?.dataset.reason) {
    askedId = id;
    chooseReason(Number(button.dataset.reason));
  } else if (button?.dataset.doSuggestions) buttons[button.dataset.doSuggestions]?.(id);
  else if (id && !targetWithin(event, "label")) go(id);
});

// What others decided meanwhile, in another tab or elsewhere.
window.addEventListener("focus", () => {
  if (known.length && !pane.hidden && !isUnderWay) load("GET");
});

// What a run drafts appears when it is done.
setInterval(async () => {
  if (!isUnderWay || pane.hidden || document.hidden) return;
  await load("GET");
  if (isUnderWay) return;
  await show();
  const isIdle = document.activeElement === document.body || pane.contains(document.activeElement);
  if (isAwaited && isIdle && known.length) enter(); // whoever writes on meanwhile keeps the caret
  isAwaited = false;
}, DRAFTING_MS);
