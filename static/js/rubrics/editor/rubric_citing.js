// @ts-check
/* Citing: the documents of the benchmark are searched with the words of a criterion, in a drawer beside the list. Enter
   cites a passage, Shift with Enter the words that are selected in it. */
import { find, findAll, optionalElement, targetWithin } from "../../core/page.js";
import { ask, token } from "../../core/server.js";
import { soon } from "../../core/soon.js";
import { toast } from "../../core/toast.js";
import { learn, sourceOf } from "./rubric_cited.js";
import { act, caret, focus } from "./rubric_list.js";
import { citationKey, sourceAfter } from "./rubric_model.js";
import { matchedWords, quoteOf, shareFound } from "./rubric_quotes.js";
import { grow, idOf } from "./rubric_rows.js";
import { findItem, itemOf, limitOf, placeOf, state, words } from "./rubric_state.js";

/**
 * @typedef {import("./rubric_model.js").Citation} Citation
 * @typedef {import("./rubric_history.js").Caret} Caret
 * @typedef {object} Hit a passage that was found
 * @property {string} passage its public id
 * @property {string} text
 * @property {string[]} headings
 * @property {string} reference publisher, title, version, page
 * @property {string[]} marks what speaks against its document
 * @property {[number, number][]} matches start and end of the words of the query in it, in code points
 */

const SEARCH_MS = 250;
const MAX_QUERY = 400;
const MIN_SHARE = 0.5; // of a query: a passage that has less of it is no match

const dialog = optionalElement("beside-documents", HTMLDialogElement);
let targetId = "";
/** @type {Citation | null} */
let replaced = null; // the citation of a superseded edition that gives way to the one that is chosen
/** @type {Caret | null} */
let origin = null; // where the cursor was
let askedFor = ""; // the criterion's words that were searched with
let answered = ""; // the query and the filters of which the passages are shown
/** @type {Hit[]} */
let hits = [];
let isMatch = false; // whether any passage has most of the words of the query
let requests = 0;

/** @param {HTMLDialogElement} drawer */
const queryOf = (drawer) => find(drawer, "[data-query]", HTMLInputElement);
/** @param {HTMLDialogElement} drawer */
const rowsOf = (drawer) => findAll(drawer, "[data-hit]", HTMLElement);

/**
 * The query and the filters, as they are sent.
 * @param {HTMLDialogElement} drawer
 */
function parametersOf(drawer) {
  const parameters = new URLSearchParams();
  for (const [name, value] of new FormData(find(drawer, "form", HTMLFormElement)))
    if (value) parameters.append(name, String(value));
  return parameters.toString();
}

/** Why something could not be read. */
const unread = () => words(navigator.onLine ? "unread" : "no_connection");

/** @param {string} text empty where there is nothing to say */
function say(text) {
  if (dialog) find(dialog, "[data-status]", HTMLElement).textContent = text;
}

/**
 * @param {string} [id] of the criterion; that of the cursor without it
 * @param {Citation | null} [old] the citation to replace: its words are searched for; without it those of the criterion
 */
export async function openCiting(id = idOf(document.activeElement) || state.lastId, old = null) {
  if (!dialog) return;
  const item = findItem(id) ?? state.items.at(-1);
  if (!item) {
    toast(words("cite_first"));
    return;
  }
  targetId = item.id;
  replaced = old;
  origin = caret();
  find(dialog, "[data-for]", HTMLElement).textContent = words("cite_for").replace(
    "NUMBER",
    String(placeOf(item.id) + 1),
  );
  dialog.showModal();
  if (!dialog.dataset.loaded && !(await load(dialog))) return;
  const query = queryOf(dialog);
  const about = (old?.quote || item.text).trim().slice(0, MAX_QUERY);
  if (about !== askedFor) {
    askedFor = about;
    query.value = about;
    answered = "";
  }
  query.focus();
  query.select();
  if (query.value.trim() && answered !== parametersOf(dialog)) search();
}

/**
 * @param {HTMLDialogElement} drawer
 * @returns {Promise<boolean>} whether its content is there
 */
async function load(drawer) {
  const box = find(drawer, "[data-content]", HTMLElement);
  try {
    const answer = await fetch(drawer.dataset.address ?? "", {
      credentials: "same-origin",
      headers: { "X-CSRFToken": token(), "HX-Request": "true" },
    });
    if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    if (!answer.ok) throw new Error(String(answer.status));
    box.innerHTML = await answer.text();
    drawer.dataset.loaded = "1";
    say("");
    return true;
  } catch {
    say(unread());
    return false;
  }
}

