// @ts-check

/**
 * A function that does the work once nobody has called it for `wait` milliseconds.
 * @param {() => unknown} work
 * @param {number} wait
 * @returns {() => void}
 */
export function soon(work, wait) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => work(), wait);
  };
}
