// @ts-check
/* Runs before the first paint, so that a chosen theme does not flash: a classic script, for modules run later. Without
   a choice the system decides. */
(() => {
  try {
    const theme = localStorage.getItem("consilium-theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    // Storage is refused (private windows of some browsers): the system's theme is used.
  }
})();
