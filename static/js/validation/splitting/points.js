// @ts-check
/* The points of a case, as the page keeps and sends them. */

/** @typedef {{ criterion: number, text: string }} Point a statement, and the number of its criterion */

/**
 * The points as text; the same points have the same text, whatever blanks stand around them.
 * @param {Point[]} points
 * @returns {string}
 */
export function inWords(points) {
  return points.map(({ criterion, text }) => `${criterion}. ${text.trim()}`).join("\n");
}

/**
 * Whether both are the same points in the same order.
 * @param {Point[]} one
 * @param {Point[]} other
 */
export function areSame(one, other) {
  const plain = (/** @type {Point[]} */ points) =>
    JSON.stringify(points.map((own) => [own.criterion, own.text.trim()]));
  return plain(one) === plain(other);
}

/**
 * Whether the server would take them: each has a text.
 * @param {Point[]} points
 */
export function areWhole(points) {
  return points.every(({ text }) => text.trim());
}

/**
 * What this browser kept, as points; null where it is malformed.
 * @param {any} kept
 * @returns {Point[] | null}
 */
export function keptPoints(kept) {
  const points = kept?.points;
  if (!Array.isArray(points) || !Number.isInteger(kept.version) || typeof kept.client_id !== "string") return null;
  return points.every((own) => Number.isInteger(own?.criterion) && typeof own.text === "string") ? points : null;
}
