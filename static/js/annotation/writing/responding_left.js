// @ts-check
/* Drafts of responses that an earlier visit left in this browser. What can still be saved is saved. For the rest, a box
   shows the text and why it waits, and offers to discard it. */
import { detailOf } from "../../core/save_queue.js";
import { SaveStore } from "../../core/save_store.js";
import { ask } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { draftOf, storageKey } from "./response_text.js";

/**
 * @typedef {import("./response_text.js").KeptDraft} KeptDraft
 * @typedef {import("../../core/server.js").Answer} Answer
 * @typedef {{ task: string, entry: KeptDraft }} Left
 */

/**
 * @param {HTMLElement} box
 * @param {string} who
 */
function start(box, who) {
  const text = wordsOf("drafts-left-words");

  /** @type {SaveStore<KeptDraft>} */
  const store = new SaveStore(() => localStorage, storageKey(who, ""));

  /**
   * @param {Left} left
   * @returns {Promise<Answer>}
   */
  function send({ task, entry }) {
    const url = (box.dataset.save ?? "").replace("TASK", encodeURIComponent(task));
    return ask("POST", url, { who, draft: draftOf(entry) });
  }

  /**
   * @param {Left} left
   * @param {Answer} answer
   */
  function show(left, { status, body }) {
    const notice = document.createElement("div");
    notice.className = "notice warning";
    const line = notice.appendChild(document.createElement("p"));
    line.append(`${text("left")} ${status === 404 ? text("gone") : detailOf(body)} `);
    if (status !== 404) {
      const link = line.appendChild(document.createElement("a"));
      link.href = (box.dataset.page ?? "").replace("TASK", encodeURIComponent(left.task));
      link.textContent = text("open");
    }
    const details = notice.appendChild(document.createElement("details"));
    details.appendChild(document.createElement("summary")).textContent = text("show");
    const draft = details.appendChild(document.createElement("p"));
    draft.className = "kept-text";
    draft.textContent = left.entry.text;
    const button = notice.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = "small";
    button.textContent = text("forget");
    button.addEventListener("click", () => {
      store.drop(left.task, left.entry.client_id);
      notice.remove();
      box.hidden = !box.children.length;
      toast(text("forgotten"));
    });
    box.append(notice);
    box.hidden = false;
  }

  async function look() {
    box.replaceChildren();
    box.hidden = true;
    for (const [task, entry] of Object.entries(store.entries())) {
      const left = { task, entry };
      const answer = await send(left);
      const { status, body } = answer;
      if (status === 200) store.drop(left.task, left.entry.client_id);
      else if (status === 404 || status === 422 || (status === 409 && body?.reason !== "somebody-else")) {
        show(left, answer);
      }
    }
  }

  window.addEventListener("online", look);
  document.addEventListener("consilium:signed-in", look);
  look();
}

const box = document.getElementById("drafts-left");
const who = document.getElementById("outbox")?.dataset.who;
if (box && who) start(box, who);
