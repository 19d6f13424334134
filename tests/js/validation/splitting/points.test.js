import assert from "node:assert/strict";
import { test } from "node:test";
import { areSame, areWhole, inWords, keptPoints } from "../../../../static/js/validation/splitting/points.js";

const POINTS = [
  { criterion: 1, text: "Names the dose." },
  { criterion: 2, text: "Names the interval." },
];

test("points are the same whatever blanks stand around them, and not in another order or of another criterion", () => {
  assert.ok(areSame(POINTS, [{ criterion: 1, text: " Names the dose.\n" }, POINTS[1]]));
  assert.ok(!areSame(POINTS, [POINTS[1], POINTS[0]]));
  assert.ok(!areSame(POINTS, [{ ...POINTS[0], criterion: 2 }, POINTS[1]]));
  assert.ok(!areSame(POINTS, [POINTS[0]]));
});

test("a point without a text is not sent", () => {
  assert.ok(areWhole(POINTS));
  assert.ok(!areWhole([...POINTS, { criterion: 2, text: " \n" }]));
});

test("each point is a line with the number of its criterion", () => {
  assert.equal(inWords(POINTS), "1. Names the dose.\n2. Names the interval.");
});

test("what this browser kept is taken up only if it is whole", () => {
  const kept = { points: POINTS, version: 1, client_id: "x", after: [] };
  assert.deepEqual(keptPoints(kept), POINTS);
  for (const odd of [
    null,
    undefined,
    {},
    { ...kept, points: {} },
    { ...kept, version: "1" },
    { ...kept, client_id: 1 },
  ]) {
    assert.equal(keptPoints(odd), null);
  }
  assert.equal(keptPoints({ ...kept, points: [{ criterion: "1", text: "x" }] }), null);
  assert.equal(keptPoints({ ...kept, points: [null] }), null);
});
