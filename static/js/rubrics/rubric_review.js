/* Reviewing a rubric from the keyboard; what is typed stays in this browser until it is sent. */
(() => {
  "use strict";
  const form = document.getElementById("review-form");
  if (!form) return;
  const rows = () => Array.from(document.querySelectorAll("[data-review-row]")).filter((row) => !row.hidden);
  const store = `consilium-review-${form.dataset.keep}`;

  /* Moving */
  let current = null;
  function select(row) {
    if (!row) return;
    current?.classList.remove("current");
    current = row;
    row.classList.add("current");
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }
  function move(step) {
    const all = rows();
    const at = all.indexOf(current);
    select(at < 0 ? all[0] : all[Math.max(0, Math.min(all.length - 1, at + step))]);
  }
  form.addEventListener("focusin", (event) => {
    const row = event.target.closest("[data-review-row]");
    if (row && row !== current) {
      current?.classList.remove("current");
      current = row;
      row.classList.add("current");
    }
  });
  function comment() {
    const box = current?.querySelector("details.say");
    if (!box) return;
    box.open = true;
    box.querySelector("textarea").focus();
  }
  // Whoever opens it goes on typing; without the cursor in it each letter would be a key of this page.
  form.addEventListener("click", (event) => {
    const box = event.target.closest("details.say > summary")?.parentElement;
    if (!box || box.open) return;
    event.preventDefault();
    box.open = true;
    box.querySelector("textarea").focus();
  });
  const press = (id) => document.getElementById(id)?.click();
  const actions = {
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    t: comment,
    a: () => press("open-approve"),
    r: () => press("open-return"),
    n: () => press("next-review"),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.closest?.("[data-review-dialog]")) {
      event.preventDefault();
      event.target.form.requestSubmit();
      return;
    }
    if (event.key === "Escape" && typing && form.contains(event.target)) {
      select(event.target.closest("[data-review-row]"));
      return;
    }
    if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  /* Unchanged ones */
  document.getElementById("show-all")?.addEventListener("change", (event) => {
    document.querySelectorAll("[data-review-row][data-same]").forEach((row) => {
      row.hidden = !event.target.checked;
    });
  });

  /* Nothing typed is lost: kept until the server has it */
  const fields = () => [
    ...form.querySelectorAll("textarea"),
    ...document.querySelectorAll("[data-review-dialog] textarea"),
  ];
  const nameOf = (field) => field.id || field.name;
  function keep() {
    const typed = Object.fromEntries(
      fields()
        .filter((field) => field.value)
        .map((field) => [nameOf(field), field.value]),
    );
    try {
      if (Object.keys(typed).length) localStorage.setItem(store, JSON.stringify(typed));
      else localStorage.removeItem(store);
    } catch {
      // A full or closed storage: what is typed stays on the page.
    }
  }
  try {
    const typed = JSON.parse(localStorage.getItem(store) ?? "{}");
    fields().forEach((field) => {
      if (!field.value && typed[nameOf(field)]) {
        field.value = typed[nameOf(field)];
        const box = field.closest("details");
        if (box) box.open = true;
      }
    });
  } catch {
    // Nothing was kept.
  }
  document.addEventListener("input", (event) => {
    if (fields().includes(event.target)) keep();
  });
  /* The dialogs hold the answer as a whole; comments beside criteria go with it. */
  document.querySelectorAll("[data-review-dialog]").forEach((dialog) => {
    dialog.addEventListener("submit", () => {
      form.querySelectorAll("textarea").forEach((field) => {
        if (!field.value.trim()) return;
        const copy = document.createElement("input");
        copy.type = "hidden";
        copy.name = field.name;
        copy.value = field.value;
        dialog.append(copy);
      });
    });
  });
  document.querySelectorAll("dialog[data-open]").forEach((dialog) => {
    dialog.showModal();
  });
})();
