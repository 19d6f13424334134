// @ts-check
/* The questions about a case on the page: one fieldset each. */
import { element, find, findAll } from "../../core/page.js";
import { asVote, CANNOT_TELL, codesValue, isComplete, NO_LEVEL, NONE_OF_THESE, OTHER_REASON } from "./label_answers.js";

/** @typedef {import("./label_answers.js").LabelState} LabelState */

/**
 * @param {HTMLElement} page
 * @returns {HTMLElement[]}
 */
export function rowsOf(page) {
  return findAll(page, "[data-question]", HTMLElement);
}

/**
 * @param {string} question
 * @returns {HTMLElement}
 */
export function rowOf(question) {
  return element(`question-${question}`, HTMLElement);
}

/**
 * @param {HTMLElement} row
 * @returns {string} the id of its question
 */
export function questionOf(row) {
  return row.dataset.question ?? "";
}

/** @param {HTMLElement} row */
export function isAcuity(row) {
  return row.dataset.acuity === "1";
}

/** @param {HTMLElement} row whether the options are levels of a scale */
export function isLevels(row) {
  return row.dataset.levels === "1";
}

/** @param {HTMLElement} row whether it is about a response */
export function isRead(row) {
  return row.dataset.read !== undefined;
}

/** @param {HTMLElement} row whether the answer is codes of a code book */
export function isCoded(row) {
  return row.dataset.coded !== undefined;
}

/**
 * @param {HTMLElement} row
 * @returns {import("./label_answers.js").GivenCode[]} none where the answer is no codes
 */
export function codesOf(row) {
  return JSON.parse(row.dataset.codes || "[]");
}

/**
 * @param {HTMLElement} row
 * @param {import("./label_answers.js").GivenCode[]} codes
 */
export function keepCodes(row, codes) {
  row.dataset.codes = JSON.stringify(codes);
}

/** @param {HTMLElement} row @returns {HTMLInputElement} the box that no code applies */
export function noneBoxOf(row) {
  return find(row, "[data-none]", HTMLInputElement);
}

/** @param {HTMLElement} row about a response */
export function escalationOf(row) {
  return find(row, "[data-escalation]", HTMLSelectElement);
}

/**
 * @param {HTMLElement} row about a response
 * @returns {import("./label_answers.js").Passage[]}
 */
export function passagesOf(row) {
  return JSON.parse(row.dataset.evidence || "[]");
}

/**
 * @param {HTMLElement} row about a response
 * @param {import("./label_answers.js").Passage[]} passages
 */
export function keepPassages(row, passages) {
  row.dataset.evidence = JSON.stringify(passages);
}

/** @param {HTMLElement} row */
export function radiosOf(row) {
  return findAll(row, "input[data-option]", HTMLInputElement);
}

/** @param {HTMLElement} row */
export function reasonsOf(row) {
  return findAll(row, "input[data-reason]", HTMLInputElement);
}

/**
 * @param {HTMLElement} row
 * @returns {HTMLInputElement | null} where a vote may be between two levels
 */
export function betweenOf(row) {
  const box = row.querySelector("[data-between]");
  return box instanceof HTMLInputElement ? box : null;
}

/**
 * @param {HTMLElement} row
 * @param {string} value of an option
 * @returns {HTMLInputElement | undefined} the next option, where it is a level
 */
export function nextLevel(row, value) {
  const levels = radiosOf(row).filter((radio) => radio.value !== CANNOT_TELL);
  const place = levels.findIndex((radio) => radio.value === value);
  return place < 0 ? undefined : levels[place + 1];
}

/**
 * @param {HTMLElement} row
 * @returns {HTMLInputElement | null} where the question asks for a certainty
 */
export function rangeOf(row) {
  const range = row.querySelector("[data-certainty-range]");
  return range instanceof HTMLInputElement ? range : null;
}

/** @param {HTMLInputElement} radio */
export function labelOf(radio) {
  const label = radio.closest("label");
  return (label?.querySelector("b") ?? label?.querySelector("span"))?.textContent ?? "";
}

/**
 * @param {HTMLElement} row
 * @returns {LabelState}
 */
