// @ts-check
/* A rubric as a list of items, and what can be done with two lists: compared, merged with what somebody else saved,
   restored to an earlier state. Nothing here uses the page. */

/**
 * A passage that a criterion rests on; the words of it, or no words where it is cited as a whole.
 * @typedef {object} Citation
 * @property {string} passage its public id
 * @property {number | null} start in code points of its text
 * @property {number | null} end
 * @property {string} quote
 *
 * @typedef {Citation & { reference: string, address: string, words: string, marks: string[], superseded?: boolean,
 *   gone?: boolean }} Cited
 *   as it is shown; `superseded`: its document has a later edition; `gone`: which lacks the words
 */

/**
 * One criterion, as the server stores it.
 * @typedef {object} Item
 * @property {string} id the browser's name for it, unique within the draft
 * @property {string} text
 * @property {number} points 0 where none are given yet
 * @property {string[]} tags
 * @property {string} source
 * @property {string} element of the case
 * @property {string} expectation
 * @property {string} bank the item of the bank that it was taken from, BANK/KEY
 * @property {Citation[]} citations the passages that it rests on
 * @property {string} suggestion the suggestion that it began as
 * @property {number | null} criterion the stored criterion that it came from
 */

/**
 * What both sides changed; `mine` or `theirs` is null where it was deleted.
 * @typedef {{ id: string, mine: Item | null, theirs: Item | null }} Question
 * @typedef {{ items: Item[], questions: Question[] }} Merged
 */

/** @type {readonly (keyof Omit<Item, "id">)[]} */
const FIELDS = [
  "text",
  "points",
  "tags",
  "source",
  "element",
  "expectation",
  "bank",
  "citations",
  "suggestion",
  "criterion",
];

/** What the tag that gives an item's axis begins with. */
export const AXIS = "axis:";

