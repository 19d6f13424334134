import assert from "node:assert/strict";
import { test } from "node:test";
import { ActiveSeconds } from "../../../static/js/core/active_seconds.js";

/** Ticks once a second from `from` to `to`, in seconds, with the page seen. */
function tick(time, from, to) {
  for (let second = from; second <= to; second += 1) time.tick(second * 1000, true);
}

test("seconds count for two minutes after the last activity", () => {
  const time = new ActiveSeconds(0);
  tick(time, 1, 200);
  assert.equal(time.seconds, 120);
  time.touch(200_000);
  tick(time, 201, 210);
  assert.equal(time.seconds, 130);
});

test("a hidden page counts nothing", () => {
  const time = new ActiveSeconds(0);
  assert.equal(time.tick(1000, false), false);
  assert.equal(time.tick(2000, true), true);
  assert.equal(time.seconds, 1);
});

test("a report takes all seconds, but none below its minimum", () => {
  const time = new ActiveSeconds(0);
  tick(time, 1, 29);
  assert.equal(time.take(30), 0);
  assert.equal(time.seconds, 29);
  tick(time, 30, 30);
  assert.equal(time.take(30), 30);
  assert.equal(time.seconds, 0);
});

test("the seconds of a report that was lost go with the next one", () => {
  const time = new ActiveSeconds(0);
  tick(time, 1, 30);
  const lost = time.take(30);
  tick(time, 31, 32);
  time.putBack(lost);
  assert.equal(time.take(5), 32);
});

test("a report is an hour at most", () => {
  const time = new ActiveSeconds(0);
  time.putBack(4000);
  assert.equal(time.take(5), 3600);
});

test("a report is due after so many seconds, whether the last one arrived or not", () => {
  const time = new ActiveSeconds(0);
  tick(time, 1, 29);
  assert.equal(time.isDue(30), false);
  tick(time, 30, 30);
  assert.equal(time.isDue(30), true);
  time.putBack(time.take(1));
  assert.equal(time.isDue(30), false);
  tick(time, 31, 60);
  assert.equal(time.isDue(30), true);
  assert.equal(time.take(1), 60);
});
