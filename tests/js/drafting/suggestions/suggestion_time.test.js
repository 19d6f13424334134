import assert from "node:assert/strict";
import { test } from "node:test";
import { ReadingTime } from "../../../../static/js/drafting/suggestions/suggestion_time.js";

test("time counts for the suggestion that is looked at, in whole seconds, and none is lost", () => {
  const time = new ReadingTime();
  time.look("a", 1_000);
  time.look("b", 3_500);
  assert.equal(time.take("a", 9_000), 2);
  assert.equal(time.take("a", 9_000), 0);
  time.look("a", 10_000); // b was looked at for 6.5 s
  time.look("", 10_700);
  assert.equal(time.take("a", 60_000), 1); // 0.5 s were left
  assert.equal(time.take("b", 60_000), 6);
});

test("a look of hours counts for two minutes, and a clock that is set back for nothing", () => {
  const time = new ReadingTime();
  time.look("a", 0);
  assert.equal(time.take("a", 3_600_000), 120);
  time.look("a", 3_600_000);
  assert.equal(time.take("a", 0), 0);
});