async function search() {
  if (!dialog) return;
  const parameters = parametersOf(dialog);
  requests += 1;
  const request = requests;
  if (!queryOf(dialog).value.trim()) {
    show([]);
    say("");
    return;
  }
  say(words("searching"));
  const form = find(dialog, "form", HTMLFormElement);
  const { status, body } = await ask("GET", `${form.dataset.findUrl}?${parameters}`);
  if (request !== requests) return;
  if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  if (status !== 200 || !Array.isArray(body?.hits)) {
    show([]);
    say(body?.detail ?? unread()); // the index may be under construction
    return;
  }
  answered = parameters;
  const query = queryOf(dialog).value;
  const shares = body.hits.map((/** @type {Hit} */ { text, matches }) =>
    shareFound(query, matchedWords(query, text, matches)),
  );
  const passages = body.hits.filter((/** @type {Hit} */ _hit, /** @type {number} */ place) => shares[place] > 0);
  show(passages, query);
  say(hits.length ? "" : words("no_passage"));
  isMatch = Math.max(0, ...shares) >= MIN_SHARE;
  find(dialog, "[data-few-words]", HTMLElement).hidden = !hits.length || isMatch;
}

/**
 * @param {Hit[]} passages
 * @param {string} [query] that found them
 */
function show(passages, query = "") {
  if (!dialog) return;
  hits = passages;
  find(dialog, "[data-few-words]", HTMLElement).hidden = true;
  const template = find(dialog, "template[data-hit-row]", HTMLTemplateElement);
  const rows = hits.map((hit, place) => {
    const node = find(template.content, "[data-hit]", HTMLElement).cloneNode(true);
    if (!(node instanceof HTMLElement)) throw new Error("The template of a passage is not an element.");
    node.dataset.hit = String(place);
    find(node, "[data-reference]", HTMLElement).textContent = hit.reference;
    find(node, "[data-headings]", HTMLElement).textContent = hit.headings.join(" › ");
    showFound(find(node, "[data-found]", HTMLElement), hit, query);
    find(node, "[data-marks]", HTMLElement).replaceChildren(...hit.marks.map(markOf));
    find(node, "a", HTMLAnchorElement).href = addressOf({ passage: hit.passage, start: null, end: null, quote: "" });
    const area = find(node, "textarea", HTMLTextAreaElement);
    area.value = hit.text;
    area.setSelectionRange(0, 0); // Tab leads to the first word, not behind the last
    area.setAttribute("aria-label", words("passage_text").replace("REFERENCE", hit.reference));
    return node;
  });
  find(dialog, "[data-hits]", HTMLElement).replaceChildren(...rows);
  for (const node of rows) grow(find(node, "textarea", HTMLTextAreaElement));
}

/**
 * The words of the query that a passage has: a long query finds passages that share a few of its words only.
 * @param {HTMLElement} line
 * @param {Hit} hit
 * @param {string} query
 */
function showFound(line, hit, query) {
  const text = matchedWords(query, hit.text, hit.matches).join(" · ");
  line.hidden = !text;
  line.textContent = words("words_found").replace("WORDS", () => text);
}

/** @param {string} mark */
function markOf(mark) {
  const badge = document.createElement("span");
  badge.className = "cite-mark";
  badge.textContent = mark;
  return badge;
}

/**
 * The page of a passage, with the quoted words marked.
 * @param {Citation} citation
 */
function addressOf({ passage, start, end, quote }) {
  const form = find(/** @type {HTMLDialogElement} */ (dialog), "form", HTMLFormElement);
  const address = (form.dataset.passageUrl ?? "").replace("PASSAGE", passage);
  return quote ? `${address}?start=${start}&end=${end}` : address;
}

/**
 * @param {number} place of the passage among those found
 * @param {boolean} wordsOnly cite the words that are selected in it
 */
function cite(place, wordsOnly) {
  const hit = hits[place];
  if (!dialog || !hit) return;
  const area = find(rowsOf(dialog)[place], "textarea", HTMLTextAreaElement);
  const quote = wordsOnly ? quoteOf(hit.text, area.selectionStart, area.selectionEnd) : null;
  if (wordsOnly && !quote) {
    say(words("select_words"));
    area.focus();
    return;
  }
  if (quote && [...quote.quote].length > limitOf("maxQuote")) {
    say(words("quote_too_long").replace("NUMBER", String(limitOf("maxQuote"))));
    area.focus();
    return;
  }
  /** @type {Citation} */
  const citation = { passage: hit.passage, start: null, end: null, quote: "", ...quote };
  const item = findItem(targetId);
  const isCited = item?.citations.some((other) => citationKey(other) === citationKey(citation));
  const oldPlace = item && replaced ? item.citations.map(citationKey).indexOf(citationKey(replaced)) : -1;
  if (item && !isCited && oldPlace < 0 && item.citations.length >= limitOf("maxCitations")) {
    say(words("citations_full").replace("NUMBER", String(limitOf("maxCitations"))));
    return;
  }
  const cited = { reference: hit.reference, address: addressOf(citation), words: citation.quote || hit.text };
  learn([{ ...citation, ...cited, marks: hit.marks }]);
  dialog.close();
  if (!item) {
    toast(words("criterion_gone"), "warning");
    return;
  }
  if (isCited && oldPlace >= 0) {
    uncite(item.id, oldPlace); // the passage that replaces it is cited already
    return;
  }
  if (isCited) {
    toast(words("cited_already"));
    return;
  }
  const citations = oldPlace < 0 ? [...item.citations, citation] : item.citations.with(oldPlace, citation);
  const source = sourceAfter(item, citations, sourceOf);
  act((items) => {
    items[placeOf(targetId)] = { ...item, citations, source: source.trim() ? source : sourceOf(citation) };
  });
  toast(words("cited").replace("REFERENCE", hit.reference));
}

