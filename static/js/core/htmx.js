// @ts-check
/* The part of htmx's interface that our scripts use; its own script is loaded before them. */

/**
 * @typedef {{ target: string, swap: string, source?: string }} AjaxOptions `source`: the element that asks
 * @typedef {{
 *   process: (element: Element) => void,
 *   ajax: (method: string, url: string, options: AjaxOptions) => Promise<void>,
 * }} Htmx
 */

/** @returns {Htmx | undefined} */
export function htmx() {
  return /** @type {Window & { htmx?: Htmx }} */ (window).htmx;
}
