// @ts-check
/* The turns of a case in its editor: added, removed and put back, moved by buttons, keys and dragging. */
import { element, find, findAll, optionalElement, targetWithin } from "../../core/page.js";
import { fillIn, words } from "./case_state.js";

/**
 * @param {HTMLElement} turns their list
 * @param {() => void} changed is called after every change
 */
export function startTurns(turns, changed) {
  const undo = optionalElement("turn-undo", HTMLElement);
  /** @type {{ item: Element, place: number } | null} */
  let removed = null;

  /** @param {Element} item */
  function textOf(item) {
    return find(item, "textarea", HTMLTextAreaElement);
  }

  /** @returns {import("./case_content.js").Turn[]} */
  function read() {
    return [...turns.children].map((item) => ({
      role: find(item, "select", HTMLSelectElement).value,
      content: textOf(item).value,
    }));
  }

  /** @param {import("./case_content.js").Turn[]} conversation */
  function show(conversation) {
    turns.replaceChildren(...conversation.map(({ role, content }) => newTurn(role, content)));
    number();
  }

  /**
   * @param {string} role
   * @param {string} [content]
   * @returns {Element}
   */
  function newTurn(role, content = "") {
    const pattern = element("turn-pattern", HTMLTemplateElement).content.firstElementChild;
    const item = pattern?.cloneNode(true);
    if (!(item instanceof Element)) throw new Error("The pattern of a turn is empty.");
    const choice = find(item, "select", HTMLSelectElement);
    choice.value = role;
    if (!choice.value) choice.value = "user";
    const text = textOf(item);
    text.value = content;
    const reference = document.querySelector("[name=reference_answer]");
    text.lang = reference instanceof HTMLElement ? reference.lang : "";
    return item;
  }

  function number() {
    [...turns.children].forEach((item, index) => {
      const n = index + 1;
      find(item, ".turn-number", HTMLElement).textContent = String(n);
      for (const button of findAll(item, "button", HTMLButtonElement)) button.value = String(index);
      find(item, "select", HTMLSelectElement).setAttribute("aria-label", fillIn(words("who"), { n }));
      textOf(item).setAttribute("aria-label", fillIn(words("says"), { n }));
    });
    showLastSpeaker();
  }

  /** Candidates answer the patient or user: a remark says so where somebody else speaks last. */
  function showLastSpeaker() {
    const last = turns.lastElementChild?.querySelector("select")?.value ?? "user";
    const remark = document.getElementById("no-question");
    if (remark) remark.hidden = last === "user";
  }

  /**
   * @param {Element} item
   * @param {-1 | 1} by
   */
  function move(item, by) {
    const focused = document.activeElement;
    if (by < 0 && item.previousElementSibling) item.previousElementSibling.before(item);
    else if (by > 0 && item.nextElementSibling) item.nextElementSibling.after(item);
    else return;
    number();
    if (focused instanceof HTMLElement && item.contains(focused)) focused.focus();
    item.scrollIntoView({ block: "nearest" });
    changed();
  }

  /** @param {Element} item */
  function remove(item) {
    const place = [...turns.children].indexOf(item);
    removed = { item, place };
    const beside = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    number();
    if (undo) {
      find(undo, "[data-undo-text]", HTMLElement).textContent = fillIn(words("removed"), { n: place + 1 });
      undo.hidden = false;
    }
    (beside?.querySelector("textarea") ?? element("add-turn", HTMLElement)).focus();
    changed();
  }

  function putBack() {
    if (!removed) return;
    turns.insertBefore(removed.item, turns.children[removed.place] ?? null);
    number();
    textOf(removed.item).focus();
    removed = null;
    if (undo) undo.hidden = true;
    changed();
  }

  function add() {
    const last = turns.lastElementChild?.querySelector("select")?.value;
    const item = newTurn(last === "user" ? "assistant" : "user");
    turns.append(item);
    number();
    textOf(item).focus();
    changed();
  }

  turns.addEventListener("click", (event) => {
    const button = targetWithin(event, "button");
    const item = button?.closest("li");
    if (!(button instanceof HTMLButtonElement) || !item) return;
    event.preventDefault();
    if (button.name === "turn-up") move(item, -1);
    else if (button.name === "turn-down") move(item, 1);
    else remove(item);
  });

  turns.addEventListener("change", showLastSpeaker);

  turns.addEventListener("keydown", (event) => {
    if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
    event.preventDefault();
    const item = targetWithin(event, "li");
    if (item) move(item, event.key === "ArrowUp" ? -1 : 1);
  });

  document.getElementById("add-turn")?.addEventListener("click", (event) => {
    event.preventDefault();
    add();
  });

  undo?.querySelector("button")?.addEventListener("click", putBack);

  /* Dragging by the handle */
  /** @type {Element | null} */
  let dragged = null;

  turns.addEventListener("dragstart", (event) => {
    dragged = targetWithin(event, ".turn-handle")?.closest("li") ?? null;
    if (!dragged || !event.dataTransfer) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", "");
    event.dataTransfer.setDragImage(dragged, 20, 20);
    dragged.classList.add("dragged");
  });

  turns.addEventListener("dragover", (event) => {
    if (!dragged) return;
    event.preventDefault();
    const over = targetWithin(event, "li");
    if (!over || over === dragged) return;
    const box = over.getBoundingClientRect();
    if (event.clientY < box.top + box.height / 2) over.before(dragged);
    else over.after(dragged);
  });

  turns.addEventListener("drop", (event) => event.preventDefault());

  turns.addEventListener("dragend", () => {
    if (!dragged) return;
    dragged.classList.remove("dragged");
    dragged = null;
    number();
    changed();
  });

  return { read, show };
}
