import assert from "node:assert/strict";
import { test } from "node:test";
import { newItem } from "../../../../static/js/rubrics/editor/rubric_model.js";
import {
  inRange,
  readPoints,
  sharePoints,
  stepPoints,
  totalsOf,
} from "../../../../static/js/rubrics/editor/rubric_points.js";

const RULES = { only_positive: false, lowest: -10, highest: 10 };
const POSITIVE = { ...RULES, only_positive: true };

test("points are read from digits of any width", () => {
  for (const [value, points] of [
    ["5", 5],
    ["+5", 5],
    ["-8", -8],
    ["−8", -8],
    ["－１０", -10],
    [" 10 ", 10],
    ["05", 5],
    ["-", 0],
    ["", 0],
    ["0", 0],
  ]) {
    assert.deepEqual(readPoints(value), { points, isRefused: false }, value);
  }
});

test("anything but a whole number from -10 to 10 is refused, and no other number is read", () => {
  for (const value of ["12", "-12", "−12", "15", "11", "100", "3.5", "3,5", "3-4", "5 points", "x", "--5", "+-5"]) {
    assert.deepEqual(readPoints(value), { points: 0, isRefused: true }, value);
  }
});

test("a step leaves out 0 and stops where the benchmark does", () => {
  assert.equal(stepPoints(5, 1, RULES), 6);
  assert.equal(stepPoints(-1, 1, RULES), 1);
  assert.equal(stepPoints(1, -1, RULES), -1);
  assert.equal(stepPoints(0, 1, RULES), 1);
  assert.equal(stepPoints(10, 1, RULES), 10);
  assert.equal(stepPoints(-10, -1, RULES), -10);
  assert.equal(stepPoints(1, -1, POSITIVE), 1);
  assert.equal(inRange(-8, POSITIVE), 1);
  assert.equal(inRange(12, RULES), 10);
  assert.equal(inRange(0, RULES), 1);
});

test("totals count criteria with a text, their points, and each criterion for the first axis of its tags", () => {
  const items = [
    newItem({ text: "a", points: 5, tags: ["bank:x", "axis:accuracy", "axis:safety"] }),
    newItem({ text: "b", points: -8, tags: ["axis:accuracy"] }),
    newItem({ text: "c", points: 2, tags: ["x"] }),
    newItem({ text: " ", points: 10, tags: ["axis:safety"] }),
  ];
  assert.deepEqual(totalsOf(items, "none"), {
    count: 3,
    gain: 7,
    lose: 8,
    axes: [
      ["accuracy", 2],
      ["none", 1],
    ],
  });
  assert.deepEqual(totalsOf([], "none"), { count: 0, gain: 0, lose: 0, axes: [] });
});

test("the points of a split criterion are shared out, and their sum stays", () => {
  for (const [points, parts, shares] of [
    [10, 2, [5, 5]],
    [7, 2, [4, 3]],
    [-9, 2, [-5, -4]],
    [1, 2, [1, 0]],
    [0, 2, [0, 0]],
    [8, 3, [3, 3, 2]],
    [6, 1, [6]],
  ]) {
    assert.deepEqual(sharePoints(points, parts), shares);
  }
});