/**
 * Cite the same words in the latest edition in place of a superseded one; where it lacks them, search for them.
 * @param {string} id of an item
 * @param {number} place of the citation
 */
export async function citeNewer(id, place) {
  const old = findItem(id)?.citations[place];
  if (!old || !dialog) return;
  const key = citationKey(old);
  const range = old.quote ? `?start=${old.start}&end=${old.end}` : "";
  const { status, body } = await ask("GET", `${dialog.dataset.address}${old.passage}/newer/${range}`);
  const item = findItem(id);
  if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  if (status !== 200 || !item?.citations.some((citation) => citationKey(citation) === key)) {
    if (status !== 200) toast(unread(), "warning");
    return;
  }
  if (!body?.citation) {
    toast(words("newer_lacks"));
    openCiting(id, old);
    return;
  }
  learn([body.citation]);
  const { passage, start, end, quote, reference } = body.citation;
  const citations = item.citations.map((citation) =>
    citationKey(citation) === key ? { passage, start, end, quote } : citation,
  );
  act((items) => {
    items[placeOf(id)] = { ...item, citations, source: sourceAfter(item, citations, sourceOf) };
  });
  toast(words("cited").replace("REFERENCE", reference));
}

/**
 * @param {string} id of an item
 * @param {number} place of the citation that is removed
 */
export function uncite(id, place) {
  const item = itemOf(id);
  const citations = item.citations.filter((_citation, other) => other !== place);
  act((items) => {
    items[placeOf(id)] = { ...item, citations, source: sourceAfter(item, citations, sourceOf) };
  });
  focus(id, "text", item.text.length);
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLDialogElement} drawer
 * @returns {boolean} whether the key did something
 */
function drawerKey(event, drawer) {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (!target || event.ctrlKey || event.metaKey || event.altKey) return false;
  const isQuery = target === drawer.querySelector("[data-query]");
  const row = target.closest("[data-hit]");
  const place = row instanceof HTMLElement ? Number(row.dataset.hit) : -1;
  const isButton = target.matches("button, a, select, summary");
  if (event.key === "Escape")
    drawer.close(); // in a search field the browser would first empty it
  else if (event.key === "Enter" && isQuery) {
    // Before the answer is there, Enter asks for it.
    if (parametersOf(drawer) !== answered || !hits.length) search();
    else if (isMatch) cite(0, event.shiftKey);
    else say(words("choose_passage"));
  } else if (event.key === "Enter" && place >= 0 && !isButton) cite(place, event.shiftKey);
  else if (event.key === "ArrowDown" && (isQuery || target === row)) goTo(drawer, place + 1);
  else if (event.key === "ArrowUp" && target === row) goTo(drawer, place - 1);
  else return false;
  return true;
}

/**
 * @param {HTMLDialogElement} drawer
 * @param {number} place of a passage; before the first is the query
 */
function goTo(drawer, place) {
  if (place < 0) queryOf(drawer).focus();
  else rowsOf(drawer)[Math.min(place, hits.length - 1)]?.focus();
}

if (dialog) {
  const searchSoon = soon(search, SEARCH_MS);
  dialog.addEventListener("input", (event) => {
    if (targetWithin(event, "form")) searchSoon();
  });
  // The texts of passages have a cursor, to select words by keyboard, and cannot be changed.
  dialog.addEventListener("beforeinput", (event) => {
    if (targetWithin(event, "[data-hit]")) event.preventDefault();
  });
  dialog.addEventListener("submit", (event) => event.preventDefault());
  dialog.addEventListener("keydown", (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (drawerKey(event, dialog)) event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    const button = targetWithin(event, "[data-cite]");
    const row = targetWithin(event, "[data-hit]");
    if (button && row) cite(Number(row.dataset.hit), button.dataset.cite === "words");
  });
  dialog.addEventListener("close", () => {
    // Whatever the drawer was closed by, the cursor is back where it was.
    if (origin && findItem(origin.id)) focus(origin.id, origin.name, origin.at);
    else if (findItem(targetId)) focus(targetId);
  });
}
