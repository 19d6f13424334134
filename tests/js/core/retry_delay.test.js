import assert from "node:assert/strict";
import { test } from "node:test";
import { retryDelay } from "../../../static/js/core/retry_delay.js";

test("each failure doubles the wait, up to five seconds", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 7, 2000].map(retryDelay), [0, 1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000]);
});