export function stateOf(row) {
  if (isCoded(row)) {
    const codes = codesOf(row);
    const note = find(row, "[data-note]", HTMLTextAreaElement).value.trim();
    return { value: codesValue(codes, noneBoxOf(row).checked), certainty: null, note, codes };
  }
  const value = radiosOf(row).find((radio) => radio.checked)?.value ?? "";
  const state = {
    value,
    upper: betweenOf(row)?.checked ? (nextLevel(row, value)?.value ?? "") : "",
    reason: reasonsOf(row).find((radio) => radio.checked)?.value ?? "",
    certainty: row.dataset.certainty === "" ? null : Number(row.dataset.certainty),
    note: find(row, "[data-note]", HTMLTextAreaElement).value.trim(),
  };
  if (isRead(row)) return { ...state, escalation: escalationOf(row).value, evidence: passagesOf(row) };
  return isLevels(row) ? asVote(state) : state;
}

/** @param {HTMLElement} row */
export function isAnswered(row) {
  return isComplete(stateOf(row), { isAcuity: isAcuity(row), isLevels: isLevels(row), isRead: isRead(row) });
}

/**
 * What a chosen answer still lacks, as the texts of this page name it.
 * @param {HTMLElement} row
 * @returns {string} empty where nothing is chosen, or nothing is missing
 */
export function lackOf(row) {
  const { value, reason, certainty, note, evidence } = stateOf(row);
  if (isLevels(row) && value === CANNOT_TELL) {
    if (!reason) return "lacks_reason";
    return reason === OTHER_REASON && !note ? "lacks_note" : "";
  }
  if (isRead(row)) return value && value !== NO_LEVEL && !evidence?.length ? "lacks_words" : "";
  if (isCoded(row)) return value ? "" : "lacks_codes";
  return value && isAcuity(row) && certainty === null ? "lacks_certainty" : "";
}

/**
 * What stands below the box of a vote between two levels.
 * @param {HTMLElement} row
 * @param {string} words
 */
export function showBetween(row, words) {
  find(row, "[data-between-shown]", HTMLElement).textContent = words;
}

/**
 * @param {HTMLElement} row
 * @param {LabelState} state
 */
export function showState(row, state) {
  for (const radio of radiosOf(row)) radio.checked = radio.value === state.value;
  find(row, "[data-note]", HTMLTextAreaElement).value = state.note;
  if (isCoded(row)) {
    keepCodes(row, state.codes ?? []);
    noneBoxOf(row).checked = state.value === NONE_OF_THESE;
  }
  if (state.note) find(row, "details.note", HTMLDetailsElement).open = true;
  for (const radio of reasonsOf(row)) radio.checked = radio.value === state.reason;
  const between = betweenOf(row);
  if (between) between.checked = Boolean(state.upper);
  if (isRead(row)) {
    escalationOf(row).value = state.escalation ?? "";
    keepPassages(row, state.evidence ?? []);
  }
  showCertainty(row, state.certainty);
}

/**
 * Shows what belongs to the chosen level, or to cannot tell.
 * @param {HTMLElement} row
 * @param {object} words
 * @param {(low: string, high: string) => string} words.offer of a vote between two levels
 * @param {string} words.chosen said where the vote is one; the offer names the levels
 * @param {string} words.any the offer where no level is chosen, or none is more urgent
 * @param {string} words.help what such a vote means, where there is none
 */
export function showVote(row, { offer, chosen, any, help }) {
  const between = betweenOf(row);
  if (!between) return;
  const { value, upper, reason } = stateOf(row);
  const cannotTell = value === CANNOT_TELL;
  find(row, ".reasons", HTMLElement).hidden = !cannotTell;
  find(row, ".certainty", HTMLElement).hidden = cannotTell;
  between.disabled = !nextLevel(row, value);
  if (between.disabled) between.checked = false;
  const isTop = Boolean(value) && !cannotTell && between.disabled;
  find(row, ".between", HTMLElement).hidden = isTop; // no level is more urgent
  for (const radio of radiosOf(row)) {
    radio.closest("label")?.classList.toggle("chosen", radio.value === value || radio.value === upper);
  }
  const [low, high] = [radiosOf(row).find((radio) => radio.value === value), nextLevel(row, value)];
  find(row, "[data-between-offer]", HTMLElement).textContent = low && high ? offer(labelOf(low), labelOf(high)) : any;
  showBetween(row, upper && low && high ? chosen : help);
  if (cannotTell && reason === OTHER_REASON) find(row, "details.note", HTMLDetailsElement).open = true;
}

/**
 * @param {HTMLElement} row
 * @param {number | null} certainty
 */
export function showCertainty(row, certainty) {
  const words = String(certainty ?? "");
  row.dataset.certainty = words;
  const range = rangeOf(row);
  if (!range) return;
  if (certainty !== null) range.value = words;
  find(row, "[data-certainty-shown]", HTMLElement).textContent = words || "–";
}
