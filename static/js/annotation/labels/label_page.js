// @ts-check
/* Questions about a case: each answer shows at once and saves itself, by mouse and by keyboard, and a case that was
   handed in gives way to the next one without a new page. */
import { neighbour, nextThatFits } from "../../core/neighbour.js";
import { element, find, findAll, optionalElement, targetWithin } from "../../core/page.js";
import { ask, session } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { forgetPick, handlePickKey } from "../shared/passages.js";
import { CANNOT_TELL } from "./label_answers.js";
import { attachToCode, codedRow, showCodes, toggleCode, toggleNone } from "./label_codes.js";
import { attachPassage, readRow, showPassages } from "./label_passages.js";
import {
  betweenOf,
  isAcuity,
  isAnswered,
  labelOf,
  lackOf,
  radiosOf,
  rangeOf,
  reasonsOf,
  showBetween,
  showCertainty,
  stateOf,
} from "./label_rows.js";
import {
  allRows,
  openSheet,
  put,
  putLater,
  queue,
  refuse,
  restore,
  sheet,
  showSaving,
  summarise,
} from "./label_saving.js";

/**
 * @typedef {object} SubmittedBody
 * @property {{ url: string, html: string } | null} next
 * @property {string} work the address of the page of all work
 */
/** @typedef {{ reason?: string, detail?: string, missing?: string[] } | null} RefusedBody */

const CERTAINTY_STEP = 5;

const text = wordsOf("labelling-words");

/** @type {HTMLElement | null} */
let current = null;

/* In a narrow window the questions stand below the conversation, which is read first. */
function isStacked() {
  return getComputedStyle(find(sheet.page, ".pane", HTMLElement)).overflowY === "visible";
}

/**
 * @param {HTMLElement | null | undefined} row
 * @param {boolean} [scroll]
 */
function select(row, scroll = true) {
  if (!row) return;
  for (const other of allRows()) other.classList.toggle("current", other === row);
  current = row;
  if (!row.contains(document.activeElement)) row.focus({ preventScroll: true });
  if (scroll) row.scrollIntoView({ block: "nearest" });
}

function leaveField() {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/* On to the next question without an answer. */
function selectOpen() {
  const open = nextThatFits(allRows(), current, (row) => !isAnswered(row));
  leaveField();
  if (open) select(open);
  else current?.focus({ preventScroll: true });
}

/** @param {number} step */
function move(step) {
  leaveField();
  select(neighbour(allRows(), current, step));
}

/* Handing in */

let submitting = false;

async function submit() {
  if (!sheet.writable || submitting) return;
  submitting = true;
  element("submit", HTMLElement).setAttribute("aria-busy", "true");
  try {
    await queue.flushAll();
    if (queue.pending.size) {
      if (!queue.halted) refuse(text(isOffline() ? "unsent_offline" : "unsent"), "saved");
      return;
    }
    // The stored answer is an older one than the page shows.
    const [detail] = sheet.refused.values();
    if (detail !== undefined) {
      refuse(detail);
      return;
    }
    const { status, body } = await ask("POST", sheet.page.dataset.submitUrl ?? "", { who: sheet.who });
    if (status === 200) goOn(body);
    else showRefusal(status, body);
  } finally {
    submitting = false;
    document.getElementById("submit")?.removeAttribute("aria-busy");
  }
}

function isOffline() {
  return queue.state({ saved: true }) === "offline" || !navigator.onLine;
}

/**
 * @param {number} status
 * @param {RefusedBody} body
 */
function showRefusal(status, body) {
  if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  else if (status === 0) refuse(text("lost"), "online");
  else if (body?.reason === "somebody-else") refuse(text("somebody"));
  else {
    if (status === 403) session();
    const missing = (body?.missing ?? []).map((id) => optionalElement(`question-${id}`, HTMLElement));
    const [row] = missing;
    if (row) select(row);
    if (row && lackOf(row) === "lacks_note") openNote();
    const stays = row && sheet.early.size ? text("early_stays") : "";
    const detail = lacksOf(missing) || (body?.detail ?? text("failed"));
    refuse([detail, stays].filter(Boolean).join(" "), row ? "answered" : "");
  }
}

/**
 * What each question lacks, where one of them is answered in part.
 * @param {(HTMLElement | null)[]} missing
 * @returns {string} empty where no answer is begun, or a question is not on the page
 */
function lacksOf(missing) {
  const rows = missing.flatMap((row) => row ?? []);
  if (rows.length < missing.length || !rows.some(lackOf)) return "";
  const isOnly = allRows().length === 1;
  return rows
    .map((row) => {
      const lack = text(lackOf(row) || "unanswered");
      return isOnly
        ? lack
        : text("of_question")
            .replace("NUMBER", row.dataset.number ?? "")
            .replace("LACK", lack);
    })
    .join(" ");
}

/** @param {SubmittedBody} body */
function goOn(body) {
  // A note that has the focus reports a change as it goes. All of it was saved before the case was submitted.
  sheet.writable = false;
  const submitted = text("submitted").replace("HEADING", sheet.page.dataset.heading ?? "");
  if (!body.next) {
    location.assign(body.work);
    return;
  }
  const template = document.createElement("template");
  template.innerHTML = body.next.html;
  sheet.page.replaceWith(template.content);
  history.pushState({}, "", body.next.url);
  begin();
  toast(submitted, "success");
  if (isStacked()) window.scrollTo(0, 0);
  document.dispatchEvent(new CustomEvent("consilium:sheet"));
  announce(sheet.page.dataset.heading ?? "");
}

/** @param {string} words */
function announce(words) {
  element("announce", HTMLElement).textContent = words;
}

window.addEventListener("popstate", () => location.reload());
document.getElementById("submit-form")?.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});

