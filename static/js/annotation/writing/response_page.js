// @ts-check
/* Writing a response: it saves itself, and is handed in only after the author confirms. */
import { element, find, optionalElement } from "../../core/page.js";
import { ask, session } from "../../core/server.js";
import { showPrivacy } from "./response_privacy.js";
import {
  editor,
  leave,
  lengthInWords,
  page,
  queue,
  refuse,
  restore,
  settleStaleSubmission,
  text,
  version,
  who,
  writable,
} from "./response_saving.js";
import { isPreviewing, view } from "./response_view.js";

/**
 * @typedef {{ next: string }} SubmittedBody
 */

const dialog = element("hand-in", HTMLDialogElement);
const form = element("submit-form", HTMLFormElement);
const confirm = element("confirm", HTMLButtonElement);
const refusal = element("hand-in-refused", HTMLElement);
const privacy = element("privacy", HTMLElement);

/** @param {string} detail empty where there is nothing to refuse */
function refuseInDialog(detail) {
  refusal.hidden = !detail;
  find(refusal, "p", HTMLElement).textContent = detail;
}

/* Asks before the response is handed in, and shows what in it may name a real person. */
async function askToSubmit() {
  if (!writable || dialog.open || element("choice", HTMLDialogElement).open) return;
  if (!editor.value.trim()) {
    refuse(text("empty"));
    editor.focus();
    return;
  }
  element("refusal", HTMLElement).replaceChildren();
  refuseInDialog("");
  privacy.hidden = true;
  element("hand-in-count", HTMLElement).textContent = lengthInWords();
  dialog.showModal();
  const { body } = await ask("POST", page.dataset.checkUrl ?? "", { text: editor.value });
  showPrivacy(privacy, body?.privacy ?? []);
}

// Whoever goes on writing comes back to the text, not to its preview.
dialog.addEventListener("close", () => {
  if (writable) view("write");
});

let submitting = false;

async function submit() {
  if (submitting) return;
  submitting = true;
  confirm.setAttribute("aria-busy", "true");
  try {
    refuseInDialog("");
    await queue.flushAll();
    if (queue.pending.size) {
      if (!queue.questions.size) refuseInDialog(text("unsent"));
      return;
    }
    const attested = Boolean(optionalElement("attested", HTMLInputElement)?.checked);
    const answer = await ask("POST", page.dataset.submitUrl ?? "", { who, version, attested });
    if (answer.status === 200) {
      leave();
      /** @type {SubmittedBody} */
      const submitted = answer.body;
      location.assign(submitted.next);
    } else showRefusal(answer);
  } finally {
    submitting = false;
    confirm.removeAttribute("aria-busy");
  }
}

/** @param {import("../../core/server.js").Answer} answer */
function showRefusal(answer) {
  const { status, body } = answer;
  if (body?.results) settleStaleSubmission(answer);
  else if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  else if (body?.reason === "somebody-else") refuseInDialog(text("somebody"));
  else if (status === 404) refuseInDialog(text("gone"));
  else {
    if (status === 403) session();
    refuseInDialog(body?.detail ?? text("failed"));
  }
}

document.getElementById("submit")?.addEventListener("click", askToSubmit);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
document.addEventListener("keydown", (event) => {
  const asking = document.querySelector("dialog[open]");
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (dialog.open) form.requestSubmit();
    else askToSubmit();
  } else if (event.altKey && event.code === "KeyP") {
    event.preventDefault();
    view(isPreviewing() ? "write" : "preview");
  } else if (event.key === "Escape" && isPreviewing() && !asking) view("write");
  else if (event.key === "?" && event.target !== editor && !asking) element("keys", HTMLDialogElement).showModal();
});

restore();
if (writable) editor.focus({ preventScroll: true });
