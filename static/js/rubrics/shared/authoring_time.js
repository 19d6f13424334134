// @ts-check
/* Reports the time that a person works on a case. The page says where: <… data-authoring-time="URL"
   data-activity="write">; without it nothing is counted. */
import { ActiveSeconds } from "../../core/active_seconds.js";
import { token } from "../../core/server.js";

const REPORT_S = 30;
const MIN_LAST_REPORT_S = 5; // less is not worth a request when the tab is left

/**
 * @param {string} url
 * @param {string} activity
 */
function start(url, activity) {
  const time = new ActiveSeconds(Date.now());

  /** @param {number} seconds */
  function send(seconds) {
    // Outlives the page. What was not received because the connection was lost goes with the next report.
    fetch(url, {
      method: "POST",
      keepalive: true,
      credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-CSRFToken": token(), "HX-Request": "true" },
      body: JSON.stringify({ activity, seconds }),
    }).catch(() => time.putBack(seconds));
  }

  /** @param {number} minimum */
  function report(minimum) {
    const seconds = time.take(minimum);
    if (seconds) send(seconds);
  }

  for (const name of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"]) {
    document.addEventListener(name, () => time.touch(Date.now()), { passive: true, capture: true });
  }
  send(0); // starts the server's clock
  setInterval(() => {
    if (time.tick(Date.now(), document.visibilityState === "visible")) report(REPORT_S);
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report(MIN_LAST_REPORT_S);
  });
  window.addEventListener("pagehide", () => report(MIN_LAST_REPORT_S));
}

const timed = document.querySelector("[data-authoring-time]");
if (timed instanceof HTMLElement) start(timed.dataset.authoringTime ?? "", timed.dataset.activity ?? "");
