// @ts-check
/* Copies links that are shown only once: one, or all with their people; and saves them as a CSV file. */
import { findAll } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";

const word = wordsOf("copy-words");

for (const button of findAll(document, "[data-copy-link]", HTMLButtonElement)) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const place = button.parentElement?.querySelector("[data-link]");
    if (place instanceof HTMLElement) copy(place.innerText.trim(), place);
  });
}

/** @type {string[] | null} The beginning of each line of the file, up to its link. */
const lines = JSON.parse(document.getElementById("links-csv")?.textContent ?? "null");

for (const button of findAll(document, "[data-copy-all]", HTMLButtonElement)) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const table = document.querySelector("table");
    const texts = findAll(document, "[data-link]", HTMLElement).map((place) => {
      const email = place.closest("tr")?.querySelector("th .sub")?.textContent ?? "";
      return `${email}\t${place.innerText.trim()}`;
    });
    copy(texts.join("\n"), table ?? button);
  });
}

for (const link of findAll(document, "[data-links-csv]", HTMLAnchorElement)) {
  if (lines === null) continue;
  const links = findAll(document, "[data-link]", HTMLElement).map((place) => place.innerText.trim());
  const rows = lines.map((line, i) => `${line}${links[i]}\n`);
  link.hidden = false;
  link.href = URL.createObjectURL(new Blob(["name,email,role,link\n", ...rows], { type: "text/csv;charset=utf-8" }));
  link.download = link.dataset.linksCsv ?? "links.csv";
}

/**
 * @param {string} text
 * @param {HTMLElement} place is selected where the browser does not let a script copy, as without HTTPS
 */
async function copy(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    toast(word("copied"), "success");
  } catch {
    getSelection()?.selectAllChildren(place);
    toast(word("failed"), "warning");
  }
}
