// @ts-check
/* Active time: seconds in which the page is seen and something was done within the last two minutes. */

const IDLE_MS = 120_000;
const MAX_REPORT_S = 3600; // the server takes no more at once

export class ActiveSeconds {
  #sinceReport = 0; // counted since the last report, whether it arrived or not

  /** @param {number} now in milliseconds, as all times here */
  constructor(now) {
    this.seconds = 0;
    this.lastActivity = now;
  }

  /** @param {number} now somebody pressed a key, moved the pointer or scrolled */
  touch(now) {
    this.lastActivity = now;
  }

  /**
   * Called every second.
   * @param {number} now
   * @param {boolean} visible
   * @returns {boolean} whether the second counts
   */
  tick(now, visible) {
    if (!visible || now - this.lastActivity > IDLE_MS) return false;
    this.seconds += 1;
    this.#sinceReport += 1;
    return true;
  }

  /**
   * Whether so many seconds were counted since the last report. Those that were put back do not hasten the next one:
   * without a connection there would be a request every second.
   * @param {number} interval in seconds
   */
  isDue(interval) {
    return this.#sinceReport >= interval;
  }

  /**
   * Takes out what was counted, for a report.
   * @param {number} minimum below this nothing is taken
   * @returns {number} 0 where there is too little for a report
   */
  take(minimum) {
    if (this.seconds < minimum) return 0;
    const counted = Math.min(this.seconds, MAX_REPORT_S);
    this.seconds = 0;
    this.#sinceReport = 0;
    return counted;
  }

  /** @param {number} counted seconds whose report did not arrive: the next report includes them */
  putBack(counted) {
    this.seconds += counted;
  }
}
