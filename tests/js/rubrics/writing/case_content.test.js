import assert from "node:assert/strict";
import { test } from "node:test";
import {
  differences,
  fieldsOf,
  hasSameText,
  isSame,
  mergeContents,
  partOf,
  sortTags,
  splitTags,
  tagsOfKind,
} from "../../../../static/js/rubrics/writing/case_content.js";

const ALL = fieldsOf(false);
const FROZEN = fieldsOf(true);
const CASE = {
  key: "case-1",
  conversation: [{ role: "user", content: "My head hurts." }],
  reference_answer: "Rest.",
  difficulty: "low",
  register: "lay",
  language: "en",
  tags: ["theme:pain", "x"],
};
const changed = (fields) => partOf({ ...CASE, ...fields }, ALL);

test("the fields are in the order in which they are sent; a fixed text leaves those that describe the case", () => {
  assert.deepEqual(ALL, ["key", "conversation", "reference_answer", "difficulty", "register", "language", "tags"]);
  assert.deepEqual(FROZEN, ["difficulty", "register", "language", "tags"]);
  assert.deepEqual(Object.keys(partOf(CASE, ALL)), [...ALL]);
  assert.deepEqual(Object.keys(partOf(CASE, FROZEN)), [...FROZEN]);
});

test("line ends and the order of tags are no difference", () => {
  const other = {
    ...CASE,
    reference_answer: "a\r\nb\rc",
    conversation: [{ role: "user", content: "My\r\nhead", extra: 1 }],
    tags: ["x", "theme:pain", "x"],
  };
  const part = partOf(other, ALL);
  assert.equal(part.reference_answer, "a\nb\nc");
  assert.deepEqual(part.conversation, [{ role: "user", content: "My\nhead" }]);
  assert.deepEqual(part.tags, ["theme:pain", "x"]);
  assert.ok(isSame({ ...CASE, tags: ["x", "theme:pain"] }, CASE, ALL));
  assert.ok(!isSame({ ...CASE, key: "case-2" }, CASE, ALL));
  assert.ok(isSame({ ...CASE, key: "case-2" }, CASE, FROZEN));
});

test("tags are sorted by the field that shows them", () => {
  assert.deepEqual(sortTags(["b", "specialty:s", "task:t", "a", "theme:m", "b"]), [
    "theme:m",
    "task:t",
    "specialty:s",
    "b",
    "a",
  ]);
  assert.deepEqual(tagsOfKind(["b", "task:t"], "tasks"), ["task:t"]);
  assert.deepEqual(tagsOfKind(["b", "task:t"], "others"), ["b"]);
});

test("a comma ends a new tag, and belongs to one that is known", () => {
  assert.deepEqual(splitTags(" pain, head；neck、", false), ["pain", "head", "neck"]);
  assert.deepEqual(splitTags("pain, acute; head", true), ["pain, acute", "head"]);
});

test("the text of two cases is compared without what describes them", () => {
  assert.ok(hasSameText({ ...CASE, difficulty: "high" }, CASE));
  assert.ok(!hasSameText({ ...CASE, reference_answer: "Go." }, CASE));
});

test("what only one version changed is taken from it, without a question", () => {
  const base = partOf(CASE, ALL);
  const { merged, conflicts } = mergeContents(base, changed({ key: "mine" }), changed({ difficulty: "high" }), ALL);
  assert.deepEqual(merged, changed({ key: "mine", difficulty: "high" }));
  assert.deepEqual(conflicts, []);
});

test("what both changed alike is no question; what they changed differently is, and mine is kept", () => {
  const mine = changed({ key: "same", reference_answer: "mine", tags: ["mine"] });
  const theirs = changed({ key: "same", reference_answer: "theirs", language: "zh" });
  const { merged, conflicts } = mergeContents(partOf(CASE, ALL), mine, theirs, ALL);
  assert.deepEqual(conflicts, ["reference_answer"]);
  assert.deepEqual(merged, changed({ key: "same", reference_answer: "mine", tags: ["mine"], language: "zh" }));
});

test("differences are shown field by field, those of the conversation turn by turn", () => {
  const turn = (content, role = "user") => ({ role, content });
  const mine = changed({ conversation: [turn("a"), turn("b"), turn("c")], tags: ["theme:a", "b"] });
  const theirs = changed({ conversation: [turn("a"), turn("b", "assistant")], tags: [] });
  assert.deepEqual(differences(["conversation", "tags"], mine, theirs), [
    { field: "conversation", turn: 2, mine: "b", theirs: "b" },
    { field: "conversation", turn: 3, mine: "c", theirs: "" },
    { field: "tags", turn: 0, mine: "theme:a; b", theirs: "" },
  ]);
});
