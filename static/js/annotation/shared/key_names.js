// @ts-check
/* The name of a pressed key: "m", "shift+m", "ctrl+Enter", "ArrowDown", " ", "shift+ ". */

/**
 * @typedef {Pick<KeyboardEvent, "key" | "code" | "altKey" | "ctrlKey" | "metaKey" | "shiftKey"> &
 *   { getModifierState?: (key: string) => boolean }} Press
 */

/**
 * @param {Press} press
 * @returns {string}
 */
export function keyName(press) {
  let key = press.key;
  // With a Chinese or Cyrillic layout the key types something else; its place on the keyboard is the same.
  if (!/^[\x20-\x7e]$/.test(key) && /^Key[A-Z]$/.test(press.code)) key = press.code.slice(3);
  const isLetter = /^[a-z]$/i.test(key);
  if (isLetter) key = key.toLowerCase();
  const alt = press.altKey || press.getModifierState?.("AltGraph");
  const ctrl = press.ctrlKey || press.metaKey;
  const shift = (isLetter || key === " ") && press.shiftKey;
  return `${ctrl ? "ctrl+" : ""}${alt ? "alt+" : ""}${shift ? "shift+" : ""}${key}`;
}
