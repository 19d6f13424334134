// @ts-check
/* The line that says whether all is saved (templates/components/_saved.html). */

/** @typedef {import("./saving_state.js").SavingState} SavingState */

/** @type {Record<SavingState, "waiting" | "saving" | "saved">} */
const SHOWN = {
  offline: "waiting",
  kept: "waiting",
  saving: "saving",
  early: "saving",
  saved: "saved",
  unchanged: "saved",
};

/**
 * @param {HTMLElement | null} box null where the page only shows what is handed in
 * @param {SavingState} state
 * @param {string} text
 */
export function showSaving(box, state, text) {
  if (!box) return;
  const shown = SHOWN[state];
  box.dataset.state = shown;
  box.classList.toggle("offline", shown === "waiting");
  box.classList.toggle("saving", shown === "saving");
  if (box.textContent !== text) box.textContent = text;
}
