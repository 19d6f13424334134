// @ts-check
/* A double click or double tap on an outcome decides one criterion. After the first press the next criterion is the
   current one, and its buttons may be under the pointer: the second press would change it unread. Keys are not
   affected, however fast they are pressed. */
import { targetWithin } from "../../core/page.js";
import { currentRow, idOf } from "./criteria.js";

const PRESSED = "#criteria [data-row] button, #dock [data-choose]";
const SECOND_WITHIN_MS = 400;
const SAME_PLACE_PX = 40; // two taps of a finger are further apart than two clicks of a mouse

/** The press before. `criterion`: that of the last press that was not ignored. */
const before = { at: Number.NEGATIVE_INFINITY, x: 0, y: 0, criterion: "" };

/** @param {HTMLElement} button */
function criterionOf(button) {
  const row = button.closest("[data-row]") ?? currentRow();
  return row instanceof HTMLElement ? idOf(row) : "";
}

document.addEventListener(
  "click",
  (event) => {
    const button = targetWithin(event, PRESSED);
    if (!button || event.detail === 0) return; // 0: pressed by Enter or space
    const criterion = criterionOf(button);
    const distance = Math.hypot(event.clientX - before.x, event.clientY - before.y);
    const isSecond = event.timeStamp - before.at < SECOND_WITHIN_MS && distance < SAME_PLACE_PX;
    Object.assign(before, { at: event.timeStamp, x: event.clientX, y: event.clientY });
    if (isSecond && criterion !== before.criterion) event.stopImmediatePropagation();
    else before.criterion = criterion;
  },
  true,
);
