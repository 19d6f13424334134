// @ts-check
/* The part of htmx's interface that our scripts use; its own script is loaded before them. */

/**
 * @typedef {{
 *   process: (element: Element) => void,
 *   ajax: (method: string, url: string, options: { target: string, swap: string }) => Promise<void>,
 * }} Htmx
 */

/** @returns {Htmx | undefined} */
export function htmx() {
  return /** @type {Window & { htmx?: Htmx }} */ (window).htmx;
}
