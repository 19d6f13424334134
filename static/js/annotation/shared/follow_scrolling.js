// @ts-check
/* In a narrow window the buttons of the bar at the bottom decide the current criterion. So that it is one that can be
   seen, it follows where the list of criteria is scrolled to. */
import { currentRow, select, shownRows } from "./criteria.js";
import { frame, isStacked } from "./panes.js";

let isDue = false;

/**
 * @param {HTMLElement} row
 * @param {{ top: number, bottom: number, height: number }} seen
 * @returns {number} the part of the row that is in view, from 0 to 1; 1 where the row fills the view
 */
function partInView(row, seen) {
  const { top, bottom, height } = row.getBoundingClientRect();
  const part = Math.min(bottom, seen.bottom) - Math.max(top, seen.top);
  return Math.max(0, Math.min(1, part / Math.min(height || 1, seen.height)));
}

/** The first criterion that is wholly in view becomes the current one, where less than half of that is in view. */
function follow() {
  isDue = false;
  const current = currentRow();
  if (!current || current.hidden || document.body.dataset.view !== "criteria" || !isStacked()) return;
  // What is being written belongs to the current criterion.
  if (document.activeElement?.matches("textarea, input") && current.contains(document.activeElement)) return;
  const seen = frame();
  if (partInView(current, seen) >= 0.5) return;
  const parts = shownRows().map((row) => ({ row, part: partInView(row, seen) }));
  const most = Math.max(...parts.map(({ part }) => part));
  if (most > 0) select(parts.find(({ part }) => part === most)?.row, { focus: false, scroll: false });
}

export function startFollowing() {
  window.addEventListener(
    "scroll",
    () => {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(follow);
    },
    { passive: true },
  );
}
