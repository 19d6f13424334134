// @ts-check
/* How long a script waits before it tries to save again. */

const FIRST_MS = 500;
// Short, because unsaved work is in one browser only. A hundred pages that wait send 20 requests a second.
const MAX_MS = 5_000;

/**
 * @param {number} failures since the last save that worked
 * @returns {number} milliseconds; none where nothing failed
 */
export function retryDelay(failures) {
  return failures ? Math.min(MAX_MS, FIRST_MS * 2 ** failures) : 0;
}
