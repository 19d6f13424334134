// @ts-check
/* Links with a key of their own: <a data-step="j">. Single keys do nothing while somebody types, or with a modifier. */
import { findAll, targetWithin } from "../../core/page.js";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
  if (targetWithin(event, "input, textarea, select, [contenteditable], dialog[open]")) return;
  const links = findAll(document, "a[data-step]", HTMLAnchorElement);
  const link = links.find((candidate) => candidate.dataset.step === event.key.toLowerCase());
  if (!link) return;
  event.preventDefault();
  link.click();
});
