// @ts-check
/* The content of a case: compared, and two versions of it brought together. Nothing here uses the page. */

/**
 * @typedef {{ role: string, content: string }} Turn
 * @typedef {object} Content of a case, as the server stores it
 * @property {string} key
 * @property {Turn[]} conversation
 * @property {string} reference_answer
 * @property {string} difficulty
 * @property {string} register
 * @property {string} language
 * @property {string[]} tags
 * @typedef {Partial<Content>} Part the fields that can be written; where the text is fixed, these are fewer
 * @typedef {keyof Content} FieldName
 */

/** @type {readonly FieldName[]} */
const DESCRIBING_FIELDS = ["difficulty", "register", "language", "tags"];
/** @type {readonly FieldName[]} */
const TEXT_FIELDS = ["key", "conversation", "reference_answer"];

/**
 * What the tags of each field of the form begin with, in the order in which they are saved.
 * @type {Readonly<Record<string, string>>}
 */
export const TAG_KINDS = { themes: "theme:", tasks: "task:", specialties: "specialty:", others: "" };

/**
 * @param {boolean} isFrozen whether the text is fixed, since it is in review or published
 * @returns {readonly FieldName[]}
 */
export function fieldsOf(isFrozen) {
  return isFrozen ? DESCRIBING_FIELDS : [...TEXT_FIELDS, ...DESCRIBING_FIELDS];
}

/**
 * The tags that a field of the form shows.
 * @param {string[]} tags
 * @param {string} kind a key of TAG_KINDS
 * @returns {string[]}
 */
export function tagsOfKind(tags, kind) {
  const others = Object.values(TAG_KINDS).filter(Boolean);
  const prefix = TAG_KINDS[kind];
  return tags.filter((tag) => (prefix ? tag.startsWith(prefix) : !others.some((other) => tag.startsWith(other))));
}

/**
 * Tags in the order in which the form gives them, each once. Their order has no meaning, so it makes no difference
 * between versions.
 * @param {string[]} tags
 * @returns {string[]}
 */
export function sortTags(tags) {
  return [...new Set(Object.keys(TAG_KINDS).flatMap((kind) => tagsOfKind(tags, kind)))];
}

/** @param {string} text with line ends of any kind */
function withNewlines(text) {
  return text.replace(/\r\n?/g, "\n");
}

/**
 * The fields of a content that can be written, in a form that can be compared.
 * @param {Part} content
 * @param {readonly FieldName[]} fields that it has
 * @returns {Part}
 */
export function partOf(content, fields) {
  /** @type {Part} */
  const part = {};
  for (const name of fields) {
    if (name === "tags") part.tags = sortTags(content.tags ?? []);
    else if (name === "conversation") {
      const turns = content.conversation ?? [];
      part.conversation = turns.map((turn) => ({ role: turn.role, content: withNewlines(turn.content) }));
    } else {
      const text = content[name];
      part[name] = typeof text === "string" ? withNewlines(text) : text;
    }
  }
  return part;
}

/**
 * @param {Part} part
 * @param {Part} other
 * @param {FieldName} name
 */
export function isSameField(part, other, name) {
  return JSON.stringify(part[name]) === JSON.stringify(other[name]);
}

/**
 * Whether two contents are the same in these fields.
 * @param {Part} content
 * @param {Part} other
 * @param {readonly FieldName[]} fields
 */
export function isSame(content, other, fields) {
  return JSON.stringify(partOf(content, fields)) === JSON.stringify(partOf(other, fields));
}

/**
 * Whether two contents have the same text, whatever describes them.
 * @param {Part} content
 * @param {Part} other
 */
export function hasSameText(content, other) {
  return TEXT_FIELDS.every((name) => isSameField(content, other, name));
}

/**
 * Fields of one content in place of those of another.
 * @param {Part} content
 * @param {Part} from
 * @param {readonly FieldName[]} names
 * @returns {Part}
 */
export function withFields(content, from, names) {
  return { ...content, ...Object.fromEntries(names.map((name) => [name, from[name]])) };
}

/**
 * Two versions with the same origin: what only one of them changed is taken from it; where both did, mine holds until
 * the person has chosen.
 * @param {Part} base
 * @param {Part} mine
 * @param {Part} theirs
 * @param {readonly FieldName[]} fields
 * @returns {{ merged: Part, conflicts: FieldName[] }}
 */
export function mergeContents(base, mine, theirs, fields) {
  const unchanged = fields.filter((name) => isSameField(mine, base, name));
  const conflicts = fields.filter(
    (name) => !isSameField(mine, theirs, name) && !isSameField(mine, base, name) && !isSameField(theirs, base, name),
  );
  return { merged: withFields(mine, theirs, unchanged), conflicts };
}

/**
 * A place in which two versions differ: a field, or a turn of the conversation.
 * @typedef {{ field: FieldName, turn: number, mine: string, theirs: string }} Difference `turn` counts from 1; 0
 *   where the field is no conversation
 */

/**
 * @param {FieldName[]} conflicts
 * @param {Part} mine
 * @param {Part} theirs
 * @returns {Difference[]}
 */
export function differences(conflicts, mine, theirs) {
  return conflicts.flatMap((field) => {
    if (field === "conversation") return turnDifferences(mine.conversation ?? [], theirs.conversation ?? []);
    /** @param {Part} part */
    const text = (part) => {
      const value = field === "tags" ? part.tags?.join("; ") : part[field];
      return value ?? "";
    };
    return [{ field, turn: 0, mine: text(mine), theirs: text(theirs) }];
  });
}

/**
 * @param {Turn[]} mine
 * @param {Turn[]} theirs
 * @returns {Difference[]}
 */
function turnDifferences(mine, theirs) {
  /** @type {Difference[]} */
  const rows = [];
  for (let place = 0; place < Math.max(mine.length, theirs.length); place += 1) {
    const [own, other] = [mine[place], theirs[place]].map((turn) => turn ?? { role: "", content: "" });
    if (own.content !== other.content || own.role !== other.role) {
      rows.push({ field: "conversation", turn: place + 1, mine: own.content, theirs: other.content });
    }
  }
  return rows;
}

/**
 * A tag field's text as the tags that it holds.
 * @param {string} text
 * @param {boolean} isKnown whether it is a tag that is used already: those may hold a comma; in new ones it ends a tag
 * @returns {string[]}
 */
export function splitTags(text, isKnown) {
  return text
    .split(isKnown ? /[;；\n]/ : /[;；,，、\n]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
}
