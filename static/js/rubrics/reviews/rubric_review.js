// @ts-check
/* Reviewing a rubric from the keyboard; what is typed stays in this browser until it is sent. */
import { neighbour } from "../../core/neighbour.js";
import { element, find, findAll, targetWithin } from "../../core/page.js";
import { reportTime } from "../../core/time_reports.js";

const SPACE = 16; // px below a comment that is written

/** @param {HTMLFormElement} form */
function start(form) {
  startKeys(form);
  startUnchanged();
  startKeeping(form);
  startDialogs(form);
}

/**
 * Moving from row to row, commenting, and the keys of the buttons.
 * @param {HTMLFormElement} form
 */
function startKeys(form) {
  /** @type {HTMLElement | null} */
  let current = null;
  const rows = () => findAll(document, "[data-review-row]", HTMLElement).filter((row) => !row.hidden);

  /** @param {HTMLElement} row */
  function mark(row) {
    current?.classList.remove("current");
    current = row;
    row.classList.add("current");
  }

  /** @param {HTMLElement | null | undefined} row */
  function select(row) {
    if (!row) return;
    mark(row);
    row.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  const move = (/** @type {number} */ step) => select(neighbour(rows(), current, step));

  form.addEventListener("focusin", (event) => {
    const row = targetWithin(event, "[data-review-row]");
    if (row && row !== current) mark(row);
  });

  /** @param {HTMLDetailsElement} box */
  function writeIn(box) {
    box.open = true;
    find(box, "textarea", HTMLTextAreaElement).focus({ preventScroll: true });
    // Above the bar that stays at the bottom of the window, whatever its height.
    const bar = document.querySelector("#criteria-to-review > .decide");
    box.style.scrollMarginBottom = `${(bar?.getBoundingClientRect().height ?? 0) + SPACE}px`;
    box.scrollIntoView({ block: "nearest" });
  }

  function comment() {
    const box = current?.querySelector("details.say");
    if (box instanceof HTMLDetailsElement) writeIn(box);
  }

  // After opening the box people type: without the cursor in it, each letter would be a key of this page.
  form.addEventListener("click", (event) => {
    const box = targetWithin(event, "details.say > summary")?.parentElement;
    if (!(box instanceof HTMLDetailsElement) || box.open) return;
    event.preventDefault();
    writeIn(box);
  });

  const press = (/** @type {string} */ id) => document.getElementById(id)?.click();
  /** @type {Record<string, () => void>} */
  const actions = {
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    t: comment,
    a: () => press("open-approve"),
    r: () => press("open-return"),
    n: () => press("next-review"),
    "?": () => element("keys", HTMLDialogElement).showModal(),
  };

  document.addEventListener("keydown", (event) => {
    const field = targetWithin(event, "input:not([type=checkbox]), textarea, select, [contenteditable]");
    const dialogForm = targetWithin(event, "[data-review-dialog]");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && dialogForm instanceof HTMLFormElement) {
      event.preventDefault();
      dialogForm.requestSubmit();
      return;
    }
    if (event.key === "Escape" && field && form.contains(field)) {
      select(targetWithin(event, "[data-review-row]"));
      return;
    }
    if (field || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

/* The rows that did not change can be hidden. */
function startUnchanged() {
  document.getElementById("show-all")?.addEventListener("change", (event) => {
    const shown = event.target instanceof HTMLInputElement && event.target.checked;
    for (const row of findAll(document, "[data-review-row][data-same]", HTMLElement)) row.hidden = !shown;
    const heading = document.querySelector("[data-unchanged-heading]");
    const isLeft = document.querySelector("[data-unchanged-heading] ~ [data-review-row]:not([data-same])") !== null;
    if (heading instanceof HTMLElement) heading.hidden = !shown && !isLeft;
  });
}

/**
 * Nothing typed is lost: it is kept in this browser until the server has it.
 * @param {HTMLFormElement} form
 */
function startKeeping(form) {
  const storageKey = `consilium-review-${form.dataset.keep}`;
  const fields = () => [
    ...findAll(form, "textarea", HTMLTextAreaElement),
    ...findAll(document, "[data-review-dialog] textarea", HTMLTextAreaElement),
  ];
  const nameOf = (/** @type {HTMLTextAreaElement} */ field) => field.id || field.name;

  function keep() {
    const filled = fields().filter((field) => field.value);
    const typed = Object.fromEntries(filled.map((field) => [nameOf(field), field.value]));
    try {
      if (filled.length) localStorage.setItem(storageKey, JSON.stringify(typed));
      else localStorage.removeItem(storageKey);
      return true;
    } catch {
      return false; // a full or closed storage: what is typed stays on the page
    }
  }

  /**
   * @param {HTMLTextAreaElement} field
   * @param {boolean} isKept
   */
  function showKept(field, isKept) {
    const line = field.parentElement?.querySelector("[data-kept]");
    if (line instanceof HTMLElement) line.hidden = !isKept || !field.value;
  }

  function restore() {
    /** @type {Record<string, string>} */
    const typed = JSON.parse(localStorage.getItem(storageKey) ?? "{}");
    for (const field of fields()) {
      if (field.value || !typed[nameOf(field)]) continue;
      field.value = typed[nameOf(field)];
      showKept(field, true);
      const box = field.closest("details");
      if (box) box.open = true;
    }
  }

  try {
    restore();
  } catch {
    // Nothing was kept.
  }
  document.addEventListener("input", (event) => {
    if (event.target instanceof HTMLTextAreaElement && fields().includes(event.target)) showKept(event.target, keep());
  });
}

/**
 * The forms in the dialogs send the answer as a whole; the comments beside criteria go with it.
 * @param {HTMLFormElement} form
 */
function startDialogs(form) {
  for (const dialogForm of findAll(document, "[data-review-dialog]", HTMLFormElement)) {
    dialogForm.addEventListener("submit", () => {
      for (const field of findAll(form, "textarea", HTMLTextAreaElement)) {
        if (!field.value.trim()) continue;
        const copy = document.createElement("input");
        copy.type = "hidden";
        copy.name = field.name;
        copy.value = field.value;
        dialogForm.append(copy);
      }
    });
  }
  for (const dialog of findAll(document, "dialog[data-open]", HTMLDialogElement)) dialog.showModal();
}

const form = document.getElementById("review-form");
if (form instanceof HTMLFormElement) start(form);

reportTime();
