// @ts-check
/* The state of suggestions as it follows from the list of criteria on the page, and their order. Nothing here uses the
   page. */
import { axisOf } from "../../rubrics/editor/rubric_model.js";

/**
 * @typedef {import("../../rubrics/editor/rubric_model.js").Item} Item
 * @typedef {import("../../rubrics/editor/rubric_model.js").Cited} Cited
 * @typedef {"open" | "accepted" | "edited" | "rejected"} State
 * @typedef {{ state: State, aside: boolean, reason: number | null }} Decision
 * @typedef {Decision & { id: string, item: Item, cited: Cited[] }} Known a suggestion as the server gave it
 */

/** @param {string} text */
const plain = (text) => text.normalize("NFC").split(/\s+/).filter(Boolean).join(" ");

/**
 * Whether a criterion says and weighs what the suggestion does; one without an axis has no other axis.
 * @param {Item} item
 * @param {Item} suggested
 */
export function isUnchanged(item, suggested) {
  return (
    plain(item.text) === plain(suggested.text) &&
    item.points === suggested.points &&
    ["", axisOf(suggested)].includes(axisOf(item))
  );
}

/**
 * @param {Known} known
 * @param {Item[]} items the list on the page
 * @param {Decision | undefined} decision what was decided here since
 * @returns {Decision}
 */
export function stateOf(known, items, decision) {
  const criteria = items.filter((item) => item.suggestion === known.id);
  if (criteria.length) {
    const isKept = criteria.some((item) => isUnchanged(item, known.item));
    return { state: isKept ? "accepted" : "edited", aside: false, reason: null };
  }
  if (decision) return decision;
  if (isTaken(known.state)) return { state: "rejected", aside: false, reason: null }; // removed here or elsewhere
  return { state: known.state, aside: known.aside, reason: known.reason };
}

/** @param {State} state */
export function isTaken(state) {
  return state === "accepted" || state === "edited";
}

/**
 * The undecided ones in the order in which they are shown: with a source, put aside, without a source.
 * @param {Known[]} suggestions in the order of the server
 * @param {(id: string) => Decision} decisionOf
 * @returns {string[]}
 */
export function undecided(suggestions, decisionOf) {
  /** @param {Known} known */
  const rank = (known) => (known.item.citations.length ? (decisionOf(known.id).aside ? 1 : 0) : 2);
  return suggestions
    .filter(({ id }) => decisionOf(id).state === "open")
    .map((known, place) => ({ known, place }))
    .sort((one, other) => rank(one.known) - rank(other.known) || one.place - other.place)
    .map(({ known }) => known.id);
}

/**
 * Where to go after a decision: the next undecided one that is not put aside, else the first of those, else any.
 * @param {string[]} order the undecided ones before the decision
 * @param {string} id the one that was decided on
 * @param {(id: string) => Decision} decisionOf after it
 * @returns {string} empty where all are decided
 */
export function nextAfter(order, id, decisionOf) {
  const place = order.indexOf(id);
  const round = [...order.slice(place + 1), ...order.slice(0, Math.max(place, 0))];
  const open = round.filter((other) => decisionOf(other).state === "open");
  return open.find((other) => !decisionOf(other).aside) ?? open[0] ?? "";
}
