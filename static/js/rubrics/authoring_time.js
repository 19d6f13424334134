/* Time on a case: seconds in which the tab is seen and something was done within the last two minutes.
   The page says where to tell it: <… data-authoring-time="URL" data-activity="write">. */
(() => {
  "use strict";
  const place = document.querySelector("[data-authoring-time]");
  if (!place) return;
  const IDLE_MS = 120_000;
  const REPORT_S = 30;
  const LEAST_S = 5; // not worth a request when the tab is left
  let seconds = 0;
  let last = Date.now();
  function send(counted) {
    const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
    const headers = { "Content-Type": "application/json", "X-CSRFToken": token, "HX-Request": "true" };
    const body = JSON.stringify({ activity: place.dataset.activity, seconds: counted });
    // Outlives the page. What a lost connection swallowed is told with the next report.
    fetch(place.dataset.authoringTime, {
      method: "POST",
      keepalive: true,
      credentials: "same-origin",
      headers,
      body,
    }).catch(() => {
      seconds += counted;
    });
  }
  function report(least) {
    if (seconds < least) return;
    const counted = Math.min(seconds, 3600);
    seconds = 0;
    send(counted);
  }
  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"]) {
    document.addEventListener(name, () => (last = Date.now()), { passive: true, capture: true });
  }
  send(0); // starts the server's clock
  setInterval(() => {
    if (document.visibilityState !== "visible" || Date.now() - last > IDLE_MS) return;
    seconds += 1;
    report(REPORT_S);
  }, 1000);
  document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && report(LEAST_S));
  window.addEventListener("pagehide", () => report(LEAST_S));
})();
