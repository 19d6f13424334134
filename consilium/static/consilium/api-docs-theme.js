"use strict";

// Swagger's dark style needs a class on the page. The theme is the one that was chosen on the pages (theme.js), else the
// system's. It runs before the first paint, so that nothing flashes.
(() => {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    root.classList.toggle("dark-mode", (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark");
  };
  system.addEventListener("change", follow);
  follow();
})();
