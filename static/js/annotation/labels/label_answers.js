// @ts-check
/* Answers to the questions about a case, as they are shown, kept in this browser and sent. */

/**
 * @typedef {object} LabelState
 * @property {string} value the chosen option, empty where none is chosen
 * @property {string} [upper] the next level up, of a vote between two levels
 * @property {string} [reason] why somebody cannot tell
 * @property {number | null} certainty
 * @property {string} note
 * @property {string} [escalation] the level that a response advises under a condition
 * @property {Passage[]} [evidence] the words of a response that say so
 * @property {GivenCode[]} [codes] the codes that a response shows
 */
/** @typedef {{ code: string, criterion: number | null, evidence: Passage[] }} GivenCode */
/** @typedef {{ start: number, end: number, quote?: string }} Passage in code points of the response */
/**
 * @typedef {LabelState & { version: number, client_id: string, after?: string[], words?: string }} LabelEntry as it is
 *   kept; `words`: the answer as its page showed it
 */
/** @typedef {LabelEntry & { at: string }} StoredLabel as the server has it */

const NEVER_TAKEN = [400, 422];
export const CANNOT_TELL = "cannot-tell";
export const NO_LEVEL = "no-level";
export const OTHER_REASON = "other";
export const CODED = "coded";
export const NONE_OF_THESE = "none";

/**
 * @param {LabelState} state
 * @param {{ isAcuity: boolean, isLevels?: boolean, isRead?: boolean }} question a level needs a certainty, too, and
 *   cannot tell a reason, which a note explains if it is another one; a level that is read in a response needs its
 *   words. Codes are complete with a code, or with none of these.
 * @returns {boolean}
 */
export function isComplete(state, { isAcuity, isLevels = false, isRead = false }) {
  if (isRead) return Boolean(state.value) && (state.value === NO_LEVEL || Boolean(state.evidence?.length));
  if (isLevels && state.value === CANNOT_TELL) {
    return Boolean(state.reason) && (state.reason !== OTHER_REASON || Boolean(state.note));
  }
  return Boolean(state.value) && !(isAcuity && state.certainty === null);
}

/**
 * A vote as it may be sent: a certainty and an upper level belong to a level, a reason to cannot tell.
 * @param {LabelState} state
 * @returns {LabelState}
 */
export function asVote(state) {
  if (state.value === CANNOT_TELL) return { ...state, upper: "", certainty: null };
  return { ...state, reason: "" };
}

/**
 * @param {LabelState} state
 * @param {LabelState} other
 * @returns {boolean}
 */
export function sameState(state, other) {
  if ((state.escalation ?? "") !== (other.escalation ?? "") || !samePassages(state, other)) return false;
  if (!sameCodes(state.codes ?? [], other.codes ?? [])) return false;
  const isSameVote = (state.upper ?? "") === (other.upper ?? "") && (state.reason ?? "") === (other.reason ?? "");
  return isSameVote && state.value === other.value && state.certainty === other.certainty && state.note === other.note;
}

/**
 * @param {{ evidence?: Passage[] }} state
 * @param {{ evidence?: Passage[] }} other
 */
function samePassages({ evidence = [] }, { evidence: others = [] }) {
  return (
    evidence.length === others.length &&
    evidence.every(({ start, end }, place) => start === others[place].start && end === others[place].end)
  );
}

/**
 * Whether the same codes are given, in whatever order, with the same criteria and passages.
 * @param {GivenCode[]} codes
 * @param {GivenCode[]} others
 * @returns {boolean}
 */
export function sameCodes(codes, others) {
  if (codes.length !== others.length) return false;
  return codes.every((given) => {
    const other = others.find(({ code }) => code === given.code);
    return other !== undefined && given.criterion === other.criterion && samePassages(given, other);
  });
}

/**
 * The codes after one of them was marked, or unmarked where it was.
 * @param {GivenCode[]} codes
 * @param {string} code
 * @param {GivenCode} [before] the code as it was when it was taken away
 * @returns {GivenCode[]}
 */
