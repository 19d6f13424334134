import assert from "node:assert/strict";
import { test } from "node:test";
import { tickOfAll } from "../../../static/js/core/ticks.js";

test("the checkbox for all is ticked with all of them, and half ticked with some", () => {
  assert.deepEqual(tickOfAll(0, 3), { checked: false, indeterminate: false });
  assert.deepEqual(tickOfAll(2, 3), { checked: false, indeterminate: true });
  assert.deepEqual(tickOfAll(3, 3), { checked: true, indeterminate: false });
  assert.deepEqual(tickOfAll(0, 0), { checked: false, indeterminate: false });
});
