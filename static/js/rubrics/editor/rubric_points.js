// @ts-check
/* The points of criteria: as they are typed, stepped through, and summed up. */
import { axisOf } from "./rubric_model.js";

/**
 * @typedef {import("./rubric_model.js").Item} Item
 * @typedef {{ only_positive: boolean, lowest: number, highest: number, target?: number }} Rules of the benchmark, for
 *   points
 */

const MAX_POINTS = 10;

/**
 * What is typed into a field of points, with digits of any width.
 * @param {string} value
 * @returns {{ points: number, isRefused: boolean }} no points where the field is empty, has only a sign so far, or is
 *   refused since it holds anything but a whole number from -10 to 10
 */
export function readPoints(value) {
  const text = normalizeDigits(value).trim();
  if (/^[+-]?$/.test(text)) return { points: 0, isRefused: false };
  const points = /^[+-]?\d+$/.test(text) ? Number(text) || 0 : Number.NaN;
  return Math.abs(points) <= MAX_POINTS ? { points, isRefused: false } : { points: 0, isRefused: true };
}

/**
 * Digits and signs of any width as those of ASCII.
 * @param {string} value
 */
export function normalizeDigits(value) {
  return value.normalize("NFKC").replace(/[−–—]/g, "-");
}

/** @param {number} points */
export function showPoints(points) {
  return points ? String(points) : "";
}

/** @param {Rules} rules */
function minPoints(rules) {
  return rules.only_positive ? 1 : rules.lowest;
}

/**
 * The points `by` above or below, never 0, within what the benchmark allows.
 * @param {number} points
 * @param {number} by
 * @param {Rules} rules
 * @returns {number} 0 where there is no such number of points
 */
export function stepPoints(points, by, rules) {
  const next = points + by || by;
  return Math.max(minPoints(rules), Math.min(rules.highest, next));
}

/**
 * @param {number} points
 * @param {Rules} rules
 */
export function inRange(points, rules) {
  return Math.max(minPoints(rules), Math.min(rules.highest, points)) || 1;
}

/**
 * The points of a criterion that is split, shared out so that their sum stays.
 * @param {number} points
 * @param {number} parts how many criteria take its place
 * @returns {number[]} the larger ones first; 0 where there are fewer points than criteria
 */
export function sharePoints(points, parts) {
  const size = Math.abs(points);
  return Array.from({ length: parts }, (_, place) => {
    const share = Math.floor(size / parts) + (place < size % parts ? 1 : 0);
    return share && share * Math.sign(points);
  });
}

/**
 * What the criteria with a text add up to. Each counts for one axis, the first that its tags name, as in rubric sets.
 * @param {Item[]} items
 * @param {string} without what criteria without an axis are counted as
 * @returns {{ count: number, gain: number, lose: number, axes: [string, number][] }} the most frequent axis first
 */
export function totalsOf(items, without) {
  const written = items.filter((item) => item.text.trim());
  /** @type {Map<string, number>} */
  const axes = new Map();
  for (const item of written) {
    const axis = axisOf(item) || without;
    axes.set(axis, (axes.get(axis) ?? 0) + 1);
  }
  /** @param {(points: number) => boolean} fits */
  const sum = (fits) => written.reduce((total, { points }) => (fits(points) ? total + points : total), 0);
  return {
    count: written.length,
    gain: sum((points) => points > 0),
    lose: Math.abs(sum((points) => points < 0)),
    axes: [...axes].sort(([, count], [, other]) => other - count),
  };
}
