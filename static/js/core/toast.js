// @ts-check
/* Short messages at the edge of the page. Errors and warnings stay until they are closed. */
import { wordsOf } from "./words.js";

const SHOWN_MS = 6000;

/** @param {Element} item */
export function expire(item) {
  if (item.classList.contains("error") || item.classList.contains("warning")) return;
  setTimeout(() => item.remove(), SHOWN_MS);
}

/**
 * @param {string} text
 * @param {"info" | "success" | "warning" | "error"} [level]
 */
export function toast(text, level = "info") {
  const box = document.getElementById("toasts");
  if (!box || !text) return;
  const item = document.createElement("div");
  item.className = `toast ${level}`;
  const words = document.createElement("p");
  words.textContent = text;
  const close = document.createElement("button");
  close.type = "button";
  close.dataset.toastClose = "";
  close.setAttribute("aria-label", wordsOf("page-words")("close"));
  close.textContent = "×";
  item.append(words, close);
  box.append(item);
  expire(item);
}
