// @ts-check
/* Two versions of a case with changes to the same field: they are shown side by side, and the person chooses. */
import { element } from "../../core/page.js";
import { differences } from "./case_content.js";
import { fillIn, form, words } from "./case_state.js";

/**
 * @typedef {import("./case_content.js").FieldName} FieldName
 * @typedef {import("./case_content.js").Part} Part
 */

/**
 * @param {string} text
 * @param {string} heading
 */
function cell(text, heading) {
  const node = document.createElement("div");
  node.append(
    Object.assign(document.createElement("b"), { textContent: heading }),
    Object.assign(document.createElement("span"), {
      textContent: text || words("empty"),
      className: text ? "" : "muted",
    }),
  );
  return node;
}

/**
 * @param {string} field
 * @param {string} value
 * @returns {string} the words for it, where it is one of several that can be chosen
 */
function shownValue(field, value) {
  const select = form.elements.namedItem(field);
  if (!(select instanceof HTMLSelectElement) || !value) return value;
  return [...select.options].find((option) => option.value === value)?.text ?? value;
}

/**
 * @param {FieldName[]} conflicts
 * @param {Part} mine
 * @param {Part} theirs
 */
export function showDifferences(conflicts, mine, theirs) {
  const rows = differences(conflicts, mine, theirs).map((row) => {
    const section = document.createElement("section");
    const label = row.turn ? fillIn(words("turn"), { n: row.turn }) : words(`label_${row.field}`);
    section.append(
      Object.assign(document.createElement("h3"), { textContent: label }),
      cell(shownValue(row.field, row.mine), words("mine")),
      cell(shownValue(row.field, row.theirs), words("theirs")),
    );
    return section;
  });
  element("case-differences", HTMLElement).replaceChildren(...rows);
}
