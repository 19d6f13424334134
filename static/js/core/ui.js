// @ts-check
/* Behaviour shared by all pages. Everything is delegated from the document, so that fragments that htmx swaps in
   work. */
import { find, findAll, targetWithin } from "./page.js";
import { renewToken, token } from "./server.js";
import { expire, toast } from "./toast.js";
import { resumeOffer } from "./undo_offer.js";
import { wordsOf } from "./words.js";

const root = document.documentElement;
const text = wordsOf("page-words");

/* Toasts: toast("Saved", "error") from any script, or the response header HX-Trigger: {"toast": {...}}. */
for (const item of findAll(document, ".toasts .toast", HTMLElement)) expire(item);
resumeOffer();
document.addEventListener("toast", (event) => {
  if (event instanceof CustomEvent) toast(event.detail.text ?? event.detail.value, event.detail.level);
});

/* The errors beside a field (components/field_notes.html) are about the value that was sent: they are hidden while the
   field has another one that the browser finds valid. */
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
  const errors = target.id ? document.getElementById(`${target.id}_error`) : null;
  if (!errors?.matches("ul.errors")) return;
  if (!errors.children.length) {
    target.removeAttribute("aria-invalid"); // a place for errors, which a preview fills and empties
    return;
  }
  const isChanged = target.value !== target.defaultValue && target.validity.valid;
  errors.hidden = isChanged;
  if (isChanged) target.removeAttribute("aria-invalid");
  else target.setAttribute("aria-invalid", "true");
});

/* Theme */
function chosenTheme() {
  return root.dataset.theme ?? "system";
}

function showTheme() {
  for (const button of findAll(document, "[data-theme-choice]", HTMLElement)) {
    button.setAttribute("aria-pressed", String(button.dataset.themeChoice === chosenTheme()));
  }
}

/** @param {string} theme */
function chooseTheme(theme) {
  if (theme === "system") delete root.dataset.theme;
  else root.dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem("consilium-theme");
    else localStorage.setItem("consilium-theme", theme);
  } catch {
    // Not stored; it holds for this page.
  }
  showTheme();
}

for (const picker of findAll(document, "[data-theme-picker]", HTMLElement)) picker.hidden = false;
showTheme();

/* Clicks */
const CLICKED =
  "[data-theme-choice], [data-toast-close], [data-dialog], [data-dialog-close], [data-fill], [data-session-check]";

/**
 * @param {string} id
 * @returns {HTMLDialogElement | null}
 */
function dialogOf(id) {
  const dialog = document.getElementById(id);
  return dialog instanceof HTMLDialogElement ? dialog : null;
}

/** @param {MouseEvent} event on the dialog itself: on its backdrop, or on its own border */
function isOutside(event) {
  const dialog = event.target;
  if (!(dialog instanceof HTMLDialogElement) || !dialog.open || dialog === ended || dialog === stepMissing)
    return false;
  const box = dialog.getBoundingClientRect();
  return event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
}

document.addEventListener("click", (event) => {
  const target = targetWithin(event, CLICKED);
  for (const menu of findAll(document, "details[data-menu][open]", HTMLDetailsElement)) {
    if (!(event.target instanceof Node && menu.contains(event.target))) menu.open = false;
  }
  if (event.target instanceof HTMLDialogElement && isOutside(event)) event.target.close();
  if (!target) return;
  if (target.dataset.themeChoice) chooseTheme(target.dataset.themeChoice);
  else if ("toastClose" in target.dataset) target.closest(".toast")?.remove();
  else if (target.dataset.dialog) dialogOf(target.dataset.dialog)?.showModal();
  else if ("dialogClose" in target.dataset) target.closest("dialog")?.close();
  else if ("sessionCheck" in target.dataset) resumeSession();
  else if ("fill" in target.dataset) fill(target);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details[data-menu][open]");
  if (!(menu instanceof HTMLDetailsElement)) return;
  menu.open = false;
  menu.querySelector("summary")?.focus();
});

/**
 * A button that fills a form: data-fill="FORM_ID" data-fill-login="…" sets the field named login.
 * @param {HTMLElement} button
 */
function fill(button) {
  const form = document.getElementById(button.dataset.fill ?? "");
  if (!(form instanceof HTMLFormElement)) return;
  for (const field of form.elements) {
    if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement) || !field.name) continue;
    const value = button.dataset[`fill${field.name.charAt(0).toUpperCase()}${field.name.slice(1)}`];
    if (value !== undefined) field.value = value;
  }
  const submit = form.querySelector("[type=submit]");
  if (submit instanceof HTMLElement) submit.focus();
}

/* A select or a checkbox that sends its form: data-submit-on-change on the <form>. */
document.addEventListener("change", (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement && field.matches("[data-file-drop] input[type=file]")) showFiles(field);
  else if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) {
    if (field.form?.hasAttribute("data-submit-on-change")) field.form.requestSubmit();
  }
});

/* File drop */

/** @param {HTMLInputElement} input */
function showFiles(input) {
  const names = Array.from(input.files ?? [], (file) => `${file.name} (${size(file.size)})`);
  const chosen = input.closest("[data-file-drop]")?.querySelector("[data-file-chosen]");
  if (chosen) chosen.textContent = names.join(", ");
}

/** @param {number} bytes */
function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1048576 ? `${(bytes / 1024).toFixed(0)} KB` : `${(bytes / 1048576).toFixed(1)} MB`;
}

