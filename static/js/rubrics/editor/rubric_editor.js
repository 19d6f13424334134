// @ts-check
/* The page on which a rubric is written. rubric_model.js works on lists, rubric_saving.js saves them, rubric_rows.js
   shows the rows, rubric_list.js has the actions on the list; here are the buttons, and how the page begins. */
import { reportTime } from "../../core/time_reports.js";
import "./rubric_drag.js";
import "./rubric_keys.js";
import { element, find, targetWithin } from "../../core/page.js";
import { toast } from "../../core/toast.js";
import { axisWord } from "./rubric_axes.js";
import { openBank } from "./rubric_bank.js";
import { citeNewer, openCiting, uncite } from "./rubric_citing.js";
import {
  add,
  addIdea,
  dropBlank,
  duplicate,
  focus,
  merge,
  move,
  redo,
  remove,
  render,
  replaceBy,
  saving,
  split,
  step,
  toggleMore,
  undo,
} from "./rubric_list.js";
import { showMissing, showMissingInDialog } from "./rubric_missing.js";
import { AXIS } from "./rubric_model.js";
import { openPaste } from "./rubric_paste.js";
import { lint, lintSoon, remarksOf, selectWords } from "./rubric_remarks.js";
import { field, idOf, list, rowOf } from "./rubric_rows.js";
import { editor, placeOf, remember, remembered, start, state, words } from "./rubric_state.js";
import { dropTag } from "./rubric_tags.js";
import { offer } from "./rubric_typing.js";

const MAX_ITEMS_WITH_OPEN_IDEAS = 12;

reportTime();

/* Clicks */

/** @type {Record<string, (id: string) => unknown>} */
const actions = {
  add: () => add(state.items.at(-1)?.id),
  undo,
  redo,
  split: (id) => split(id, field(rowOf(id), "text").selectionStart ?? 0),
  merge: (id) => merge(id, state.items[placeOf(id) + 1]?.id),
  duplicate,
  up: (id) => move(id, placeOf(id) - 1),
  down: (id) => move(id, placeOf(id) + 1),
  delete: remove,
  cite: (id) => openCiting(id),
  more: (id) => toggleMore(rowOf(id)) && focus(id, "tag"),
};

document.addEventListener("click", (event) => {
  const target = targetWithin(event, "button, [data-span]");
  if (!target) return;
  const id = idOf(target);
  const data = target.dataset;
  if (data.do && actions[data.do]) {
    const menu = target.closest("details[data-menu]");
    if (menu instanceof HTMLDetailsElement) menu.open = false;
    actions[data.do](id);
  } else if (data.step) step(id, Number(data.step));
  else if (data.removeTag) dropTag(id, data.removeTag);
  else if (data.removeCitation) uncite(id, Number(data.removeCitation));
  else if (data.citeNewer) citeNewer(id, Number(data.citeNewer));
  else if (data.fix) {
    const { fix } = remarksOf(id)[Number(data.fix)];
    if (fix) replaceBy(id, fix.texts);
  } else if (data.goto !== undefined) {
    target.closest("dialog")?.close();
    focus(data.goto, data.gotoField ?? "text");
  } else if (data.span) selectWords(id, remarksOf(id)[Number(data.span)]);
  else if (data.stem) addIdea(data.stem, Number(data.points), `${AXIS}${data.axis}`);
  else if ("showCase" in data) target.setAttribute("aria-expanded", String(editor.classList.toggle("with-case")));
  else if (data.open === "bank") openBank();
  else if (data.open === "paste") openPaste();
});

/* Sending to review: what is on the page is saved first, so that reviewers read just that. */
const sendDialog = element("send-dialog", HTMLDialogElement);
const sendForm = element("send-form", HTMLFormElement);
const notSent = element("not-sent", HTMLElement); // why it was not sent, in the dialog: it covers other messages
/** @type {HTMLElement | null} */
let notSentToast = null; // the same once the dialog is closed

/** @param {string} text empty where nothing was refused */
function showNotSent(text) {
  notSentToast?.remove();
  notSentToast = text && !sendDialog.open ? toast(text, "warning") : null;
  notSent.hidden = !text || !sendDialog.open;
  find(notSent, "p", HTMLElement).textContent = text;
}

element("send", HTMLElement).addEventListener("click", async () => {
  showNotSent("");
  dropBlank();
  await saving.save();
  await saving.refresh();
  sendForm.hidden = showMissingInDialog();
  const target = start.rules.target ?? 0;
  const note = element("send-target", HTMLElement);
  note.hidden = state.items.length >= target;
  note.textContent = words("below_target")
    .replace("NUMBER", String(state.items.length))
    .replace("TARGET", String(target));
  if (sendForm.hidden) find(element("send-missing", HTMLElement), "button", HTMLElement).focus();
  else lint();
});

sendForm.addEventListener("submit", async (event) => {
  if (!saving.isDirty()) return;
  event.preventDefault();
  if (await saving.save()) return sendForm.submit();
  showNotSent(words("not_sent"));
  saving.whenSaved(() => showNotSent(words("saved_not_sent")));
});

sendDialog.addEventListener("close", () => {
  if (!notSent.hidden) showNotSent(find(notSent, "p", HTMLElement).textContent ?? "");
});

/**
 * @param {string} id of a part of the page that can be folded
 * @param {boolean} isOpen where this browser does not remember it
 */
function unfold(id, isOpen) {
  const box = element(id, HTMLDetailsElement);
  box.open = remembered(id, isOpen ? "open" : "") === "open";
  find(box, "summary", HTMLElement).addEventListener("click", () => remember(id, box.open ? "folded" : "open"));
}

unfold("guide", state.items.length === 0);
unfold("ideas", state.items.length <= MAX_ITEMS_WITH_OPEN_IDEAS);
list.replaceChildren();
offer("axes", start.axes.map(axisWord));
render();
showMissing(start.missing);
saving.pickUp();
lintSoon(50);
if (state.items.length === 0) find(element("first", HTMLElement), "button", HTMLElement).focus({ preventScroll: true });
// The criterion that a link names, or the first that was found at fault, is scrolled into view.
const named = state.items.find((item) => item.criterion && location.hash === `#criterion-${item.criterion}`);
const faulty = state.items.filter((item) => start.evidence[String(item.criterion)]);
for (const item of faulty) rowOf(item.id).classList.add("to-reword");
const shownFirst = named ?? faulty[0];
if (shownFirst) rowOf(shownFirst.id).scrollIntoView({ block: "center" });
if (named) field(rowOf(named.id), "text").focus({ preventScroll: true });
editor.dataset.ready = "1";