/* Mouse and keyboard */

document.addEventListener("change", (event) => {
  const row = targetWithin(event, "[data-question]");
  if (row && targetWithin(event, "[data-code]") === event.target) {
    announce(toggleCode(row, targetWithin(event, "[data-code]")?.dataset.code ?? ""));
    put(row);
    return;
  }
  if (row && targetWithin(event, "[data-none]") === event.target) {
    announce(toggleNone(row));
    put(row);
    return;
  }
  const answers = "input[type=radio], [data-between], [data-note], [data-escalation]";
  if (!row || targetWithin(event, answers) !== event.target) return;
  if (targetWithin(event, "[data-option]")) leaveBorder(row);
  put(row);
});
document.addEventListener("mousedown", (event) => {
  // A click on the button would empty the selection before it could be read.
  if (targetWithin(event, "[data-attach]")) event.preventDefault();
});
document.addEventListener("consilium:pick", (event) => {
  const picked = /** @type {CustomEvent} */ (event).detail;
  const row = readRow(allRows());
  if (row) showPassages(row, put, picked);
  const coded = codedRow(allRows());
  if (coded) showCodes(coded, put, picked);
});
document.addEventListener("click", (event) => {
  const attaches = targetWithin(event, "[data-attach]");
  if (attaches) attach(attaches.dataset.attach);
  const button = targetWithin(event, "[data-certain]");
  if (button) beCertain(Number(button.dataset.certain));
});
document.addEventListener("input", (event) => {
  const row = targetWithin(event, "[data-question]");
  const field = event.target;
  if (!row || !(field instanceof HTMLElement)) return;
  const isRange = field.matches("[data-certainty-range]");
  if (isRange && field instanceof HTMLInputElement) showCertainty(row, Number(field.value));
  if (isRange || field.matches("[data-note]")) putLater(row);
});
document.addEventListener("focusin", (event) => {
  const row = targetWithin(event, "[data-question]");
  if (row && row !== current) select(row);
});

/** @param {string} key of the option */
function choose(key) {
  const radio = current && radiosOf(current).find((option) => option.dataset.option === key);
  if (!current || !radio) return;
  if (radio.value === CANNOT_TELL) {
    cannotTell(radio);
    return;
  }
  if (!radio.checked) leaveBorder(current);
  radio.checked = true;
  announce(labelOf(radio));
  put(current);
  if (isAcuity(current)) find(current, "[data-certainty-range]", HTMLElement).focus();
  else selectOpen();
}

/* On to the level under a condition, which a number then chooses. */
function openEscalation() {
  const row = readRow(allRows());
  if (!row) return false;
  find(row, "[data-escalation]", HTMLSelectElement).focus();
  return true;
}

/**
 * @param {string} key of the level, 0 for none
 * @param {HTMLSelectElement} list
 */
function chooseEscalation(key, list) {
  const option = list.options[Number(key)];
  if (!option) return;
  option.selected = true;
  announce(option.text);
  list.dispatchEvent(new Event("change", { bubbles: true }));
  current?.focus();
}

/**
 * Attaches the words that are selected in the response.
 * @param {string} [code] that they show; without it, the code that was marked last
 */
function attach(code = "") {
  if (!sheet.writable) return;
  const row = readRow(allRows());
  if (row) attachPassage(row, put);
  const coded = codedRow(allRows());
  if (coded) attachToCode(coded, put, code);
}

/**
 * @param {string} key
 * @param {HTMLElement} target which has the focus
 * @returns {boolean} whether it is the key of a code, of none of these, or Enter, which goes on to the next response
 */
function pressCode(key, target) {
  const row = codedRow(allRows());
  if (!row) return false;
  if (key === "Enter" && !target.matches("button, a, summary, input")) {
    submit();
    return true;
  }
  const boxes = findAll(row, "[data-key]", HTMLInputElement);
  const box = boxes.find((each) => each.dataset.key === key.toLowerCase());
  if (!box) return false;
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  return true;
}

