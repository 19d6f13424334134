// @ts-check
/* Reports the active time of a person at a piece of work. The page says where to:
   <… data-time-url="URL" data-activity="write">; without it nothing is counted. */
import { ActiveSeconds } from "./active_seconds.js";
import { ask, session } from "./server.js";

/**
 * @typedef {object} Pace
 * @property {number} [settleMs] how long a piece of work is on the page before its time counts
 * @property {number} [reportS] after how many active seconds a report is sent
 * @property {number} [minLastReportS] less is not worth a request when the page is left
 *
 * @typedef {object} Work a piece of work on the page
 * @property {string} url
 * @property {string | undefined} activity sent along where the page names one
 * @property {ActiveSeconds} time
 * @property {boolean} begun whether its time counts by now
 */

const ACTIVITY_EVENTS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"];

/** @returns {HTMLDialogElement | null} the dialog that asks to sign in again */
function sessionDialog() {
  const dialog = document.getElementById("session-ended");
  return dialog instanceof HTMLDialogElement ? dialog : null;
}

/**
 * Begin to measure; called once by each page whose work takes time. `consilium:sheet` says that another piece of work
 * is on the page.
 * @param {Pace} [pace]
 */
export function reportTime({ settleMs = 0, reportS = 30, minLastReportS = 5 } = {}) {
  /** @type {Work | null} */
  let work = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isSignedIn = true; // false once a report was refused: then the server is asked who is signed in

  async function isAuthorSignedIn() {
    const current = await session();
    return Boolean(current?.signed_in) && current?.who === sessionDialog()?.dataset.who;
  }

  /**
   * @param {Work} of
   * @param {number} seconds
   */
  async function send(of, seconds) {
    const body = of.activity === undefined ? { seconds } : { activity: of.activity, seconds };
    // keepalive: the request outlives the page
    const post = async () => (await ask("POST", of.url, body, { keepalive: true })).status;
    let status = isSignedIn || (await isAuthorSignedIn()) ? await post() : 401;
    // The CSRF token of the page is refused after signing in again in another tab; asking for the session renews it.
    if (status === 403) status = (await isAuthorSignedIn()) ? await post() : 401;
    isSignedIn = status !== 401;
    // No connection, signed out, or a fault of the server: the next report has these seconds.
    if (status === 0 || status === 401 || status >= 500) of.time.putBack(seconds);
  }

  /** @param {number} minimum */
  function report(minimum) {
    // While the person signs in again, the token of the page is the old one.
    if (!work?.begun || sessionDialog()?.open) return;
    const seconds = work.time.take(minimum);
    if (seconds) send(work, seconds);
  }

  /** @param {Work} of */
  function begin(of) {
    if (work !== of) return;
    if (sessionDialog()?.open) {
      // Whoever is signed in meanwhile may be somebody else, to whom this work does not exist.
      document.addEventListener("consilium:signed-in", () => begin(of), { once: true });
      return;
    }
    of.begun = true;
    send(of, 0); // starts the server's clock
  }

  function start() {
    const place = document.querySelector("[data-time-url]");
    const { timeUrl = "", activity } = place instanceof HTMLElement ? place.dataset : {};
    if (timeUrl === (work?.url ?? "")) return;
    report(1); // the seconds counted so far belong to the work before
    clearTimeout(timer);
    work = null;
    if (!timeUrl) return;
    const next = { url: timeUrl, activity, time: new ActiveSeconds(Date.now()), begun: false };
    work = next;
    if (settleMs) timer = setTimeout(() => begin(next), settleMs);
    else begin(next);
  }

  for (const name of ACTIVITY_EVENTS) {
    document.addEventListener(name, () => work?.time.touch(Date.now()), { passive: true, capture: true });
  }
  setInterval(() => {
    if (!work?.begun) return;
    const counts = work.time.tick(Date.now(), document.visibilityState === "visible");
    if (counts && work.time.isDue(reportS)) report(1);
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") report(minLastReportS);
  });
  window.addEventListener("pagehide", () => report(minLastReportS));
  document.addEventListener("consilium:signed-in", () => {
    isSignedIn = true;
  });
  document.addEventListener("consilium:sheet", start);
  start();
}
