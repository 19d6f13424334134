import assert from "node:assert/strict";
import { test } from "node:test";
import { neighbour, nextThatFits } from "../../../static/js/core/neighbour.js";

const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => ({ name }));

test("keys move by rows and stop at both ends", () => {
  assert.equal(neighbour([a, b, c], a, 1), b);
  assert.equal(neighbour([a, b, c], b, -1), a);
  assert.equal(neighbour([a, b, c], c, 1), c);
  assert.equal(neighbour([a, b, c], a, -1), a);
});

test("without a current row, or with one that is gone, the first one is next", () => {
  assert.equal(neighbour([a, b, c], null, 1), a);
  assert.equal(neighbour([a, b, c], null, -1), a);
  assert.equal(neighbour([a, b, c], d, 1), a);
  assert.equal(neighbour([], a, 1), undefined);
});

test("the next row that fits is looked for after the current one, then before it", () => {
  const all = [a, b, c, d];
  assert.equal(
    nextThatFits(all, b, () => true),
    c,
  );
  assert.equal(
    nextThatFits(all, c, (row) => row === a || row === b),
    a,
  );
  assert.equal(
    nextThatFits(all, c, (row) => row === c),
    undefined,
  );
  assert.equal(
    nextThatFits(all, null, () => true),
    a,
  );
  assert.equal(
    nextThatFits(all, d, () => true),
    a,
  );
});
