import assert from "node:assert/strict";
import { test } from "node:test";
import { keyName } from "../../../../static/js/annotation/shared/key_names.js";

function press(key, more = {}) {
  return { key, code: "", altKey: false, ctrlKey: false, metaKey: false, shiftKey: false, ...more };
}

test("a letter is small, and shift is named with letters and the space bar only", () => {
  assert.equal(keyName(press("m")), "m");
  assert.equal(keyName(press("M", { shiftKey: true })), "shift+m");
  assert.equal(keyName(press("M")), "m"); // caps lock
  assert.equal(keyName(press(" ")), " ");
  assert.equal(keyName(press(" ", { shiftKey: true })), "shift+ ");
  assert.equal(keyName(press("?", { shiftKey: true })), "?");
  assert.equal(keyName(press("ArrowRight", { shiftKey: true })), "ArrowRight");
});

test("with another alphabet the place on the keyboard counts", () => {
  assert.equal(keyName(press("ь", { code: "KeyM" })), "m");
  assert.equal(keyName(press("Process", { code: "KeyN", shiftKey: true })), "shift+n");
  assert.equal(keyName(press("m", { code: "Semicolon" })), "m"); // the letter, where there is one
});

test("ctrl and alt are named, so that the browser's own shortcuts are none of ours", () => {
  assert.equal(keyName(press("Enter", { ctrlKey: true })), "ctrl+Enter");
  assert.equal(keyName(press("c", { metaKey: true })), "ctrl+c");
  assert.equal(keyName(press("m", { altKey: true })), "alt+m");
  assert.equal(keyName(press("m", { getModifierState: (name) => name === "AltGraph" })), "alt+m");
  assert.equal(keyName(press("M", { ctrlKey: true, altKey: true, shiftKey: true })), "ctrl+alt+shift+m");
});
