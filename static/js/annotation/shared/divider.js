// @ts-check
/* The line between the two panes, which is moved by mouse, finger or keyboard. Where it was left is kept in this
   browser. */
import { element, targetWithin } from "../../core/page.js";

const KEY = "consilium.split";
const [MIN, MAX, STEP] = [25, 75, 2];
const DEFAULT = 51;

/** @param {number} percent */
function within(percent) {
  return Math.min(MAX, Math.max(MIN, Math.round(percent)));
}

function kept() {
  try {
    return within(Number(localStorage.getItem(KEY) ?? DEFAULT) || DEFAULT);
  } catch {
    return DEFAULT;
  }
}

let percent = kept();

/** Puts the line where it was left: the width of the left pane, in percent of both. */
export function showDivider() {
  document.documentElement.style.setProperty("--split", String(percent));
  document.getElementById("divider")?.setAttribute("aria-valuenow", String(percent));
}

/** @param {number} wanted */
function put(wanted) {
  percent = within(wanted);
  showDivider();
}

function keep() {
  try {
    localStorage.setItem(KEY, String(percent));
  } catch {
    // It holds for this page.
  }
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
  if (!targetWithin(event, "#divider") || event.ctrlKey || event.metaKey || event.altKey) return;
  const wanted = {
    ArrowLeft: percent - STEP,
    ArrowRight: percent + STEP,
    Home: MIN,
    End: MAX,
    Enter: DEFAULT,
  }[event.key];
  if (wanted === undefined) return;
  event.preventDefault();
  put(wanted);
  keep();
}

// Before the keys of the page, which leave a key alone that was used: Home and End would select a criterion as well.
document.addEventListener("keydown", moveByKey, { capture: true });

document.addEventListener("pointerdown", (event) => {
  const divider = targetWithin(event, "#divider");
  if (!divider || event.button !== 0) return;
  event.preventDefault(); // selects no text on the way
  divider.focus({ preventScroll: true });
  divider.setPointerCapture(event.pointerId);
});
document.addEventListener("pointermove", (event) => {
  const divider = targetWithin(event, "#divider");
  if (!divider?.hasPointerCapture(event.pointerId)) return;
  const { left, width } = element("work", HTMLElement).getBoundingClientRect();
  put((100 * (event.clientX - left)) / width);
});
document.addEventListener("lostpointercapture", (event) => targetWithin(event, "#divider") && keep());
document.addEventListener("dblclick", (event) => {
  if (!targetWithin(event, "#divider")) return;
  put(DEFAULT);
  keep();
});
document.addEventListener("consilium:sheet", showDivider);
showDivider();
