// @ts-check
/* The points of a case: edited, added, removed, moved to another criterion. The page saves itself. */
import { startConflicts } from "../../core/conflict_dialog.js";
import { element, find, findAll, targetWithin } from "../../core/page.js";
import { detailOf, SaveQueue } from "../../core/save_queue.js";
import { showSaving } from "../../core/save_status.js";
import { SaveStore } from "../../core/save_store.js";
import { save } from "../../core/server.js";
import { toast } from "../../core/toast.js";
import { wordsOf } from "../../core/words.js";
import { areSame, areWhole, inWords, keptPoints } from "./points.js";

/** @typedef {import("./points.js").Point} Point */

const WAIT_MS = 600; // between a keystroke and its saving

const form = element("points", HTMLFormElement);
const template = element("point", HTMLTemplateElement);
const savedBox = element("saving", HTMLElement);
const words = wordsOf("points-words");
const id = form.dataset.case ?? "";
const who = form.dataset.who ?? "";
let version = Number(form.dataset.version);

/* The page as points, and back */

const lists = () => findAll(form, "[data-points]", HTMLOListElement);

/** @param {Element} list */
const numberOf = (list) => Number(list.closest("section")?.dataset.criterion);

/** @returns {Point[]} in the order of the criteria */
function read() {
  return lists().flatMap((list) =>
    findAll(list, "textarea", HTMLTextAreaElement).map(({ value }) => ({ criterion: numberOf(list), text: value })),
  );
}

/** @param {Point[]} points */
function write(points) {
  for (const list of lists()) {
    const own = points.filter(({ criterion }) => criterion === numberOf(list));
    list.replaceChildren(...own.map(({ text }) => item(text)));
  }
  showTools();
}

/** @param {string} text */
function item(text) {
  const copy = document.importNode(template.content, true);
  const point = find(copy, "li", HTMLLIElement);
  find(point, "textarea", HTMLTextAreaElement).value = text;
  return point;
}

/** Each select names the criterion that its point is in; the last point of a criterion stays. */
function showTools() {
  for (const list of lists()) {
    for (const select of findAll(list, "[data-move]", HTMLSelectElement)) select.value = String(numberOf(list));
    for (const button of findAll(list, "[data-remove]", HTMLButtonElement)) button.disabled = list.children.length < 2;
  }
}

/* Saving */

function showState() {
  if (!areWhole(read())) {
    showSaving(savedBox, "kept", words("empty"));
    return;
  }
  const state = queue.state({ saved: version > 0 });
  showSaving(savedBox, state, state === "early" ? "" : words(state));
}

const queue = new SaveQueue(
  {
    who,
    send: ([[, { points, version: seen, client_id }]]) => save(form.dataset.save, { points, version: seen, client_id }),
    isSame: (entry, current) => areSame(entry.points, current.points),
    onStored: (_id, stored) => {
      version = stored.version;
    },
    onAsk: () => conflicts.askNext(),
    onHalted: (halt, { body }) => {
      if (halt && halt !== "signed-out") toast(detailOf(body) || words(halt));
    },
    onChange: showState,
  },
  new SaveStore(() => localStorage, `consilium.points:${who}:`),
);

const conflicts = startConflicts({
  queue,
  describe: (_id, entry, current) => ({ theirs: inWords(current.points), mine: inWords(entry.points) }),
  onChosen: (_id, current, { keepsMine }) => {
    version = current.version;
    if (!keepsMine) write(current.points);
  },
});

function changed() {
  const points = read();
  if (areWhole(points)) queue.put(id, { points }, version, { wait: WAIT_MS });
  else showState();
}

form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("input", (event) => {
  if (event.target instanceof HTMLTextAreaElement) changed();
});
form.addEventListener("change", (event) => {
  const select = event.target;
  if (!(select instanceof HTMLSelectElement)) return;
  const point = select.closest("li");
  const list = lists().find((other) => numberOf(other) === Number(select.value));
  if (!point || !list || point.parentElement === list) return;
  if ((point.parentElement?.children.length ?? 0) < 2) toast(words("last"));
  else {
    list.append(point);
    find(point, "[data-move]", HTMLSelectElement).focus();
    changed();
  }
  showTools();
});
form.addEventListener("click", (event) => {
  const added = targetWithin(event, "[data-add]")?.closest("section");
  if (added) {
    const point = item("");
    find(added, "[data-points]", HTMLOListElement).append(point);
    showTools();
    find(point, "textarea", HTMLTextAreaElement).focus();
    showState();
    return;
  }
  const removed = targetWithin(event, "[data-remove]")?.closest("li");
  const list = removed?.parentElement;
  if (!removed || !list || list.children.length < 2) return;
  const neighbour = removed.previousElementSibling ?? removed.nextElementSibling;
  removed.remove();
  showTools();
  if (neighbour) find(neighbour, "textarea", HTMLTextAreaElement).focus();
  changed();
});
window.addEventListener("beforeunload", (event) => {
  if (!areWhole(read())) event.preventDefault();
});
queue.listen();
showTools();

/* What an earlier visit could not send. */
const kept = queue.store.get(id);
const points = keptPoints(kept);
if (kept && points) {
  write(points);
  queue.takeUp(id, kept);
  queue.flush();
} else if (kept) queue.store.remove(id);
