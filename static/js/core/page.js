// @ts-check
/* Finding the elements of a page, with their types. */

/**
 * The element with this id. Throws where the page has none: then script and template do not match.
 * @template {Element} T
 * @param {string} id
 * @param {{ new (): T }} type such as HTMLDialogElement
 * @returns {T}
 */
export function element(id, type) {
  const found = document.getElementById(id);
  if (!(found instanceof type)) throw new Error(`The page has no ${type.name} with the id "${id}".`);
  return found;
}

/**
 * The element with this id, where the page has one.
 * @template {Element} T
 * @param {string} id
 * @param {{ new (): T }} type
 * @returns {T | null}
 */
export function optionalElement(id, type) {
  return document.getElementById(id) ? element(id, type) : null;
}

/**
 * The first element inside `root` that fits the selector; there is one.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {{ new (): T }} type
 * @returns {T}
 */
export function find(root, selector, type) {
  const found = root.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`There is no ${type.name} for the selector "${selector}".`);
  return found;
}

/**
 * All elements inside `root` that fit the selector and are of the type.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {{ new (): T }} type
 * @returns {T[]}
 */
export function findAll(root, selector, type) {
  return Array.from(root.querySelectorAll(selector)).flatMap((found) => (found instanceof type ? [found] : []));
}

/**
 * The closest element around the target of an event that fits the selector, the target included.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function targetWithin(event, selector) {
  const target = event.target instanceof Element ? event.target.closest(selector) : null;
  return target instanceof HTMLElement ? target : null;
}

/** True where the person works by touch: keys are not named then. */
export function isTouch() {
  return matchMedia("(pointer: coarse)").matches;
}
