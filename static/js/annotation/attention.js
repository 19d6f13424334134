/* Time on task: seconds in which the tab is seen and something was done within the last two minutes. */
(() => {
  "use strict";
  const IDLE_MS = 120_000;
  const REPORT_S = 60;
  const LEAST_S = 10; // not worth a request when the tab is left
  const SETTLE_MS = 2000; // who only looks in starts no clock
  let url = "";
  let seconds = 0;
  let last = Date.now();
  let begun = false;
  function send(counted) {
    const to = url;
    const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token, "HX-Request": "true" };
    // Outlives the page. What a lost connection swallowed is told with the next report.
    fetch(to, {
      method: "POST",
      keepalive: true,
      credentials: "same-origin",
      headers,
      body: JSON.stringify({ seconds: counted }),
    }).catch(() => {
      if (to === url) seconds += counted;
    });
  }
  function report(least = 1) {
    if (!begun || seconds < least) return;
    send(Math.min(seconds, 3600));
    seconds = 0;
  }
  let timer = null;
  function start() {
    const next = document.getElementById("work")?.dataset.attentionUrl ?? "";
    if (next === url) return;
    report();
    clearTimeout(timer);
    url = next;
    seconds = 0;
    begun = false;
    if (!url) return;
    timer = setTimeout(() => {
      begun = true;
      send(0); // starts the server's clock
    }, SETTLE_MS);
  }
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"]) {
    document.addEventListener(name, () => (last = Date.now()), { passive: true, capture: true });
  }
  setInterval(() => {
    if (!begun || document.visibilityState !== "visible" || Date.now() - last > IDLE_MS) return;
    seconds += 1;
    if (seconds >= REPORT_S) report();
  }, 1000);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && report(LEAST_S));
  window.addEventListener("pagehide", () => report(LEAST_S));
  document.addEventListener("consilium:sheet", start);
  start();
})();
