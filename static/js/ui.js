/* Behaviour shared by all pages. Everything is delegated from the document, so that fragments that htmx swaps in
   work. */
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
  document.querySelectorAll("[data-theme-picker]").forEach((picker) => {
    picker.hidden = false;
  });
  showTheme();

  /* Clicks */
  document.addEventListener("click", (event) => {
    const target = event.target.closest(
      "[data-theme-choice], [data-toast-close], [data-dialog], [data-dialog-close], [data-fill], [data-session-check]",
    );
    document.querySelectorAll("details[data-menu][open]").forEach((menu) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
    if (
      event.target instanceof HTMLDialogElement &&
      event.target.open &&
      event.target.id !== "session-ended" &&
      outside(event)
    )
      event.target.close();
    if (!target) return;
    if (target.dataset.themeChoice) chooseTheme(target.dataset.themeChoice);
    else if ("toastClose" in target.dataset) target.closest(".toast").remove();
    else if (target.dataset.dialog) document.getElementById(target.dataset.dialog)?.showModal();
    else if ("dialogClose" in target.dataset) target.closest("dialog").close();
    else if ("sessionCheck" in target.dataset) resumeSession();
    else if ("fill" in target.dataset) fill(target);
  });
  // Escape for a note that was open when the session ended would close the only way to go on.
  document.getElementById("session-ended")?.addEventListener("cancel", (event) => event.preventDefault());
  function outside(event) {
    const box = event.target.getBoundingClientRect();
    return (
      event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom
    );
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
    if (event.detail.xhr.status === 401) askToSignIn();
    else if (!event.target.closest?.("[data-quiet-errors]")) toast(words.textFailed, "error");
  });
  document.addEventListener("htmx:sendError", (event) => {
    if (!event.target.closest?.("[data-quiet-errors]")) toast(words.textLost, "error");
  });

  /* The session has ended: sign in over the page, which stays as it is and then goes on. */
  const ended = document.getElementById("session-ended");
  function askToSignIn() {
    if (!ended || ended.open) return;
    sayInDialog("");
    ended.showModal();
  }
  function sayInDialog(text) {
    const problem = ended.querySelector("[data-session-problem]");
    problem.textContent = text;
    problem.hidden = !text;
  }
  /* Signing in changes the CSRF token; the page's old one would be refused. */
  function renewToken(token) {
    document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
    document.querySelectorAll("input[name=csrfmiddlewaretoken]").forEach((input) => {
      input.value = token;
    });
  }
  async function currentSession() {
    const answer = await fetch(ended.dataset.session, {
      credentials: "same-origin",
      headers: { Accept: "application/json" },
    });
    const session = await answer.json();
    renewToken(session.csrf_token);
    return session;
  }
  async function resumeSession() {
    try {
      const session = await currentSession();
      if (session.signed_in && session.who !== ended.dataset.who) sayInDialog(ended.dataset.textSomebody);
      else if (session.signed_in) {
        ended.close();
        document.dispatchEvent(new CustomEvent("consilium:signed-in"));
      } else sayInDialog(ended.dataset.textNot);
    } catch {
      sayInDialog(words.textLost); // the dialog stays open
    }
  }
  async function signIn(form) {
    const button = form.querySelector("button.primary");
    button.disabled = true;
    try {
      await currentSession();
      const answer = await fetch(form.getAttribute("action"), {
        method: "POST",
        credentials: "same-origin",
        headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" },
        body: new FormData(form),
      });
      const told = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json() : {};
      if (answer.ok) {
        form.querySelector("[name=password]").value = "";
        await resumeSession();
        // A second step cannot be taken here; the link opens it in a tab of its own.
        if (ended.open && told.location) ended.querySelector("[data-session-elsewhere]").href = told.location;
      } else {
        const fields = Object.values(told.form?.fields ?? {}).flatMap((field) => field.errors);
        sayInDialog([...(told.form?.errors ?? []), ...fields].join(" ") || words.textFailed);
      }
    } catch {
      sayInDialog(words.textLost);
    } finally {
      button.disabled = false;
    }
  }
  document.addEventListener("consilium:signed-out", askToSignIn);
  ended?.addEventListener("submit", (event) => {
    event.preventDefault();
    signIn(event.target);
  });

  window.consilium = Object.assign(window.consilium ?? {}, { toast, renewToken });
})();
