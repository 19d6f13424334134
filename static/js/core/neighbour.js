// @ts-check
/* Moving through a list by keys. */

/**
 * The row `step` places on from `current`, at most the first or the last one; the first one where `current` is not
 * among the rows, and undefined where there are no rows.
 * @template {object} T
 * @param {T[]} rows
 * @param {T | null | undefined} current
 * @param {number} step
 * @returns {T | undefined}
 */
export function neighbour(rows, current, step) {
  const place = current ? rows.indexOf(current) : -1;
  return rows[place < 0 ? 0 : Math.min(Math.max(place + step, 0), rows.length - 1)];
}

/**
 * The next row that fits: first among those after `current`, then among those before it.
 * @template {object} T
 * @param {T[]} rows
 * @param {T | null | undefined} current
 * @param {(row: T) => boolean} fits
 * @returns {T | undefined}
 */
export function nextThatFits(rows, current, fits) {
  const place = current ? rows.indexOf(current) : -1;
  return [...rows.slice(place + 1), ...rows.slice(0, Math.max(place, 0))].find(fits);
}
