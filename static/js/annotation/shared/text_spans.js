// @ts-check
/* Spans of the stored response, in code points. The page shows the response in pieces, each of which knows where it
   starts; between two pieces there is markup. */

/**
 * @typedef {{ start: number, characters: string[] }} Piece
 * @typedef {{ start: number, end: number }} Span
 * @typedef {Span & { label?: string, kind: "current" | "other" | "pick" }} Mark
 * @typedef {{ text: string, kind: "" | "current" | "other" | "pick", label: string }} Part `kind` is empty outside of
 *   all marks
 */

/** @type {("pick" | "current")[]} */
const KINDS_ON_TOP = ["pick", "current"];

/**
 * How many code points a text has.
 * @param {string} text
 */
export function codePointCount(text) {
  return Array.from(text).length;
}

/**
 * A part of a piece without the white space at its ends, as a span of the response; null where nothing is left.
 * @param {Piece} piece
 * @param {number} from inside the piece
 * @param {number} to inside the piece
 * @returns {Span | null}
 */
export function trimmedSpan({ start, characters }, from, to) {
  let [first, end] = [from, to];
  while (first < end && /\s/u.test(characters[first])) first += 1;
  while (end > first && /\s/u.test(characters[end - 1])) end -= 1;
  return first < end ? { start: start + first, end: start + end } : null;
}

/**
 * The marks that reach into a piece.
 * @param {Piece} piece
 * @param {Mark[]} marks
 */
export function marksWithin({ start, characters }, marks) {
  return marks.filter((mark) => mark.start < start + characters.length && mark.end > start);
}

/**
 * A piece cut where marks begin and end. A label is on the last part of its mark.
 * @param {Piece} piece
 * @param {Mark[]} marks those that reach into the piece
 * @returns {Part[]}
 */
export function partsOf({ start, characters }, marks) {
  const end = start + characters.length;
  const cuts = [...new Set([start, end, ...marks.flatMap((mark) => [mark.start, mark.end])])]
    .filter((cut) => cut >= start && cut <= end)
    .sort((first, second) => first - second);
  return cuts.slice(0, -1).map((cut, index) => {
    const next = cuts[index + 1];
    const text = characters.slice(cut - start, next - start).join("");
    const covering = marks.filter((mark) => mark.start <= cut && mark.end >= next);
    if (!covering.length) return { text, kind: "", label: "" };
    const kind = KINDS_ON_TOP.find((name) => covering.some((mark) => mark.kind === name)) ?? "other";
    const labels = covering.flatMap((mark) => (mark.end === next && mark.label ? [mark.label] : []));
    return { text, kind, label: [...new Set(labels)].join(", ") };
  });
}

/**
 * The sentences of a line of the response, which may run over several pieces.
 * @param {Piece[]} pieces
 * @returns {Span[]}
 */
export function sentencesOf(pieces) {
  /** @type {Span[]} */
  const sentences = [];
  /** @type {number | null} */
  let start = null;
  let end = 0;
  function close() {
    if (start !== null && end > start) sentences.push({ start, end });
    start = null;
  }
  for (const piece of pieces) {
    piece.characters.forEach((character, index) => {
      const place = piece.start + index;
      const isSpace = /\s/u.test(character);
      if (start === null && isSpace) return;
      if (start === null) start = place;
      if (!isSpace) end = place + 1;
      const next = piece.characters[index + 1] ?? "";
      if (/[。！？；]/u.test(character) || (/[.!?;]/.test(character) && /^\s?$/u.test(next))) close();
    });
  }
  close();
  return sentences;
}

/**
 * The words of a passage as they are read, without the marks of the markup.
 * @param {Piece[]} pieces
 * @param {Span} span
 */
export function quoteOf(pieces, { start, end }) {
  return pieces
    .map((piece) => piece.characters.slice(Math.max(0, start - piece.start), Math.max(0, end - piece.start)).join(""))
    .filter(Boolean)
    .join(" ")
    .replace(/\s+/g, " ");
}