/** @returns {string} */
export function newItemId() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return `n${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * @param {Partial<Item>} [fields]
 * @returns {Item}
 */
export function newItem(fields = {}) {
  return {
    id: newItemId(),
    text: "",
    points: 0,
    tags: [],
    source: "",
    element: "",
    expectation: "",
    bank: "",
    citations: [],
    suggestion: "",
    criterion: null,
    ...fields,
  };
}

/**
 * @param {Item[]} items
 * @returns {Item[]}
 */
export function copy(items) {
  // An item that an older page kept in the browser has no citations.
  return items.map((item) => ({
    ...item,
    tags: [...item.tags],
    citations: [...(item.citations ?? [])],
    suggestion: item.suggestion ?? "",
  }));
}

/**
 * The same for equal citations only.
 * @param {Citation} citation
 * @returns {string}
 */
export function citationKey({ passage, start, end, quote }) {
  return JSON.stringify(quote ? [passage, start, end, quote] : [passage]);
}

/**
 * The source of an item once it has other citations. A source that is only the reference of a citation that is gone
 * becomes the reference of the first citation; any other source was typed, and stays.
 * @param {Item} item
 * @param {Citation[]} citations those that it has from now on
 * @param {(citation: Citation) => string} referenceOf empty where it is unknown
 * @returns {string}
 */
export function sourceAfter(item, citations, referenceOf) {
  const source = item.source.trim();
  const left = citations.map(referenceOf).filter(Boolean);
  const gone = item.citations.map(referenceOf).filter((reference) => reference && !left.includes(reference));
  return gone.includes(source) ? (left[0] ?? "") : item.source;
}

/**
 * Citations that both sides changed: what either added is there, what either removed is not.
 * @param {Citation[]} base
 * @param {Citation[]} mine
 * @param {Citation[]} theirs
 * @returns {Citation[]}
 */
export function mergeCitations(base, mine, theirs) {
  const [before, own, other] = [base, mine, theirs].map((list) => new Set(list.map(citationKey)));
  const kept = mine.filter((citation) => other.has(citationKey(citation)) || !before.has(citationKey(citation)));
  const added = theirs.filter((citation) => !own.has(citationKey(citation)) && !before.has(citationKey(citation)));
  return [...kept, ...added];
}

/**
 * A field as something that `===` compares.
 * @param {Item} item
 * @param {keyof Item} field
 */
function value(item, field) {
  if (field === "citations") return (item.citations ?? []).map(citationKey).join("\n");
  if (field === "suggestion") return item.suggestion ?? "";
  return field === "tags" ? item.tags.join("\n") : item[field];
}

/**
 * @template {keyof Item} Name
 * @param {Item} from
 * @param {Item} into
 * @param {Name} field
 */
function copyField(from, into, field) {
  into[field] = from[field];
}

/**
 * Whether two items have the same content, whatever their ids.
 * @param {Item} item
 * @param {Item} other
 */
export function same(item, other) {
  return FIELDS.every((field) => value(item, field) === value(other, field));
}

/**
 * @param {Item[]} list
 * @param {Item[]} other
 */
export function sameList(list, other) {
  return (
    list.length === other.length && list.every((item, place) => item.id === other[place].id && same(item, other[place]))
  );
}

/** @param {Item} item */
export function isBlank(item) {
  const texts = [item.text, item.source, item.element, item.expectation];
  return !texts.some((text) => text.trim()) && !item.points && !item.tags.length && !item.citations.length;
}

/** @param {Item} item */
export function axisOf(item) {
  return item.tags.find((tag) => tag.startsWith(AXIS))?.slice(AXIS.length) ?? "";
}

/**
 * @param {Item[]} items
 * @returns {Map<string, Item>}
 */
function byId(items) {
  return new Map(items.map((item) => [item.id, item]));
}

/**
 * Put `item` of `from` into `into` after the nearest item before it that is in both.
 * @param {Item} item
 * @param {Item[]} from
 * @param {Item[]} into
 */
function insertLike(item, from, into) {
  const place = from.findIndex((other) => other.id === item.id);
  for (let before = place - 1; before >= 0; before -= 1) {
    const at = into.findIndex((other) => other.id === from[before].id);
    if (at >= 0) {
      into.splice(at + 1, 0, item);
      return;
    }
  }
  into.unshift(item);
}

/**
 * An item that both sides have, with what only one side changed taken from that side.
 * @param {Item | undefined} base
 * @param {Item} mine
 * @param {Item} theirs
 * @returns {{ item: Item, conflict: boolean }}
 */
function mergeItem(base, mine, theirs) {
  const item = { ...mine };
  let conflict = false;
  for (const field of FIELDS) {
    const [before, own, other] = [base && value(base, field), value(mine, field), value(theirs, field)];
    if (own === other || other === before) continue;
    if (own === before) copyField(theirs, item, field);
    else if (field === "citations") {
      item.citations = mergeCitations(base?.citations ?? [], mine.citations ?? [], theirs.citations);
    } else conflict = true;
  }
  return { item, conflict };
}

/**
 * Three-way merge: what only one side changed is taken from it. Where both changed the same field, or one deleted what
 * the other changed, the merge gives a question. Until it is answered, mine is kept, or theirs where mine is deleted:
 * nothing is lost.
 * @param {Item[]} base
 * @param {Item[]} mine
 * @param {Item[]} theirs
 * @returns {Merged}
 */
export function merge(base, mine, theirs) {
  const [inBase, inMine, inTheirs] = [byId(base), byId(mine), byId(theirs)];
  /** @type {Item[]} */
  const items = [];
  /** @type {Question[]} */
  const questions = [];
  for (const item of mine) {
    const before = inBase.get(item.id);
    const other = inTheirs.get(item.id);
    if (other) {
      const merged = mergeItem(before, item, other);
      items.push(merged.item);
      if (merged.conflict) questions.push({ id: item.id, mine: item, theirs: other });
    } else if (!before) items.push(item);
    else if (!same(before, item)) {
      items.push(item);
      questions.push({ id: item.id, mine: item, theirs: null });
    }
  }
  for (const item of theirs) {
    if (inMine.has(item.id)) continue;
    const before = inBase.get(item.id);
    if (before && same(before, item)) continue; // deleted here, unchanged there
    insertLike(item, theirs, items);
    if (before) questions.push({ id: item.id, mine: null, theirs: item });
  }
  // Their new order is taken where I have not changed mine.
  /** @param {Item[]} list */
  const order = (list) =>
    list
      .filter((item) => inBase.has(item.id))
      .map((item) => item.id)
      .join();
  if (
    !questions.length &&
    order(mine) === order(base.filter((item) => inMine.has(item.id))) &&
    order(theirs) !== order(base.filter((item) => inTheirs.has(item.id)))
  ) {
    const merged = byId(items);
    const sorted = theirs.flatMap((item) => merged.get(item.id) ?? []);
    for (const item of items) if (!inTheirs.has(item.id)) insertLike(item, items, sorted);
    return { items: sorted, questions };
  }
  return { items, questions };
}

/**
 * The list after the questions of a merge are answered.
 * @param {Item[]} items
 * @param {Question[]} questions
 * @param {Record<string, string>} answers id → "mine" or "theirs"
 * @returns {Item[]}
 */
export function applyAnswers(items, questions, answers) {
  return items.flatMap((item) => {
    const question = questions.find((conflict) => conflict.id === item.id);
    if (!question) return [item];
    if (answers[item.id] === "theirs") return question.theirs ?? [];
    return question.mine ? [item] : [];
  });
}

/**
 * Undoes an action that led from `target` to `reached`: what the action did not change stays as it is now.
 * @param {Item[]} target
 * @param {Item[]} reached
 * @param {Item[]} current
 * @returns {Item[]}
 */
export function back(target, reached, current) {
  const [inCurrent, inReached] = [byId(current), byId(reached)];
  /** @type {Item[]} */
  const items = [];
  for (const item of target) {
    const now = inCurrent.get(item.id);
    const after = inReached.get(item.id);
    if (after && !now) continue; // deleted since by somebody else
    if (!now || !after) items.push(item);
    else {
      const restored = { ...now };
      for (const field of FIELDS) if (value(after, field) !== value(item, field)) copyField(item, restored, field);
      restored.citations = mergeCitations(after.citations, now.citations, item.citations);
      items.push(restored);
    }
  }
  const known = new Set([...target, ...reached].map((item) => item.id));
  for (const item of current) if (!known.has(item.id)) insertLike(item, current, items);
  return copy(items);
}

/**
 * As `back`, of an action that others followed: items keep the order in which they are now.
 * @param {Item[]} target
 * @param {Item[]} reached
 * @param {Item[]} current
 * @returns {Item[]}
 */
export function backAlone(target, reached, current) {
  const all = back(target, reached, current);
  const [restored, inCurrent] = [byId(all), byId(current)];
  const items = current.flatMap((item) => restored.get(item.id) ?? []);
  for (const item of all) if (!inCurrent.has(item.id)) insertLike(item, target, items);
  return items;
}

/**
 * One text as two, cut at a place: joints such as “, and” fall away.
 * @param {string} text
 * @param {number} at
 * @returns {[string, string]}
 */
export function cut(text, at) {
  // The Chinese ones: bing qie, yi ji, bing; and at the beginning he and ji, unless a longer word begins with them.
  const english = "and also|and then|as well as|and";
  const [bingQie, yiJi, bing] = [
    "\\u5e76\\u4e14",
    "\\u4ee5\\u53ca",
    "\\u5e76(?![\\u53d1\\u975e\\u4e0d\\u65e0\\u5b58])",
  ];
  const [ji, he] = ["\\u53ca(?![\\u65f6\\u65e9\\u5176])", "\\u548c(?![\\u7f13\\u8c10\\u89e3])"];
  const ending = new RegExp(
    `[\\s,;，；、]*(?:(?:^|\\s)(?:${english})|${bingQie}|${yiJi}|\\u5e76)?[\\s,;，；、]*$`,
    "i",
  );
  const beginning = new RegExp(
    `^[\\s,;.，；。、]*(?:(?:${english})(?![a-z])|${bingQie}|${yiJi}|${bing}|${ji}|${he})?[\\s,;，；、]*`,
    "i",
  );
  const left = text.slice(0, at).replace(ending, "");
  const right = text.slice(at).replace(beginning, "");
  return [left, right.charAt(0).toUpperCase() + right.slice(1)];
}

/**
 * Two items as one.
 * @param {Item} first
 * @param {Item} second
 * @returns {Item}
 */
export function joined(first, second) {
  /**
   * @param {string} text
   * @param {string} other
   */
  const both = (text, other) => (text && other && text !== other ? `${text}; ${other}` : text || other);
  /** @param {string} tag */
  const isAxis = (tag) => tag.startsWith(AXIS);
  const others = first.tags.some(isAxis) ? second.tags.filter((tag) => !isAxis(tag)) : second.tags; // one axis each
  const isChinese = /[\u4e00-\u9fff]/.test(first.text + second.text);
  return {
    ...first,
    text: first.text && second.text ? `${first.text}${isChinese ? "" : " "}${second.text}` : first.text || second.text,
    points: first.points || second.points,
    tags: [...new Set([...first.tags, ...others])],
    source: both(first.source, second.source),
    element: both(first.element, second.element),
    expectation: both(first.expectation, second.expectation),
    bank: first.bank || second.bank,
    citations: mergeCitations([], first.citations, second.citations),
    suggestion: first.suggestion || second.suggestion,
    criterion: first.text ? first.criterion : second.criterion,
  };
}

/**
 * Set the axis of an item, in the place of the one it has.
 * @param {Item} item
 * @param {string} axis none where it is blank
 */
export function setAxis(item, axis) {
  const tag = axis.trim() ? AXIS + axis.trim() : "";
  const place = item.tags.findIndex((other) => other.startsWith(AXIS));
  if (place >= 0) item.tags.splice(place, 1, ...(tag ? [tag] : []));
  else if (tag) item.tags.unshift(tag);
  item.tags = [...new Set(item.tags)];
}

/**
 * Criteria that replace a whole list: one whose text is already there stays the same criterion, with its citations.
 * @param {Item[]} items what is there
 * @param {Item[]} replacements
 * @returns {Item[]}
 */
export function replaceAll(items, replacements) {
  const left = copy(items);
  return replacements.map((item) => {
    const place = left.findIndex((other) => other.text.trim() === item.text);
    if (place < 0) return item;
    const [old] = left.splice(place, 1);
    const citations = item.citations.length ? item.citations : old.citations;
    return { ...item, id: old.id, text: old.text, citations, suggestion: old.suggestion, criterion: old.criterion };
  });
}
