// @ts-check
/* The answer to a question, as it is sent and kept in the browser. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fieldsOf, keptAnswer } from "../../../../static/js/validation/questions/answer.js";

const ORIGIN = "https://example.org";

test("the token of the page and files are not kept", () => {
  /** @type {[string, any][]} */
  const entries = [
    ["csrfmiddlewaretoken", "x"],
    ["answer", "full"],
    ["file", { name: "a" }],
  ];
  assert.deepEqual(fieldsOf(entries), [["answer", "full"]]);
});

test("a kept answer is sent to this site alone", () => {
  const kept = { url: `${ORIGIN}/b/ward/`, fields: [["answer", "none"]], answered: "" };
  assert.deepEqual(keptAnswer(kept, ORIGIN), kept);
  assert.equal(keptAnswer({ ...kept, url: "https://example.org.evil/b/" }, ORIGIN), null);
  assert.equal(keptAnswer({ ...kept, url: 7 }, ORIGIN), null);
});

test("what is malformed is not sent", () => {
  for (const fields of [undefined, "answer", [["answer", 1]], ["answer"]]) {
    assert.equal(keptAnswer({ url: `${ORIGIN}/b/`, fields }, ORIGIN), null);
  }
  assert.equal(keptAnswer(null, ORIGIN), null);
});
