// @ts-check
/* The import form shows only the fields and examples of the chosen kind of file, and which of these fields the kind
 * requires; without this script it shows all. */
import { findAll } from "../../core/page.js";

const form = document.getElementById("import-form");
const kind = form?.querySelector("[name=kind]");

function showFieldsOfKind() {
  if (!form || !(kind instanceof HTMLSelectElement)) return;
  for (const input of findAll(form, "[data-kinds]", HTMLElement)) {
    const shown = (input.dataset.kinds ?? "").split(" ").includes(kind.value);
    const row = input.closest(".field");
    if (row) {
      row.classList.toggle("not-for-kind", !shown);
      input.toggleAttribute("disabled", !shown);
      const required = (input.dataset.requiredKinds ?? "").split(" ").includes(kind.value);
      input.toggleAttribute("required", required);
      for (const optional of findAll(row, ".optional", HTMLElement)) optional.hidden = required;
    } else {
      input.hidden = !shown;
    }
  }
}

kind?.addEventListener("change", showFieldsOfKind);
showFieldsOfKind();
