import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { startConflicts } from "../../../static/js/core/conflict_dialog.js";

/** As much of an element as the dialog needs. */
class FakeElement extends EventTarget {
  dataset = {};
  textContent = "";
  open = false;
  parts = {};
  querySelector(selector) {
    this.parts[selector] ??= new FakeElement();
    return this.parts[selector];
  }
  showModal() {
    this.open = true;
  }
  close() {
    this.open = false;
  }
  focus() {}
}

let dialog;
let queue;
let pause; // resolves when nobody types any more
let conflicts;

beforeEach(() => {
  Object.assign(globalThis, { HTMLElement: FakeElement, HTMLDialogElement: FakeElement });
  const elements = { choice: new FakeElement(), "choice-title": new FakeElement() };
  globalThis.document = { getElementById: (id) => elements[id] ?? null };
  dialog = elements.choice;
  queue = {
    isBeingTyped: false,
    questions: new Map([["a", { version: 2, value: "theirs" }]]),
    pending: new Map([["a", { version: 1, value: "mine" }]]),
    editor: {},
    untilPause: () =>
      new Promise((resolve) => {
        pause = () => {
          queue.isBeingTyped = false;
          resolve();
        };
      }),
  };
  conflicts = startConflicts({
    queue,
    describe: (_id, entry, current) => ({ theirs: current.value, mine: entry.value }),
    onChosen: () => {},
  });
});

test("a question is put at once where nobody types", () => {
  conflicts.askNext();
  assert.equal(conflicts.isOpen, true);
  assert.equal(dialog.querySelector("[data-mine]").textContent, "mine");
});

test("no dialog opens in the middle of a word: it shows what was typed until then", async () => {
  queue.isBeingTyped = true;
  conflicts.askNext();
  assert.equal(conflicts.isOpen, false);
  queue.pending.set("a", { version: 1, value: "mine, and more" });
  pause();
  await new Promise(setImmediate);
  assert.equal(conflicts.isOpen, true);
  assert.equal(dialog.querySelector("[data-mine]").textContent, "mine, and more");
});

test("a question that is void after the pause is not put", async () => {
  queue.isBeingTyped = true;
  conflicts.askNext();
  queue.questions.clear();
  pause();
  await new Promise(setImmediate);
  assert.equal(conflicts.isOpen, false);
});
