import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { SaveStore } from "../../../static/js/core/save_store.js";
import { FakeStorage } from "./fake_storage.js";

/** A storage that can be full. */
class SmallStorage extends FakeStorage {
  static isFull = false;
  setItem(key, value) {
    if (SmallStorage.isFull) throw new Error("full");
    super.setItem(key, value);
  }
}

let storage;
let store;

beforeEach(() => {
  SmallStorage.isFull = false;
  storage = new SmallStorage();
  store = new SaveStore(() => storage, "consilium.test:");
});

const keys = () => Object.keys(storage);

test("an older entry in a full storage does not survive the newer one that was saved", () => {
  store.put("a", { client_id: "old", after: [] });
  SmallStorage.isFull = true;
  assert.equal(store.put("a", { client_id: "new", after: [] }), false); // "old" was never sent
  assert.deepEqual(keys(), ["consilium.test:a"]);
  store.drop("a", "new");
  assert.deepEqual(keys(), []);
  assert.equal(store.get("a"), null);
});

test("nor one that was put through a part of the store", () => {
  store.within("b:").put("a", { client_id: "old" });
  SmallStorage.isFull = true;
  store.put("b:a", { client_id: "new" });
  store.drop("b:a", "new");
  assert.deepEqual(keys(), []);
});

test("while the newer one is not saved, the older one stays", () => {
  store.put("a", { client_id: "old" });
  SmallStorage.isFull = true;
  store.put("a", { client_id: "newer" });
  store.put("a", { client_id: "newest" });
  store.drop("a", "newer");
  assert.deepEqual(keys(), ["consilium.test:a"]);
  assert.equal(store.get("a").client_id, "newest");
});

test("what another tab stored since is not dropped", () => {
  store.put("a", { client_id: "old" });
  storage["consilium.test:a"] = JSON.stringify({ client_id: "theirs" });
  SmallStorage.isFull = true;
  store.put("a", { client_id: "new" });
  store.drop("a", "new");
  assert.equal(store.get("a").client_id, "theirs");
});
