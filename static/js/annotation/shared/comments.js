// @ts-check
/* The drawer of comments: its button or D opens it, and its thread is fetched then. The page of a thread has the
   thread without a drawer. */
import { htmx } from "../../core/htmx.js";
import { element, optionalElement, targetWithin } from "../../core/page.js";

const drawer = optionalElement("comments", HTMLDialogElement);

function openButton() {
  const button = document.querySelector("[data-comments]");
  return button instanceof HTMLElement ? button : null;
}

function thread() {
  return element("comments-thread", HTMLElement);
}

function field() {
  const comment = drawer?.querySelector("[data-comment]");
  return comment instanceof HTMLTextAreaElement ? comment : null;
}

export async function openComments() {
  const address = openButton()?.dataset.comments;
  if (!drawer || !address || drawer.open) return;
  // A half-written comment on this response stays; a comment on another response must not be sent with this one.
  const kept = drawer.dataset.shown === address ? field()?.value : "";
  drawer.dataset.shown = address;
  thread().replaceChildren();
  drawer.showModal();
  await htmx()?.ajax("GET", address, { target: "#comments-thread", swap: "innerHTML" });
  const comment = field();
  if (comment && kept) comment.value = kept;
}

document.addEventListener("click", (event) => {
  if (targetWithin(event, "[data-comments]")) openComments();
});
document.addEventListener("keydown", (event) => {
  const comment = event.target;
  if (!(comment instanceof HTMLTextAreaElement) || !comment.matches("[data-comment]") || event.isComposing) return;
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
  field()?.focus();
});
