// @ts-check
/* The checkbox that ticks all others of a list. */

/**
 * @param {number} ticked how many of the list are ticked
 * @param {number} total how many can be
 * @returns {{ checked: boolean, indeterminate: boolean }} how the checkbox for all of them looks
 */
export function tickOfAll(ticked, total) {
  return { checked: ticked > 0 && ticked === total, indeterminate: ticked > 0 && ticked < total };
}