/** @param {DragEvent} event */
function dragOrDrop(event) {
  const zone = targetWithin(event, "[data-file-drop]");
  if (!zone) return;
  event.preventDefault();
  zone.classList.toggle("over", event.type === "dragover");
  const input = zone.querySelector("input[type=file]");
  if (event.type !== "drop" || !(input instanceof HTMLInputElement) || !event.dataTransfer?.files.length) return;
  input.files = event.dataTransfer.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
}

document.addEventListener("dragover", dragOrDrop);
document.addEventListener("dragleave", dragOrDrop);
document.addEventListener("drop", dragOrDrop);

/* htmx: an error is shown; a session that ended opens a dialog instead of swapping a sign-in page into this one. */
document.addEventListener("htmx:responseError", (event) => {
  if (!(event instanceof CustomEvent)) return;
  if (event.detail.xhr.status === 401) askToSignIn();
  else if (!targetWithin(event, "[data-quiet-errors]")) toast(text("failed"), "error");
});
/** @type {{ message: HTMLElement | null, request: string }} the last request that was lost, and the message about it */
const lost = { message: null, request: "" };
/** @param {CustomEvent} event of htmx */
const requestOf = ({ detail }) => `${detail.requestConfig?.verb} ${detail.requestConfig?.path}`;
document.addEventListener("htmx:sendError", (event) => {
  if (!(event instanceof CustomEvent) || targetWithin(event, "[data-quiet-errors]")) return;
  lost.message?.remove();
  Object.assign(lost, { message: toast(text("lost"), "error"), request: requestOf(event) });
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event instanceof CustomEvent && event.detail.successful && requestOf(event) === lost.request)
    lost.message?.remove();
});

/* The session has ended, or a second step for signing in is demanded from now on: a dialog over the page, which stays
   as it is and then goes on. */
const ended = dialogOf("session-ended");
const stepMissing = dialogOf("second-step-missing");
// Escape for a note that was open when the session ended would close the only way to go on.
for (const dialog of [ended, stepMissing]) dialog?.addEventListener("cancel", (event) => event.preventDefault());

async function askToSignIn() {
  if (!ended || ended.open || stepMissing?.open) return;
  showProblem("");
  try {
    const session = await currentSession();
    if (session.signed_in && session.who === ended.dataset.who && session.second_step_missing) {
      if (!ended.open && !stepMissing?.open) stepMissing?.showModal();
      return;
    }
  } catch {
    // The dialog that follows says when the server cannot be asked.
  }
  if (!ended.open) ended.showModal();
}

/** @param {string} message empty where there is none */
function showProblem(message) {
  for (const dialog of [ended, stepMissing]) {
    if (!dialog) continue;
    const problem = find(dialog, "[data-session-problem]", HTMLElement);
    problem.textContent = message;
    problem.hidden = !message;
  }
}

/** @returns {Promise<import("./server.js").Session>} throws where the server cannot be asked */
async function currentSession() {
  const answer = await fetch(ended?.dataset.session ?? "", {
    credentials: "same-origin",
    headers: { Accept: "application/json" },
  });
  const session = await answer.json();
  renewToken(session.csrf_token);
  return session;
}

async function resumeSession() {
  const sessionText = wordsOf("session-words");
  try {
    const session = await currentSession();
    if (session.signed_in && session.who !== ended?.dataset.who) showProblem(sessionText("somebody"));
    else if (session.signed_in && session.second_step_missing && stepMissing?.open) {
      showProblem(sessionText("no_second_step"));
    } else if (session.signed_in) {
      ended?.close();
      stepMissing?.close();
      document.dispatchEvent(new CustomEvent("consilium:signed-in"));
    } else showProblem(sessionText("not_yet"));
  } catch {
    showProblem(text("lost")); // the dialog stays open
  }
}

/** Sign out who is signed in to this browser instead of the person of this page. */
async function signOut() {
  await fetch(ended?.dataset.signOut ?? "", {
    method: "POST",
    credentials: "same-origin",
    headers: { "X-CSRFToken": token() },
  });
  await currentSession(); // renews the token
}

/** @param {HTMLFormElement} form */
async function signIn(form) {
  const button = find(form, "button.primary", HTMLButtonElement);
  button.disabled = true;
  try {
    const session = await currentSession();
    if (session.signed_in && session.who !== ended?.dataset.who) await signOut();
    const answer = await fetch(form.getAttribute("action") ?? "", {
      method: "POST",
      credentials: "same-origin",
      headers: { Accept: "application/json", "X-Requested-With": "XMLHttpRequest" },
      body: new FormData(form),
    });
    const isJson = answer.headers.get("Content-Type")?.startsWith("application/json");
    const body = isJson ? await answer.json() : {};
    if (answer.ok) {
      find(form, "[name=password]", HTMLInputElement).value = "";
      await resumeSession();
      // A second step cannot be taken here; the link opens it in a tab of its own.
      if (ended?.open && body.location) {
        find(ended, "[data-session-elsewhere]", HTMLAnchorElement).href = body.location;
      }
    } else {
      const fields = Object.values(body.form?.fields ?? {}).flatMap((field) => field.errors);
      showProblem([...(body.form?.errors ?? []), ...fields].join(" ") || text("failed"));
    }
  } catch {
    showProblem(text("lost"));
  } finally {
    button.disabled = false;
  }
}

document.addEventListener("consilium:signed-out", askToSignIn);
ended?.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target instanceof HTMLFormElement) signIn(event.target);
});
