// @ts-check
/* The import form shows only the fields and examples of the chosen kind of file, and which of these fields the kind
 * requires; without this script it shows all. A table is always previewed first: then *Preview* is the one button. */
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
  showButtons();
}

function showButtons() {
  const importing = form?.querySelector("[data-import]");
  const previewing = form?.querySelector("button[name=preview]");
  const file = form?.querySelector("input[type=file]");
  if (!(importing instanceof HTMLElement) || !(previewing instanceof HTMLElement)) return;
  const name = file instanceof HTMLInputElement ? (file.files?.[0]?.name ?? "") : "";
  const previewedFirst = !previewing.hidden && /\.(csv|tsv|xlsx)$/i.test(name);
  importing.hidden = previewedFirst;
  previewing.classList.toggle("primary", previewedFirst);
}

form?.querySelector("input[type=file]")?.addEventListener("change", showButtons);
kind?.addEventListener("change", showFieldsOfKind);
showFieldsOfKind();
