// @ts-check
/* The bar at the bottom of a narrow window, for the thumb: the current criterion, its outcomes, whether the response or
   the criteria are shown, and the button that ends the work. In a wide window it is not there. */
import { element, find, findAll, targetWithin } from "../../core/page.js";
import { currentRow, move } from "./criteria.js";
import { signsOfCheck, signsOfSide } from "./dock_signs.js";
import { startFollowing } from "./follow_scrolling.js";
import { showView, startPanes } from "./panes.js";

/**
 * @typedef {object} DockActions what the buttons of the bar do on this page
 * @property {(outcome: string) => unknown} choose for the current criterion
 * @property {() => unknown} undo
 */

const text = () => find(element("dock", HTMLElement), "[data-dock-words]", HTMLElement);

/** Shows the current criterion and its outcome. */
export function showInDock() {
  const row = currentRow();
  const words = row?.querySelector(".words");
  if (!row || !(words instanceof HTMLElement)) return;
  const box = text();
  const label = `${row.dataset.number}. ${words.textContent}`;
  if (box.textContent !== label) {
    box.textContent = label;
    openWords(false);
  }
  showName(row);
  showSides(row);
  showSigns(row);
  box.lang = words.closest("[lang]")?.getAttribute("lang") ?? "";
  for (const button of findAll(element("dock", HTMLElement), "[data-choose]", HTMLButtonElement)) {
    const own = row.querySelector(`[data-set="${button.dataset.choose}"]`);
    button.disabled = !(own instanceof HTMLButtonElement) || own.disabled;
    button.setAttribute("aria-pressed", own?.getAttribute("aria-pressed") ?? "false");
  }
}

/**
 * A long criterion is cut, and a press on it shows it whole.
 * @param {boolean} isOpen
 */
function openWords(isOpen) {
  find(element("dock", HTMLElement), "[data-dock-open]", HTMLElement).setAttribute("aria-expanded", String(isOpen));
}

/**
 * The list shows the current criterion by itself, and the bar then names it: "Criterion 7".
 * @param {HTMLElement} row
 */
function showName(row) {
  const name = find(element("dock", HTMLElement), "[data-dock-name]", HTMLElement);
  const label = (name.dataset.dockName ?? "").replace("NUMBER", row.dataset.number ?? "");
  if (name.textContent !== label) name.textContent = label;
}

/**
 * Whether all is saved, also where the bar at the top scrolls away. Screen readers hear it there.
 * @param {HTMLElement} dock
 */
function repeatSaving(dock) {
  const box = document.getElementById("saved");
  if (!box) return;
  const copy = find(dock, "[data-dock-saved]", HTMLElement);
  function put() {
    copy.className = box?.className ?? "";
    copy.textContent = box?.textContent ?? "";
  }
  new MutationObserver(put).observe(box, { attributes: true, childList: true, characterData: true, subtree: true });
  put();
}

/**
 * What each side decided, where the criterion is in conflict: the response hides the criteria in a narrow window.
 * @param {HTMLElement} row
 */
function showSides(row) {
  const place = find(element("dock", HTMLElement), "[data-dock-sides]", HTMLElement);
  const sides = findAll(row, ".sides > .side", HTMLElement).map(signsOfSide);
  place.replaceChildren(...sides);
  place.hidden = !sides.length;
}

/** @param {HTMLElement} row */
function showSigns(row) {
  const place = find(element("dock", HTMLElement), "[data-dock-signs]", HTMLElement);
  const signs = signsOfCheck(row);
  place.replaceChildren(...signs);
  place.hidden = !signs.length;
}

/** @param {DockActions} actions */
export function startDock(actions) {
  const dock = element("dock", HTMLElement);
  document.body.classList.add("two-views");
  measure(dock);
  // A press on a button would empty the selection before it could be read.
  dock.addEventListener("mousedown", (event) => event.preventDefault());
  dock.addEventListener("click", (event) => {
    const button = targetWithin(event, "button");
    const { choose, step, showView: view, dockOpen } = button?.dataset ?? {};
    if (choose !== undefined) actions.choose(choose);
    else if (step !== undefined) move(Number(step));
    else if (view === "response" || view === "criteria") showView(view);
    else if (dockOpen !== undefined) openWords(button?.getAttribute("aria-expanded") !== "true");
    else if (targetWithin(event, "[data-dock-undo]")) actions.undo();
  });
  repeatSaving(dock);
  startFollowing();
  document.addEventListener("consilium:criterion", showInDock);
  document.addEventListener("consilium:sheet", startPanes);
  startPanes();
  showInDock();
}

/**
 * What scrolls below the bars keeps clear of them.
 * @param {HTMLElement} dock
 */
function measure(dock) {
  const topbar = find(document, ".topbar", HTMLElement);
  const { style } = document.documentElement;
  function put() {
    const isSticky = getComputedStyle(topbar).position === "sticky";
    style.setProperty("--topbar-height", `${isSticky ? topbar.offsetHeight : 0}px`);
    style.setProperty("--dock-height", `${dock.offsetHeight}px`);
  }
  const observer = new ResizeObserver(put);
  observer.observe(dock);
  observer.observe(topbar);
  put();
}
