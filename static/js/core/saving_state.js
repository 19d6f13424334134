// @ts-check
/* What the page says about what was written on it. */

/**
 * @typedef {"offline" | "kept" | "saving" | "early" | "saved" | "unchanged"} SavingState offline: waits for the
 *   connection; kept: waits for something else; early: waits for the answer that it belongs to
 */

/**
 * @param {object} saving
 * @param {number} saving.unsent how many entries the server does not have yet
 * @param {number} [saving.early] how many wait for their answer
 * @param {number} saving.failures since the last save that worked
 * @param {boolean} saving.online
 * @param {boolean} saving.halted nothing is sent any more
 * @param {boolean} saving.asking the person is asked which of two versions holds
 * @param {boolean} saving.saved something was saved before
 * @returns {SavingState}
 */
export function savingState({ unsent, early = 0, failures, online, halted, asking, saved }) {
  const stuck = failures > 0 || !online || halted || asking;
  if (unsent && stuck) return !online || (failures > 0 && !halted) ? "offline" : "kept";
  if (unsent) return "saving";
  if (early) return "early";
  return saved ? "saved" : "unchanged";
}
