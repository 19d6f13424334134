// @ts-check
/* Time on task: seconds in which the tab is seen and something was done within the last two minutes. */
import { token } from "../../core/server.js";

const IDLE_MS = 120_000;
const REPORT_S = 60;
const MAX_REPORT_S = 3600;
const MIN_LEAVING_S = 10; // less is not worth a request when the tab is left
const SETTLE_MS = 2000; // who only looks in starts no clock

let url = "";
let seconds = 0;
let lastActive = Date.now();
let begun = false;
/** @type {number | undefined} */
let timer;

/** @param {number} counted */
function send(counted) {
  const address = url;
  // Outlives the page. What a lost connection swallowed goes with the next report.
  fetch(address, {
    method: "POST",
    keepalive: true,
    credentials: "same-origin",
    headers: { "Content-Type": "application/json", "X-CSRFToken": token(), "HX-Request": "true" },
    body: JSON.stringify({ seconds: counted }),
  }).catch(() => {
    if (address === url) seconds += counted;
  });
}

function report(min = 1) {
  if (!begun || seconds < min) return;
  send(Math.min(seconds, MAX_REPORT_S));
  seconds = 0;
}

/** A new sheet, or a new page: what was counted belongs to the one before. */
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
  document.addEventListener(
    name,
    () => {
      lastActive = Date.now();
    },
    { passive: true, capture: true },
  );
}
setInterval(() => {
  if (!begun || document.visibilityState !== "visible" || Date.now() - lastActive > IDLE_MS) return;
  seconds += 1;
  if (seconds >= REPORT_S) report();
}, 1000);
document.addEventListener("visibilitychange", () => document.visibilityState === "hidden" && report(MIN_LEAVING_S));
window.addEventListener("pagehide", () => report(MIN_LEAVING_S));
document.addEventListener("consilium:sheet", start);
start();
