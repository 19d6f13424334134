import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createHistory } from "../../../../static/js/rubrics/editor/rubric_history.js";
import { copy, newItem } from "../../../../static/js/rubrics/editor/rubric_model.js";

let items;
let caret;
let went;
let past;

beforeEach(() => {
  items = [newItem({ id: "a", text: "" })];
  caret = { id: "a", name: "text", at: 0 };
  went = [];
  past = createHistory({
    items: () => items,
    take: (list) => {
      items = list;
    },
    caret: () => caret,
    go: (at) => went.push(at),
  });
});

const texts = () => items.map(({ text }) => text);

/** Type into a text where its cursor is, as the browser reports it. */
async function type(id, data, { at = caret.at, name = "text" } = {}) {
  const item = items.find((one) => one.id === id);
  past.begin({ value: item[name], selectionStart: at, selectionEnd: at });
  item[name] = item[name].slice(0, at) + data + item[name].slice(at);
  caret = { id, name, at: at + data.length };
  past.typed(id, name, "insertText", data);
  await null; // the place of the cursor is noted in a microtask
}

async function erase(id) {
  const item = items.find((one) => one.id === id);
  past.begin({ value: item.text, selectionStart: caret.at, selectionEnd: caret.at });
  item.text = item.text.slice(0, caret.at - 1) + item.text.slice(caret.at);
  caret = { ...caret, at: caret.at - 1 };
  past.typed(id, "text", "deleteContentBackward", null);
  await null;
}

/** An action on the list. */
async function act(change) {
  const from = caret;
  change();
  past.note(from);
  await null;
}

test("what is typed is undone a word at a time, and done again", async () => {
  for (const letter of "two words") await type("a", letter);
  assert.ok(past.undo());
  assert.deepEqual(texts(), ["two "]);
  assert.ok(past.undo());
  assert.deepEqual(texts(), [""]);
  assert.ok(!past.undo());
  assert.ok(past.redo());
  assert.deepEqual(texts(), ["two "]);
  assert.ok(past.redo());
  assert.deepEqual(texts(), ["two words"]);
  assert.ok(!past.redo());
});

test("typing elsewhere and deleting are steps of their own", async () => {
  await type("a", "a");
  await type("a", "b");
  await type("a", "x", { at: 0 });
  assert.deepEqual(texts(), ["xab"]);
  caret = { id: "a", name: "text", at: 3 };
  await erase("a");
  await erase("a");
  assert.deepEqual(texts(), ["x"]);
  past.undo();
  assert.deepEqual(texts(), ["xab"]);
  past.undo();
  assert.deepEqual(texts(), ["ab"]);
  past.undo();
  assert.deepEqual(texts(), [""]);
});

test("all that is typed into the points is one step, and actions are steps", async () => {
  await type("a", "a");
  await act(() => items.push(newItem({ id: "b", text: "b" })));
  for (const points of [5, 6, 7]) {
    items[1].points = points;
    past.note(caret, "b points ", true);
    await null;
  }
  past.undo();
  assert.deepEqual(items[1].points, 0);
  past.undo();
  assert.deepEqual(texts(), ["a"]);
  past.undo();
  assert.deepEqual(texts(), [""]);
});

test("undoing goes to where the cursor was, and doing again to where it was left", async () => {
  caret = { id: "a", name: "points", at: 1 };
  const from = caret;
  items[0].text = "new";
  past.note(from);
  caret = { id: "a", name: "text", at: 3 }; // an action moves the cursor right after it
  await null;
  past.undo();
  past.redo();
  assert.deepEqual(went, [
    { id: "a", name: "points", at: 1 },
    { id: "a", name: "text", at: 3 },
  ]);
});

test("what is changed back by hand is no step", async () => {
  await act(() => {
    items[0].points = 5;
  });
  const before = copy(items);
  items[0].points = 0;
  past.note(caret, "a points ");
  await null;
  items[0].points = 5;
  past.note(caret, "a points ", true);
  await null;
  assert.deepEqual(items, before);
  past.undo();
  assert.equal(items[0].points, 0);
  assert.ok(!past.undo());
});

test("a new step forgets what was undone", async () => {
  await type("a", "a");
  past.undo();
  await type("a", "b", { at: 0 });
  assert.ok(!past.redo());
  assert.deepEqual(texts(), ["b"]);
});

test("what somebody else did is not undone", async () => {
  await type("a", "a");
  items = [...copy(items), newItem({ id: "theirs", text: "theirs" })];
  past.acceptOthers();
  past.undo();
  assert.deepEqual(texts(), ["", "theirs"]);
});

test("no more than 300 steps are kept", async () => {
  for (let points = 1; points <= 301; points += 1) {
    await act(() => {
      items[0].points = points;
    });
  }
  let steps = 0;
  while (past.undo()) steps += 1;
  assert.equal(steps, 300);
  assert.equal(items[0].points, 1);
});

test("a step is taken back alone, whatever followed it, and once", async () => {
  items.push(newItem({ id: "b", text: "Second." }));
  past.acceptOthers();
  items = items.filter(({ id }) => id !== "b");
  past.note(caret);
  const step = past.latest();
  await type("a", "Typed since.");
  assert.equal(past.revert(step), true);
  assert.deepEqual(texts(), ["Typed since.", "Second."]);
  past.undo(); // taking it back is a step of its own
  assert.deepEqual(texts(), ["Typed since."]);
  past.undo();
  past.undo();
  assert.deepEqual(texts(), ["", "Second."]);
  assert.equal(past.has(step), false);
  assert.equal(past.revert(step), false);
  assert.deepEqual(texts(), ["", "Second."]);
});

test("a deletion is taken back alone: the criteria that were moved since stay where they are", async () => {
  items = ["a", "b", "c", "d"].map((id) => newItem({ id, text: id }));
  past.acceptOthers();
  await act(() => items.splice(2, 1)); // c
  const step = past.latest();
  await act(() => items.reverse());
  assert.deepEqual(texts(), ["d", "b", "a"]);
  assert.equal(past.revert(step), true);
  assert.deepEqual(texts(), ["d", "b", "c", "a"]); // after b, as it was
  past.undo();
  assert.deepEqual(texts(), ["d", "b", "a"]);
  past.undo();
  assert.deepEqual(texts(), ["a", "b", "d"]);
});

test("a split that is taken back joins its parts where the first one is now", async () => {
  items = ["a and b", "c"].map((text, place) => newItem({ id: `n${place}`, text }));
  past.acceptOthers();
  await act(() => items.splice(0, 1, { ...items[0], text: "a" }, newItem({ id: "part", text: "b" })));
  const step = past.latest();
  await act(() => items.reverse());
  assert.equal(past.revert(step), true);
  assert.deepEqual(texts(), ["c", "a and b"]);
});
