// @ts-check
/* The import form shows only the fields that the chosen kind of file takes; without this script it shows all. */
import { findAll } from "../../core/page.js";

const form = document.getElementById("import-form");
const kind = form?.querySelector("[name=kind]");

function showFieldsOfKind() {
  if (!form || !(kind instanceof HTMLSelectElement)) return;
  for (const input of findAll(form, "[data-kinds]", HTMLElement)) {
    const shown = (input.dataset.kinds ?? "").split(" ").includes(kind.value);
    input.closest(".field")?.classList.toggle("not-for-kind", !shown);
    input.toggleAttribute("disabled", !shown);
  }
}

kind?.addEventListener("change", showFieldsOfKind);
showFieldsOfKind();
