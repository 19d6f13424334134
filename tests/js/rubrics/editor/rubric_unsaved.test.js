import assert from "node:assert/strict";
import { test } from "node:test";
import { newItem } from "../../../../static/js/rubrics/editor/rubric_model.js";
import {
  addUnsure,
  arrivedList,
  isLater,
  storagePrefix,
  unsavedEntries,
} from "../../../../static/js/rubrics/editor/rubric_unsaved.js";

class FakeStorage {
  constructor(entries) {
    Object.assign(this, entries);
  }

  getItem(name) {
    return this[name] ?? null;
  }

  removeItem(name) {
    delete this[name];
  }
}

const list = (text) => [newItem({ id: "a", text })];
const PREFIX = storagePrefix("who", "case");

test("what is kept has a name by person and case", () => {
  assert.equal(PREFIX, "consilium.rubric:who:case:");
});

test("entries of other pages are found, the oldest first, and what cannot be read is removed", () => {
  const older = { items: list("older"), base: [], unsure: [list("sent")], at: 1 };
  const newer = { items: list("newer"), base: list("older"), at: 2 };
  const storage = new FakeStorage({
    [`${PREFIX}n2`]: JSON.stringify(newer),
    [`${PREFIX}n1`]: JSON.stringify(older),
    [`${PREFIX}own`]: JSON.stringify(newer),
    [`${PREFIX}broken`]: "{",
    [`${PREFIX}foreign`]: JSON.stringify({ items: "none" }),
    "consilium.rubric:somebody:case:n3": JSON.stringify(newer),
  });
  assert.deepEqual(
    unsavedEntries(() => storage, PREFIX, `${PREFIX}own`),
    [
      { name: `${PREFIX}n1`, ...older },
      { name: `${PREFIX}n2`, ...newer },
    ],
  );
  assert.equal(storage.getItem(`${PREFIX}broken`), null);
  assert.ok(storage.getItem(`${PREFIX}foreign`));
});

test("where the browser forbids its storage, nothing was kept", () => {
  const forbidden = () => {
    throw new Error("SecurityError");
  };
  assert.deepEqual(unsavedEntries(forbidden, PREFIX, "own"), []);
});

test("four lists that were not answered are remembered, each once, the last one last", () => {
  const sent = ["1", "2", "3", "2", "4", "5"].reduce((unsure, text) => addUnsure(unsure, list(text)), []);
  assert.deepEqual(
    sent.map(([{ text }]) => text),
    ["3", "2", "4", "5"],
  );
  assert.equal(arrivedList(sent, list("4")), sent[2]);
  assert.equal(arrivedList(sent, list("1")), undefined);
});

test("a version is later than an earlier one of its draft, and than all of the drafts before", () => {
  const seen = { draft: 7, version: 3 };
  assert.equal(isLater({ draft: 7, version: 4 }, seen), true);
  assert.equal(isLater({ draft: 7, version: 3 }, seen), false);
  assert.equal(isLater({ draft: 8, version: 1 }, seen), true);
  assert.equal(isLater({ draft: 6, version: 9 }, seen), false);
  assert.equal(isLater({ draft: 7, version: 1 }, { draft: null, version: 0 }), true);
  assert.equal(isLater({ version: 9 }, seen), false);
});
