import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { OutboxStore } from "../../../../static/js/annotation/shared/outbox_store.js";
import { FakeStorage } from "../../core/fake_storage.js";

function entry(clientId) {
  return { outcome: "met", borderline: false, note: "", evidence: [], version: 1, client_id: clientId, after: [] };
}

let storage;
let store;

beforeEach(() => {
  storage = new FakeStorage();
  store = new OutboxStore(() => storage, "who");
});

test("an entry is under the author, the assignment and the criterion", () => {
  store.put("assignment", "5", entry("a"));
  assert.deepEqual(Object.keys(storage), ["consilium.outbox:who:assignment:5"]);
  assert.deepEqual(JSON.parse(storage["consilium.outbox:who:assignment:5"]), entry("a"));
  assert.deepEqual(store.entriesOf("assignment"), { 5: entry("a") });
  assert.deepEqual(store.entriesOf("other"), {});
});

test("entries of somebody else, other keys and what is no JSON are passed over", () => {
  storage.setItem("consilium.outbox:somebody:assignment:5", JSON.stringify(entry("x")));
  storage.setItem("consilium.order:who", "axis");
  storage.setItem("consilium.outbox:who:assignment:6", "{half");
  store.put("assignment", "5", entry("a"));
  store.put("second", "5", entry("b"));
  assert.deepEqual(store.all(), { assignment: { 5: entry("a") }, second: { 5: entry("b") } });
});

test("a key is read back as its place", () => {
  assert.deepEqual(store.placeOf("consilium.outbox:who:assignment:5"), { assignment: "assignment", id: "5" });
  assert.equal(store.placeOf("consilium.outbox:somebody:assignment:5"), null);
  assert.equal(store.placeOf(null), null);
});

test("only the entry that was meant is dropped", () => {
  store.put("assignment", "5", entry("newer"));
  store.drop("assignment", "5", "older");
  assert.deepEqual(store.entriesOf("assignment"), { 5: entry("newer") });
  store.drop("assignment", "5", "newer");
  assert.deepEqual(Object.keys(storage), []);
});

test("what a full storage cannot take is kept in memory, and wins over an older entry in the storage", () => {
  store.put("assignment", "5", entry("older"));
  storage.setItem = () => {
    throw new Error("full");
  };
  Object.defineProperty(storage, "setItem", { enumerable: false });
  store.put("assignment", "5", entry("newer"));
  assert.deepEqual(store.entriesOf("assignment"), { 5: entry("newer") });
  store.drop("assignment", "5", "newer");
  assert.deepEqual(store.entriesOf("assignment"), {}); // the older one would be sent by a later page
});

test("an entry in memory goes to the storage as soon as that takes it", () => {
  let isFull = true;
  store = new OutboxStore(() => {
    if (isFull) throw new Error("full");
    return storage;
  }, "who");
  store.put("assignment", "5", entry("a"));
  assert.deepEqual(Object.keys(storage), []);
  isFull = false;
  store.put("assignment", "5", entry("b"));
  storage.removeItem("consilium.outbox:who:assignment:5"); // another tab sent it
  assert.deepEqual(store.entriesOf("assignment"), {});
});

test("a browser that forbids the storage loses nothing while the page is open", () => {
  store = new OutboxStore(() => {
    throw new Error("forbidden");
  }, "who");
  store.put("assignment", "5", entry("a"));
  assert.deepEqual(store.all(), { assignment: { 5: entry("a") } });
  store.drop("assignment", "5", "a");
  assert.deepEqual(store.all(), {});
});
