// @ts-check
/* The page on which a physician writes a response. */
import "./response_page.js";
import "../shared/work_time.js";
