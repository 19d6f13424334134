import assert from "node:assert/strict";
import { test } from "node:test";
import {
  draftOf,
  lengthOf,
  referenceLetter,
  storageKey,
} from "../../../../static/js/annotation/writing/response_text.js";

test("words are counted by the spaces between them", () => {
  assert.deepEqual(lengthOf(""), { words: 0, characters: 0 });
  assert.deepEqual(lengthOf("  Take  it\ntwice-daily. "), { words: 3, characters: 24 });
});

test("Han, kana and hangul are counted one by one, also beside Latin letters", () => {
  assert.deepEqual(lengthOf("医生 CT検査"), { words: 5, characters: 7 });
  assert.deepEqual(lengthOf("かな 한"), { words: 3, characters: 4 });
});

test("a character outside the basic plane is one character", () => {
  assert.deepEqual(lengthOf("🩺 ok"), { words: 2, characters: 4 });
});

test("references have letters from A", () => {
  assert.equal(referenceLetter(0), "A");
  assert.equal(referenceLetter(7), "H");
});

test("what is sent of a kept draft leaves out what only this browser needs", () => {
  const kept = { text: "words", reference: 0, version: 3, client_id: "id-1", trail: ["id-0"] };
  assert.deepEqual(draftOf(kept), { text: "words", reference: 0, version: 3, client_id: "id-1" });
});

test("the keys of half-saved work stay as they are", () => {
  assert.equal(storageKey("u1", "task-1"), "consilium.writing:u1:task-1");
});
