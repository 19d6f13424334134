// @ts-check
/* What is shown of the citations of the list: the reference, where it leads, and whether the document is out of date.
   The server gives it with a draft, and with each passage that it finds. */
import { citationKey } from "./rubric_model.js";
import { start, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Citation} Citation
 * @typedef {import("./rubric_model.js").Cited} Cited
 */

const MAX_SOURCE = 2000;

/** @type {Map<string, Cited>} */
const known = new Map();

/** @param {Cited[] | undefined} cited */
export function learn(cited) {
  for (const entry of cited ?? []) known.set(citationKey(entry), entry);
}

/**
 * The reference of a citation as it is filled in as a source; empty where it is unknown.
 * @param {Citation} citation
 */
export function sourceOf(citation) {
  return (known.get(citationKey(citation))?.reference ?? "").slice(0, MAX_SOURCE).trim();
}

/**
 * @param {import("./rubric_model.js").Item[]} items
 * @returns {boolean} whether nothing is known of a citation in them
 */
export function hasUnknown(items) {
  return items.some((item) => item.citations.some((citation) => !known.has(citationKey(citation))));
}

/**
 * @param {import("./rubric_model.js").Item} item
 * @returns {boolean} whether it is known to cite an edition that a later one supersedes
 */
export function citesSuperseded(item) {
  return item.citations.some((citation) => known.get(citationKey(citation))?.superseded);
}

/**
 * A citation as a chip, with a button that removes it.
 * @param {Citation} citation
 * @param {number} place among the citations of its item
 * @returns {HTMLElement}
 */
function chip(citation, place) {
  const cited = known.get(citationKey(citation));
  const reference = cited?.reference ?? (citation.quote || words("passage"));
  const box = document.createElement("span");
  box.className = cited?.marks.length ? "cite is-dated" : "cite";
  const name = document.createElement(cited ? "a" : "span");
  name.textContent = reference;
  if (cited && name instanceof HTMLAnchorElement) {
    name.href = cited.address;
    name.title = cited.words;
    name.target = "_blank"; // what is being written stays open
    name.rel = "noopener";
  }
  box.append(name);
  const marks = [...(cited?.marks ?? []), ...(cited?.gone ? [words("latest_lacks")] : [])];
  for (const mark of marks) {
    const badge = document.createElement("span");
    badge.className = "cite-mark";
    badge.textContent = mark;
    box.append(badge);
  }
  if (cited?.superseded) {
    const newer = document.createElement("button");
    newer.type = "button";
    newer.className = "plain small";
    newer.dataset.citeNewer = String(place);
    newer.textContent = words("cite_newer");
    newer.setAttribute("aria-label", `${words("cite_newer")}: ${reference}`);
    box.append(newer);
  }
  const remove = document.createElement("button");
  remove.type = "button";
  remove.dataset.removeCitation = String(place);
  remove.setAttribute("aria-label", words("uncite").replace("REFERENCE", reference));
  remove.textContent = "×";
  box.append(remove);
  return box;
}

/**
 * Show the citations of an item in its row.
 * @param {HTMLElement} box
 * @param {Citation[]} citations
 */
export function showCitations(box, citations) {
  const shown = JSON.stringify(citations.map((citation) => known.get(citationKey(citation)) ?? citation));
  if (box.dataset.shown === shown) return;
  box.dataset.shown = shown;
  box.hidden = citations.length === 0;
  box.replaceChildren(...citations.map(chip));
}

learn(start.cited);
