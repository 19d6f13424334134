/* Deciding on screened cases from the keyboard: j and k move, Shift+K keeps, X excludes, U undoes, Space chooses.
   Keys are off while somebody types. The forms work without this script. */
(() => {
  "use strict";
  const rows = () => Array.from(document.querySelectorAll("tr[data-row]"));
  const current = () => document.activeElement?.closest?.("tr[data-row]");

  function move(step) {
    const all = rows();
    const at = all.indexOf(current());
    const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  function press(name) {
    const row = current() ?? rows()[0];
    const button = row?.querySelector(`[data-do="${name}"]`);
    if (!button) return;
    if (name === "exclude") {
      button.parentElement.open = true;
      row.querySelector("[name=reason]").focus();
    } else button.click();
  }

  document.addEventListener("keydown", (event) => {
    if (event.target.closest("input:not([type=checkbox]), textarea, select, dialog")) {
      if (event.key === "Escape" && event.target.closest("details.why")) {
        const row = event.target.closest("tr[data-row]");
        event.target.closest("details.why").open = false;
        row.focus();
      }
      // Enter would press the first button of the form, which keeps the case.
      if (event.key === "Enter" && event.target.matches("details.why input")) {
        event.preventDefault();
        event.target.closest(".reason").querySelector("button").click();
      }
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const name = { K: "keep", x: "exclude", X: "exclude", u: "undo", U: "undo" }[event.key];
    if (event.key === "j" || event.key === "J") move(1);
    else if (event.key === "k") move(-1);
    else if (name) press(name);
    else if (event.key === " " && event.target.matches("tr[data-row]")) current().querySelector("[form=bulk]")?.click();
    else return;
    event.preventDefault();
  });

  /* After a decision the next row is the one to look at. */
  document.addEventListener("htmx:afterSwap", (event) => {
    const id = event.detail.target?.id ?? "";
    if (!id.startsWith("case-")) return;
    const row = document.getElementById(id);
    const all = rows();
    (all.slice(all.indexOf(row) + 1).find((one) => !one.dataset.decision) ?? row)?.focus();
  });

  /* Refused by the server, the page would come back without its ticks. */
  document.addEventListener("submit", (event) => {
    if (event.target.id !== "bulk") return;
    const reason = event.target.elements.reason;
    reason.value = reason.value.trim();
    reason.required = event.submitter?.value === "exclude";
    if (!event.target.reportValidity()) event.preventDefault();
  });

  document.addEventListener("change", (event) => {
    if (!event.target.matches("[data-pick-all]")) return;
    document.querySelectorAll("input[form=bulk][name=case]").forEach((box) => {
      box.checked = event.target.checked;
    });
  });
})();
