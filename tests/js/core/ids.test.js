import assert from "node:assert/strict";
import { test } from "node:test";
import { newId } from "../../../static/js/core/ids.js";

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("an id is a random UUID", () => {
  assert.match(newId(), UUID4);
  assert.notEqual(newId(), newId());
});

test("an id is a random UUID where the browser has no randomUUID, as on plain http", () => {
  Object.defineProperty(crypto, "randomUUID", { value: undefined, configurable: true });
  assert.match(newId(), UUID4);
});
