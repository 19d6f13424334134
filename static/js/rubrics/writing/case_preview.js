// @ts-check
/* Beside the form of a case: its preview, and the places of words that may name a person. */
import { element, findAll, targetWithin } from "../../core/page.js";
import { token } from "../../core/server.js";
import { soon } from "../../core/soon.js";
import { toast } from "../../core/toast.js";
import { editor, words } from "./case_state.js";

const PREVIEW_MS = 500;

/** @type {Readonly<Record<string, string>>} where each part of a case is in the form */
const PLACES = {
  key: "#case-key",
  reference: "#reference-answer",
  tags: ".tag-field input",
  conversation: "#turns textarea",
};

/**
 * @param {() => import("./case_content.js").Part} read
 * @returns {() => void} to be called after every change
 */
export function startPreview(read) {
  const pane = document.getElementById("preview");
  if (!pane) return () => {};
  let requests = 0;

  return soon(async () => {
    requests += 1;
    const request = requests;
    const { conversation, reference_answer, language } = read();
    try {
      const answer = await fetch(editor.dataset.preview ?? "", {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token(), "HX-Request": "true" },
        body: JSON.stringify({ conversation, reference_answer, language }),
      });
      const html = await answer.text();
      if (answer.ok && request === requests) pane.innerHTML = html;
    } catch {
      // The next change requests it again.
    }
  }, PREVIEW_MS);
}

/** @param {HTMLElement} button of a finding */
function goToWords(button) {
  const { findPart = "", findNumber, findQuote = "" } = button.dataset;
  const inputs = findAll(document, PLACES[findPart], HTMLElement).filter(
    (input) => input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement,
  );
  const area = [inputs[Number(findNumber) - 1], ...inputs].find((input) => input?.value.includes(findQuote));
  if (!area) {
    toast(words("nowhere"));
    return;
  }
  const start = area.value.indexOf(findQuote);
  area.focus();
  area.setSelectionRange(start, start + findQuote.length);
  area.scrollIntoView({ block: "center" });
}

element("privacy", HTMLElement).addEventListener("click", (event) => {
  const button = targetWithin(event, "[data-find-part]");
  if (button) goToWords(button);
});
