// @ts-check
/* A question to a physician: the answer is sent by a request of its own, so that the page and the choice stay where the
   connection is lost. It is kept in the browser until the server has it, and sent again. The forms work without this
   script. */
import { findAll, optionalElement, targetWithin } from "../../core/page.js";
import { retryDelay } from "../../core/retry_delay.js";
import { SaveStore } from "../../core/save_store.js";
import { ask, session, token } from "../../core/server.js";
import { wordsOf } from "../../core/words.js";
import { fieldsOf, keptAnswer } from "./answer.js";
import "./keys.js";

/** @typedef {import("./answer.js").Kept} Kept */

const text = wordsOf("question-words");
const status = optionalElement("question-status", HTMLElement);
const box = status?.closest("[data-question]");
const question = box?.getAttribute("data-question") ?? "";
const answered = box?.getAttribute("data-answered") ?? "";
const who = document.getElementById("session-ended")?.dataset.who ?? "";
/** @type {SaveStore<any>} */
const store = new SaveStore(() => localStorage, `consilium.question:${who}:`);

/** @type {Kept | null} the answer that the server does not have yet */
let waiting = null;
let sending = false;
let failures = 0; // since the last answer of the server
let leaving = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * @param {string} words empty: nothing to say
 * @param {boolean} [scroll]
 */
function show(words, scroll = false) {
  if (!status) return;
  status.textContent = words;
  status.hidden = !words;
  if (words && scroll) status.scrollIntoView({ block: "center" });
}

/** @param {string} words why the answer was not taken; it does not wait any more */
function drop(words) {
  waiting = null;
  store.remove(question);
  show(words, true);
}

/** @param {Record<string, string>} fields what is wrong, by the name of the field */
function showFields(fields) {
  for (const box of findAll(document, "[data-field]", HTMLElement)) {
    const problem = box.querySelector(".error");
    if (!(problem instanceof HTMLElement)) continue;
    problem.textContent = fields[box.dataset.field ?? ""] ?? "";
    problem.hidden = !problem.textContent;
  }
  const first = findAll(document, "[data-field]", HTMLElement).find((box) => fields[box.dataset.field ?? ""]);
  first?.scrollIntoView({ block: "center" });
  const field = first?.querySelector("input, textarea");
  if (field instanceof HTMLElement) field.focus({ preventScroll: true });
}

/** Mark the chosen button of a form whose answers are buttons. */
function showChoice() {
  const chosen = waiting?.fields.find(([name]) => name === "answer")?.[1];
  if (chosen === undefined) return;
  for (const button of findAll(document, "button[name=answer]", HTMLButtonElement)) {
    button.classList.toggle("primary", button.value === chosen);
    button.setAttribute("aria-pressed", String(button.value === chosen));
  }
}

/** Fill in a kept answer. */
function restore() {
  for (const [name, value] of waiting?.fields ?? []) {
    for (const field of findAll(document, `[name="${name}"]`, HTMLElement)) {
      if (field instanceof HTMLInputElement && ["radio", "checkbox"].includes(field.type))
        field.checked = field.value === value;
      else if (field instanceof HTMLTextAreaElement) field.value = value;
    }
  }
  showChoice();
}

async function send() {
  clearTimeout(timer);
  if (!waiting || sending) return;
  const sent = waiting;
  sending = true;
  const answer = await ask("POST", sent.url, undefined, {
    headers: { Accept: "application/json", "X-CSRFToken": token(), "HX-Request": "true" },
    body: new URLSearchParams(sent.fields),
  });
  sending = false;
  // Another answer was chosen meanwhile: it replaces the one that was sent.
  if (waiting !== sent) await send();
  else await settle(answer);
}

/** @param {import("../../core/server.js").Answer} answer */
async function settle({ status: code, body }) {
  if (code === 200 && body?.next) {
    leaving = true;
    store.remove(question);
    location.assign(body.next);
  } else if (code === 401) {
    show(text("signed_out"), true);
    document.dispatchEvent(new CustomEvent("consilium:signed-out"));
  } else if (body?.fields) {
    drop("");
    showFields(body.fields);
  } else if (code === 422) drop(body?.detail ?? text("failed"));
  else if (code === 404) drop(text("gone"));
  else if (code === 403 && failures === 0) {
    failures += 1; // an old token: asking who is signed in renews it
    await session();
    await send();
  } else if (code === 0 || code >= 500 || code === 429) {
    failures += 1;
    show(text(code ? "error" : "lost"), true);
    timer = setTimeout(send, retryDelay(failures));
  } else drop(text("failed"));
}

document.addEventListener("submit", (event) => {
  const form = targetWithin(event, "[data-question-form]");
  if (!(form instanceof HTMLFormElement) || !status) return;
  event.preventDefault();
  waiting = { url: form.action, fields: fieldsOf(new FormData(form, event.submitter)), answered };
  failures = 0;
  store.put(question, waiting);
  form.closest("dialog")?.close();
  showFields({});
  showChoice();
  send();
});
document.addEventListener("change", (event) => {
  const problem = targetWithin(event, "[data-field]")?.querySelector(".error");
  if (problem instanceof HTMLElement) problem.hidden = true; // it said that the answer is missing
});
window.addEventListener("online", () => send());
document.addEventListener("consilium:signed-in", () => {
  show("");
  send();
});
window.addEventListener("beforeunload", (event) => {
  if (waiting && !leaving) event.preventDefault();
});

/* What an earlier visit could not send. */
waiting = status ? keptAnswer(store.get(question), location.origin) : null;
if (waiting && waiting.answered !== answered) {
  drop(text("newer")); // the same person has answered since, here or on another device
} else if (waiting) {
  restore();
  send();
}
