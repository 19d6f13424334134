// @ts-check
/* The drawer of comments: its button or D opens it, and its thread is fetched then. The page of a thread has the
   thread without a drawer. A comment that is being written is kept in the browser, for its author alone, until it is
   sent. */
import { htmx } from "../../core/htmx.js";
import { element, find, findAll, optionalElement, targetWithin } from "../../core/page.js";
import { SaveStore } from "../../core/save_store.js";
import { wordsOf } from "../../core/words.js";

/** @typedef {{ text: string, client_id?: string }} Draft */

const pageText = wordsOf("page-words");
const drawer = optionalElement("comments", HTMLDialogElement);

function openButton() {
  const button = document.querySelector("[data-comments]");
  return button instanceof HTMLElement ? button : null;
}

function thread() {
  return element("comments-thread", HTMLElement);
}

function field() {
  return commentField(document.querySelector("#comments-thread [data-comment]"));
}

/** @param {EventTarget | null} target */
function commentField(target) {
  return target instanceof HTMLTextAreaElement && target.matches("[data-comment]") ? target : null;
}

/* A comment that is not sent yet, by its author and the address of its thread */
/** @type {SaveStore<Draft>} */
const drafts = new SaveStore(() => localStorage, "consilium.comment:");

/** @param {HTMLTextAreaElement} comment */
function draftOf(comment) {
  return `${comment.dataset.comment}:${comment.form?.getAttribute("action")}`;
}

/** @param {HTMLTextAreaElement} comment */
function keepDraft(comment) {
  const text = comment.value;
  if (text.trim()) drafts.put(draftOf(comment), { text });
  else drafts.remove(draftOf(comment));
}

/** @param {HTMLTextAreaElement} comment without words, in a thread that was just fetched */
function takeUpDraft(comment) {
  const draft = drafts.get(draftOf(comment));
  if (!draft) return;
  if (isSent(draft.text)) drafts.remove(draftOf(comment));
  else comment.value ||= draft.text;
}

/**
 * Also true where the answer to the request was lost, or another tab has sent the comment.
 * @param {string} text
 */
function isSent(text) {
  const own = findAll(thread(), ".thread > .own", HTMLElement);
  return own.some((item) => inOneLine(find(item, "p", HTMLElement).textContent) === inOneLine(text));
}

/** @param {string | null} text */
function inOneLine(text) {
  return (text ?? "").replace(/\s+/g, " ").trim();
}

export async function openComments() {
  const address = openButton()?.dataset.comments;
  if (!drawer || !address || drawer.open) return;
  thread().replaceChildren();
  drawer.showModal();
  const fetched = { source: "#comments-thread", target: "#comments-thread", swap: "innerHTML" };
  await htmx()
    ?.ajax("GET", address, fetched)
    .catch(() => {}); // what went wrong is shown in the thread
}

document.addEventListener("click", (event) => {
  if (targetWithin(event, "[data-comments]")) openComments();
});
document.addEventListener("keydown", (event) => {
  const comment = commentField(event.target);
  if (!comment || event.isComposing) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    event.stopPropagation();
    comment.form?.requestSubmit();
  }
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (!(event.target instanceof Element) || event.target.id !== "comments-thread") return;
  const count = thread().querySelectorAll(".thread > li").length;
  const shown = openButton()?.querySelector(".count");
  if (shown) shown.textContent = count ? String(count) : "";
  // The field takes keys from here on. Before, htmx does not know the form, and the browser would send it as a page.
  const comment = field();
  if (!comment) return;
  takeUpDraft(comment);
  comment.focus();
});
/* What went wrong is said in the thread: a toast would be behind the drawer. */
document.addEventListener("htmx:sendError", (event) => showProblem(event, pageText("lost")));
document.addEventListener("htmx:responseError", (event) => {
  // Where the session ended, a dialog asks to sign in again.
  if (event instanceof CustomEvent && event.detail.xhr.status !== 401) showProblem(event, pageText("failed"));
});
document.addEventListener("htmx:afterRequest", (event) => {
  if (event instanceof CustomEvent && event.detail.successful && isInThread(event)) endProblem();
});

/** @param {Event} event of htmx */
function isInThread(event) {
  return targetWithin(event, "#comments-thread") !== null;
}

function endProblem() {
  thread().querySelector("[data-problem]")?.remove();
}

/**
 * @param {Event} event of htmx
 * @param {string} message
 */
function showProblem(event, message) {
  if (!isInThread(event)) return;
  endProblem();
  const notice = document.createElement("div");
  notice.className = "notice error";
  notice.setAttribute("role", "alert");
  notice.dataset.problem = "";
  notice.textContent = message;
  const comment = field();
  if (comment?.form) comment.form.before(notice);
  else thread().append(notice);
}

document.addEventListener("input", (event) => {
  const comment = commentField(event.target);
  if (comment) keepDraft(comment);
});

// The page of a thread has its field from the start.
const first = field();
if (first) takeUpDraft(first);
