/* Behaviour shared by all pages. Everything is delegated from the document, so that fragments that htmx swaps in work. */
(() => {
  "use strict";
  const root = document.documentElement;

  /* Toasts: consilium.toast("Saved", "error") from any script, or the response header HX-Trigger: {"toast": {...}}. */
  function toast(text, level = "info") {
    const box = document.getElementById("toasts");
    if (!box || !text) return;
    const item = document.createElement("div");
    item.className = `toast ${level}`;
    const words = document.createElement("p");
    words.textContent = text;
    const close = document.createElement("button");
    close.type = "button";
    close.dataset.toastClose = "";
    close.setAttribute("aria-label", box.dataset.textClose);
    close.textContent = "×";
    item.append(words, close);
    box.append(item);
    expire(item);
  }
  function expire(item) {
    if (item.classList.contains("error") || item.classList.contains("warning")) return;
    setTimeout(() => item.remove(), 6000);
  }
  document.querySelectorAll(".toasts .toast").forEach(expire);
  document.addEventListener("toast", (event) => toast(event.detail.text ?? event.detail.value, event.detail.level));

  /* Theme */
  function chosenTheme() {
    return root.dataset.theme ?? "system";
  }
  function showTheme() {
    document.querySelectorAll("[data-theme-choice]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosenTheme()));
    });
  }
  function chooseTheme(theme) {
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    try {
      if (theme === "system") localStorage.removeItem("consilium-theme");
      else localStorage.setItem("consilium-theme", theme);
    } catch {
      // Not kept; it holds for this page.
    }
    showTheme();
  }
  document.querySelectorAll("[data-theme-picker]").forEach((picker) => (picker.hidden = false));
  showTheme();

  /* Clicks */
  document.addEventListener("click", (event) => {
    const target = event.target.closest("[data-theme-choice], [data-toast-close], [data-dialog], [data-dialog-close], [data-fill], [data-session-check]");
    document.querySelectorAll("details[data-menu][open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    if (event.target instanceof HTMLDialogElement && event.target.open && outside(event)) event.target.close();
    if (!target) return;
    if (target.dataset.themeChoice) chooseTheme(target.dataset.themeChoice);
    else if ("toastClose" in target.dataset) target.closest(".toast").remove();
    else if (target.dataset.dialog) document.getElementById(target.dataset.dialog)?.showModal();
    else if ("dialogClose" in target.dataset) target.closest("dialog").close();
    else if ("sessionCheck" in target.dataset) resumeSession(target.closest("dialog"));
    else if ("fill" in target.dataset) fill(target);
  });
  function outside(event) {
    const box = event.target.getBoundingClientRect();
    return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
  }
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = document.querySelector("details[data-menu][open]");
    if (!menu) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  /* A button that fills a form: data-fill="FORM_ID" data-fill-login="…" sets the field named login. */
  function fill(button) {
    const form = document.getElementById(button.dataset.fill);
    if (!form) return;
    for (const field of form.elements) {
      const key = `fill${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}`;
      if (field.name && key in button.dataset) field.value = button.dataset[key];
    }
    form.querySelector("[type=submit]")?.focus();
  }

  /* A select or a checkbox that sends its form: data-submit-on-change on the <form>. */
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-file-drop] input[type=file]")) showFiles(event.target);
    else if (event.target.form?.hasAttribute("data-submit-on-change")) event.target.form.requestSubmit();
  });

  /* File drop */
  function showFiles(input) {
    const names = Array.from(input.files, (file) => `${file.name} (${size(file.size)})`);
    const chosen = input.closest("[data-file-drop]").querySelector("[data-file-chosen]");
    if (chosen) chosen.textContent = names.join(", ");
  }
  function size(bytes) {
    if (bytes < 1024) return `${bytes} B`;
    return bytes < 1048576 ? `${(bytes / 1024).toFixed(0)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
  }
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      const zone = event.target.closest?.("[data-file-drop]");
      if (!zone) return;
      event.preventDefault();
      zone.classList.toggle("over", name === "dragover");
      const input = zone.querySelector("input[type=file]");
      if (name !== "drop" || !input || !event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }

  /* htmx: what failed is said; a session that ended opens a dialog instead of swapping a sign-in page into this one. */
  const words = document.getElementById("toasts")?.dataset ?? {};
  document.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    const dialog = document.getElementById("session-ended");
    if (status === 401 && dialog) {
      if (!dialog.open) dialog.showModal();
    } else if (!event.target.closest?.("[data-quiet-errors]")) toast(words.textFailed, "error");
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (!event.target.closest?.("[data-quiet-errors]")) toast(words.textLost, "error");
  });
  async function resumeSession(dialog) {
    const problem = dialog.querySelector("[data-session-problem]");
    try {
      const answer = await fetch(dialog.dataset.session, { credentials: "same-origin", headers: { Accept: "application/json" } });
      const session = await answer.json();
      if (session.signed_in) {
        // Signing in changes the CSRF token; the page's old one would be refused.
        document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": session.csrf_token }));
        document.querySelectorAll("input[name=csrfmiddlewaretoken]").forEach((input) => (input.value = session.csrf_token));
        dialog.close();
        document.dispatchEvent(new CustomEvent("consilium:signed-in"));
        return;
      }
    } catch {
      // Offline: the dialog stays open and says that nothing has changed.
    }
    if (problem) problem.hidden = false;
  }

  window.consilium = Object.assign(window.consilium ?? {}, { toast });
})();
