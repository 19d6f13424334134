// @ts-check
/* Two versions of one decision: the person chooses which one holds. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { wordsOf } from "../../core/words.js";
import { rowOf } from "../shared/criteria.js";
import { queue } from "./grading_sheet.js";
import { summarise } from "./grading_status.js";
import { show } from "../shared/rows.js";
import { inWords } from "../shared/unsent.js";

const text = wordsOf("grading-words");

/** The dialog of the page; called once, when the queue is there. */
export function startAsking() {
  return startConflicts({
    queue,
    describe: (id, entry, current) => ({
      changed: text("changed").replace("NUMBER", rowOf(id)?.dataset.number ?? ""),
      theirs: `${inWords(/** @type {any} */ (current))} · ${current.at}`,
      mine: inWords(/** @type {any} */ (entry)),
    }),
    onChosen: (id, current, { keepsMine }) => {
      const row = rowOf(id);
      if (row && !keepsMine) show(row, /** @type {any} */ (current));
      summarise();
    },
  });
}