export function toggled(codes, code, before = { code, criterion: null, evidence: [] }) {
  const others = codes.filter((given) => given.code !== code);
  return others.length < codes.length ? others : [...codes, before];
}

/**
 * @param {GivenCode[]} codes
 * @param {boolean} isNone
 * @returns {string} the value of an answer with these codes; empty without any answer
 */
export function codesValue(codes, isNone) {
  if (codes.length) return CODED;
  return isNone ? NONE_OF_THESE : "";
}

/**
 * The state of a question whose note or certainty was kept without an answer, and which was answered elsewhere since:
 * that answer, completed with the kept certainty and note where it has none.
 * @param {LabelState} kept
 * @param {LabelState} shown
 * @returns {LabelState}
 */
export function withKept(kept, shown) {
  return { ...shown, certainty: shown.certainty ?? kept.certainty, note: shown.note || kept.note };
}

/**
 * An answer as the server takes it.
 * @param {string} question
 * @param {LabelEntry} entry
 */
export function labelPayload(
  question,
  { value, upper = "", reason = "", certainty, note, version, client_id, ...read },
) {
  const payload = { question, value, upper, reason, certainty, note, version, client_id };
  if (read.codes !== undefined) return { ...payload, codes: read.codes.map(withPlaces) };
  if (read.evidence === undefined) return payload;
  const evidence = read.evidence.map(({ start, end }) => ({ start, end }));
  return { ...payload, escalation: read.escalation ?? "", evidence };
}

/** @param {GivenCode} given */
function withPlaces({ code, criterion, evidence }) {
  return { code, criterion, evidence: evidence.map(({ start, end }) => ({ start, end })) };
}

/** @param {string} who the author */
export const prefixOf = (who) => `consilium.labels:${who}:`;

/**
 * @param {string} who the author
 * @param {string} task
 * @param {string} question
 * @returns {string} the key in localStorage
 */
export function storageKey(who, task, question) {
  return `${prefixOf(who)}${task}:${question}`;
}

/**
 * @param {string} key in localStorage
 * @param {string} who
 * @returns {{ task: string, question: string } | null} null where it is no answer of this author
 */
export function parseKey(key, who) {
  if (!key.startsWith(prefixOf(who))) return null;
  const parts = key.slice(prefixOf(who).length).split(":");
  return parts[0] ? { task: parts[0], question: parts[parts.length - 1] } : null;
}

/**
 * Answers before notes that wait for an answer, otherwise in their order.
 * @param {Iterable<[string, LabelEntry]>} entries by their keys
 * @returns {[string, LabelEntry][]}
 */
export function answersFirst(entries) {
  return [...entries].sort(([, entry], [, other]) => Number(Boolean(other.value)) - Number(Boolean(entry.value)));
}

/**
 * The value of an answer as files name it.
 * @param {LabelState} state
 * @returns {string}
 */
export function levelValue({ value, upper }) {
  return upper ? `${value}|${upper}` : value;
}

/**
 * An answer in one line.
 * @param {string | undefined} label of the chosen option
 * @param {LabelState} state
 * @param {string} certaintyWord
 * @returns {string}
 */
export function describe(label, state, certaintyWord) {
  const certainty = state.certainty === null ? "" : `${certaintyWord} ${state.certainty}`;
  return [label, certainty, state.note].filter(Boolean).join(" · ");
}

/**
 * What became of an answer that was sent.
 * @param {import("../../core/server.js").Answer} answer
 * @param {string} question
 * @returns {import("../../core/save_queue.js").SaveResult[] | null}
 */
export function resultsOf({ status, body }, question) {
  // The content is refused and always would be: it would hold up the answers after it.
  const isRefused = NEVER_TAKEN.includes(status) && body?.detail;
  return isRefused ? [{ id: question, status: "refused", detail: body.detail }] : (body?.results ?? null);
}
