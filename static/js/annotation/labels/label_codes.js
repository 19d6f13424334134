// @ts-check
/* The codes that a response shows: several may be marked, each with the words that show it and a criterion. */
import { find, findAll } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { paint } from "../shared/passages.js";
import { NONE_OF_THESE, toggled } from "./label_answers.js";
import { passageItems, takePassage } from "./label_passages.js";
import { codesOf, isCoded, keepCodes, labelOf, noneBoxOf } from "./label_rows.js";

/**
 * @typedef {import("./label_answers.js").GivenCode} GivenCode
 * @typedef {import("./label_answers.js").Passage} Passage
 * @typedef {(row: HTMLElement) => void} Changed
 */

const text = wordsOf("labelling-words");

/* What was taken away comes back with its passages and criterion when it is marked again: one key is pressed easily. */
/** @type {WeakMap<HTMLElement, Map<string, GivenCode>>} by question */
const takenAway = new WeakMap();

/** @param {HTMLElement} row whose codes may be taken away now */
function remember(row) {
  const before = takenAway.get(row) ?? new Map();
  for (const given of codesOf(row)) before.set(given.code, given);
  takenAway.set(row, before);
}

/**
 * @param {HTMLElement[]} rows
 * @returns {HTMLElement | undefined} the question whose answer is codes, where there is one
 */
export function codedRow(rows) {
  return rows.find(isCoded);
}

/** @param {HTMLElement} row */
function boxesOf(row) {
  return findAll(row, "[data-code]", HTMLInputElement);
}

/**
 * Marks a code, with what it had when it was taken away, or unmarks it. None of these goes away with the first code.
 * @param {HTMLElement} row
 * @param {string} code
 * @returns {string} what happened, in words
 */
export function toggleCode(row, code) {
  remember(row);
  const codes = toggled(codesOf(row), code, takenAway.get(row)?.get(code));
  keepCodes(row, codes);
  const isMarked = codes.some((given) => given.code === code);
  if (isMarked) {
    noneBoxOf(row).checked = false;
    row.dataset.last = code;
  }
  return text(isMarked ? "marked" : "unmarked").replace("CODE", titleOf(row, code));
}

/**
 * None of these takes all codes away.
 * @param {HTMLElement} row
 * @returns {string}
 */
export function toggleNone(row) {
  if (!noneBoxOf(row).checked) return "";
  remember(row);
  keepCodes(row, []);
  return text("none_of_these");
}

/**
 * @param {HTMLElement} row
 * @param {string} code
 */
function titleOf(row, code) {
  const box = boxesOf(row).find((each) => each.dataset.code === code);
  return box ? labelOf(box) : code;
}

/**
 * The codes of an answer in one line, each with what two versions may differ in.
 * @param {HTMLElement} row
 * @param {import("./label_answers.js").LabelState} state
 * @returns {string}
 */
export function codeWords(row, state) {
  if (state.value === NONE_OF_THESE) return text("none_of_these");
  return (state.codes ?? []).map((given) => codeWord(row, given)).join(", ");
}

/**
 * @param {HTMLElement} row
 * @param {GivenCode} given
 * @returns {string} its title, with its number of passages and its criterion in brackets
 */
function codeWord(row, { code, evidence, criterion }) {
  const passages = evidence.length ? text("passages").replace("NUMBER", String(evidence.length)) : "";
  const option = criterion && row.querySelector(`[data-criterion] option[value="${criterion}"]`);
  const more = [passages, option ? option.textContent?.trim() : ""].filter(Boolean).join("; ");
  return more ? `${titleOf(row, code)} (${more})` : titleOf(row, code);
}

/**
 * Shows which codes are marked, with their passages, and the passages in the response.
 * @param {HTMLElement} row
 * @param {Changed} changed
 * @param {Passage | null} [picked] the sentence that is being picked
 */
export function showCodes(row, changed, picked = null) {
  const codes = codesOf(row);
  const last = lastCode(row);
  for (const box of boxesOf(row)) {
    const given = codes.find(({ code }) => code === box.dataset.code);
    box.checked = given !== undefined;
    const details = find(row, `[data-of-code="${CSS.escape(box.dataset.code ?? "")}"]`, HTMLElement);
    details.hidden = !given;
    if (given) showCode(row, details, given, changed);
  }
  /** @type {import("../shared/text_spans.js").Mark[]} */
  const marks = codes.flatMap(({ code, evidence }) =>
    evidence.map(({ start, end }) => ({
      start,
      end,
      kind: /** @type {"current"} */ (code === last ? "current" : "other"),
      label: titleOf(row, code),
    })),
  );
  paint(picked ? [...marks, { ...picked, kind: "pick", label: "" }] : marks);
}

/**
 * @param {HTMLElement} row
 * @param {HTMLElement} details of the code
 * @param {GivenCode} given
 * @param {Changed} changed
 */
function showCode(row, details, given, changed) {
  /** @param {number} place */
  const drop = (place) => {
    change(row, given.code, { evidence: evidenceOf(row, given.code).filter((_, other) => other !== place) });
    changed(row);
  };
  const items = passageItems(given.evidence, row.matches("[disabled]") ? null : drop);
  find(details, "[data-passages]", HTMLElement).replaceChildren(...items);
  const criterion = details.querySelector("[data-criterion]");
  if (!(criterion instanceof HTMLSelectElement)) return;
  criterion.value = String(given.criterion ?? "");
  criterion.onchange = () => {
    change(row, given.code, { criterion: criterion.value ? Number(criterion.value) : null });
    changed(row);
  };
}

/**
 * @param {HTMLElement} row
 * @param {string} code
 * @param {Partial<GivenCode>} values
 */
function change(row, code, values) {
  keepCodes(
    row,
    codesOf(row).map((given) => (given.code === code ? { ...given, ...values } : given)),
  );
}

/**
 * @param {HTMLElement} row
 * @param {string} code
 */
function evidenceOf(row, code) {
  return codesOf(row).find((given) => given.code === code)?.evidence ?? [];
}

/**
 * @param {HTMLElement} row
 * @returns {string | undefined} the code that was marked last, among those that are marked
 */
function lastCode(row) {
  const codes = codesOf(row);
  const last = codes.find(({ code }) => code === row.dataset.last) ?? codes[codes.length - 1];
  return last?.code;
}

/**
 * Attaches what is selected in the response to a code.
 * @param {HTMLElement} row
 * @param {Changed} changed
 * @param {string} code empty: the code that was marked last
 */
export function attachToCode(row, changed, code) {
  const chosen = code || lastCode(row);
  if (!chosen) {
    toast(text("code_first"));
    return;
  }
  row.dataset.last = chosen;
  takePassage(
    () => evidenceOf(row, chosen),
    (evidence) => {
      change(row, chosen, { evidence });
      changed(row);
    },
  );
}
