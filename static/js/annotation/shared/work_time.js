// @ts-check
/* Time on task of graders, checkers, adjudicators, labellers and writers. */
import { reportTime } from "../../core/time_reports.js";

// Somebody who only glances at a page has not begun: the server's clock starts with the first report.
reportTime({ settleMs: 2000, reportS: 60, minLastReportS: 10 });
