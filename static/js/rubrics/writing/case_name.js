// @ts-check
/* The short name of the case at the top of its page: in heading, breadcrumb and title. */
import { findAll } from "../../core/page.js";
import { stored } from "./case_state.js";

const MAX_SHOWN = 60; // in the breadcrumb, as the server shows it

let shown = stored.case.key;

/** @param {string | undefined} key as it is saved; undefined where it cannot change */
export function showName(key) {
  if (!key || key === shown) return;
  document.title = document.title.replace(shown, () => key);
  shown = key;
  const characters = [...key];
  for (const node of findAll(document, "[data-case-name]", HTMLElement)) {
    const isCut = node.dataset.caseName === "short" && characters.length > MAX_SHOWN;
    node.textContent = isCut ? `${characters.slice(0, MAX_SHOWN - 1).join("")}…` : key;
  }
}
