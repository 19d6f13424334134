// @ts-check
/* The page of a case with questions. */
import "./label_page.js";
import "./labels_left.js";
import "../shared/work_time.js";
