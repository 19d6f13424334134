/* Links with a key of their own: <a data-step="j">. Single keys do nothing while one types, or with a modifier. */
(() => {
  "use strict";
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return;
    if (event.target.closest("input, textarea, select, [contenteditable], dialog[open]")) return;
    const link = Array.from(document.querySelectorAll("a[data-step]")).find(
      (one) => one.dataset.step === event.key.toLowerCase(),
    );
    if (!link) return;
    event.preventDefault();
    link.click();
  });
})();