/** @param {HTMLInputElement} radio whose second press is for the next reason */
function cannotTell(radio) {
  if (!current) return;
  const reasons = reasonsOf(current);
  const place = reasons.findIndex((reason) => reason.checked);
  const reason = reasons[radio.checked ? (place + 1) % reasons.length : Math.max(place, 0)];
  if (radio.checked) reason.checked = true;
  radio.checked = true;
  announce(radio.checked && reason.checked ? `${labelOf(radio)}: ${labelOf(reason)}` : labelOf(radio));
  put(current);
  reason.focus();
}

/* Another level is chosen: the vote is for that level alone, not for it and the one above it. */
/** @param {HTMLElement} row */
function leaveBorder(row) {
  const box = betweenOf(row);
  if (box) box.checked = false;
}

/* Between the chosen level and the next one up, or for the level alone again. */
function toggleBetween() {
  const box = current && betweenOf(current);
  if (!current || !box) return;
  if (box.disabled) {
    const why = text(stateOf(current).value ? "top" : "first");
    showBetween(current, why);
    announce(why);
    return;
  }
  box.checked = !box.checked;
  put(current);
  announce(find(current, "[data-between-shown]", HTMLElement).textContent ?? "");
}

/** @param {HTMLInputElement} range its value is taken, though it was not moved */
function takeCertainty(range) {
  beCertain(Number(range.value));
}

/** @param {number} certainty taken for the current question, and on to the next one */
function beCertain(certainty) {
  if (!current) return;
  showCertainty(current, certainty);
  announce(`${text("certain")} ${certainty}`);
  put(current);
  selectOpen();
}

/**
 * @param {HTMLInputElement} range
 * @param {number} step
 */
function changeCertainty(range, step) {
  if (!current) return;
  showCertainty(current, Math.min(100, Math.max(0, Number(range.value) + step)));
  announce(`${text("certain")} ${range.value}`);
  putLater(current);
}

/**
 * @param {string} key
 * @returns {boolean} whether it sets the certainty of the current question
 */
function pressCertainty(key) {
  const range = current && rangeOf(current);
  if (!current || !range || stateOf(current).value === CANNOT_TELL) return false;
  const quarter = current.querySelector(`[data-certain][data-key="${CSS.escape(key.toUpperCase())}"]`);
  if (quarter instanceof HTMLElement) beCertain(Number(quarter.dataset.certain));
  else if (key === "+" || key === "=") changeCertainty(range, CERTAINTY_STEP);
  else if (key === "-" || key === "−") changeCertainty(range, -CERTAINTY_STEP);
  else return false;
  return true;
}

/** @returns {boolean} whether there is a note to write */
function openNote() {
  const note = current?.querySelector("details.note");
  if (!(note instanceof HTMLDetailsElement)) return false;
  note.open = true;
  find(note, "textarea", HTMLTextAreaElement).focus();
  return true;
}

/**
 * @param {string} key
 * @param {HTMLElement} target which has the focus
 * @returns {boolean} whether it is a key of this page
 */
function press(key, target) {
  const range = current && rangeOf(current) === target ? rangeOf(current) : null;
  // A focused radio button and the slider take the arrows for themselves.
  const arrows = !target.matches("[data-certainty-range], input[type=radio], .pane");
  if (key === "?") element("keys", HTMLDialogElement).showModal();
  else if (!sheet.writable && !/^[jk]$/i.test(key)) return false;
  else if (pressCode(key, target)) return true;
  else if (/^[0-9]$/.test(key)) choose(key);
  else if (key === "j" || key === "J" || (arrows && key === "ArrowDown")) move(1);
  else if (key === "k" || key === "K" || (arrows && key === "ArrowUp")) move(-1);
  else if (range && key === " ") takeCertainty(range);
  else if (range && key === "Enter") selectOpen();
  else if (key === "t" || key === "T") return openNote();
  else if (key === "b" || key === "B") toggleBetween();
  else if (key === "c" || key === "C") return openEscalation();
  else if ((key === "e" || key === "E") && (readRow(allRows()) ?? codedRow(allRows()))) attach();
  else return pressCertainty(key);
  return true;
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    submit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return;
  if (handlePickKey(event.key, event)) return;
  // A list takes arrows and letters for itself.
  if (target.matches("textarea, select")) {
    const isNumber = target instanceof HTMLSelectElement && /^[0-9]$/.test(event.key);
    if (event.key !== "Escape" && !isNumber) return;
    event.preventDefault();
    if (isNumber) chooseEscalation(event.key, target);
    else targetWithin(event, "[data-question]")?.focus();
    return;
  }
  if (press(event.key, target)) event.preventDefault();
});

/* Begins with the case that is on the page now. */
function begin() {
  openSheet();
  forgetPick();
  const heading = sheet.page.dataset.heading ?? "";
  element("place", HTMLElement).textContent = heading;
  document.title = document.title.replace(/^[^·|–]*/, `${heading} `);
  for (const row of allRows()) {
    row.tabIndex = -1;
    if (sheet.writable) restore(row);
  }
  summarise();
  showSaving();
  current = null;
  select(allRows().find((row) => sheet.writable && !isAnswered(row)) ?? allRows()[0], !isStacked());
  queue.flush();
}

begin();
