import assert from "node:assert/strict";
import { test } from "node:test";
import {
  applyAnswers,
  back,
  copy,
  cut,
  isBlank,
  joined,
  merge,
  mergeCitations,
  newItem,
  newItemId,
  replaceAll,
  same,
  sameList,
  setAxis,
  sourceAfter,
} from "../../../../static/js/rubrics/editor/rubric_model.js";

const item = (id, text, fields = {}) => newItem({ id, text, ...fields });
const ids = (items) => items.map(({ id }) => id);
const texts = (items) => items.map(({ text }) => text);
const asked = (questions) => questions.map(({ id, mine, theirs }) => [id, mine?.text ?? null, theirs?.text ?? null]);

test("a new item has an id of its own and nothing else", () => {
  assert.match(newItemId(), /^n[0-9a-f]{16}$/);
  assert.notEqual(newItemId(), newItemId());
  assert.deepEqual(newItem({ id: "a" }), {
    id: "a",
    text: "",
    points: 0,
    tags: [],
    source: "",
    element: "",
    expectation: "",
    bank: "",
    citations: [],
    suggestion: "",
    criterion: null,
  });
});

test("a copy shares nothing with the list", () => {
  const list = [item("a", "one", { tags: ["x"] })];
  const other = copy(list);
  other[0].tags.push("y");
  other[0].text = "two";
  assert.deepEqual(list, [item("a", "one", { tags: ["x"] })]);
});

test("items are the same by all fields but the id, lists by ids and order as well", () => {
  assert.ok(same(item("a", "one", { tags: ["x"] }), item("b", "one", { tags: ["x"] })));
  for (const fields of [{ points: 1 }, { tags: ["y"] }, { source: "s" }, { bank: "b" }, { criterion: 1 }]) {
    assert.ok(!same(item("a", "one"), item("a", "one", fields)), JSON.stringify(fields));
  }
  const [a, b] = [item("a", "one"), item("b", "two")];
  assert.ok(sameList([a, b], copy([a, b])));
  assert.ok(!sameList([a, b], [b, a]));
  assert.ok(!sameList([a, b], [a]));
  assert.ok(!sameList([a], [item("b", "one")]));
});

test("an item is blank where nothing is written, pointed or tagged", () => {
  assert.ok(isBlank(item("a", " \n")));
  for (const fields of [{ text: "t" }, { points: -1 }, { tags: ["x"] }, { source: "s" }, { expectation: "e" }]) {
    assert.ok(!isBlank(newItem(fields)), JSON.stringify(fields));
  }
});

test("a merge takes what only one side changed, field by field", () => {
  const base = [item("a", "old", { points: 1 }), item("b", "left alone")];
  const mine = [item("a", "mine", { points: 1 }), item("b", "left alone")];
  const theirs = [item("a", "old", { points: 5 }), item("b", "left alone")];
  const { items, questions } = merge(base, mine, theirs);
  assert.deepEqual(items, [item("a", "mine", { points: 5 }), item("b", "left alone")]);
  assert.deepEqual(questions, []);
});

test("what both changed in the same way is no question", () => {
  const { items, questions } = merge([item("a", "old")], [item("a", "new")], [item("a", "new")]);
  assert.deepEqual([texts(items), questions], [["new"], []]);
});

test("what both changed is asked, and mine is kept until it is answered", () => {
  const { items, questions } = merge([item("a", "old")], [item("a", "mine")], [item("a", "theirs")]);
  assert.deepEqual(texts(items), ["mine"]);
  assert.deepEqual(asked(questions), [["a", "mine", "theirs"]]);
});

test("an item that one side deleted stays where the other side changed it, as a question", () => {
  const base = [item("a", "old"), item("b", "old")];
  const { items, questions } = merge(base, [item("a", "mine")], [item("b", "theirs")]);
  assert.deepEqual(texts(items).sort(), ["mine", "theirs"]);
  assert.deepEqual(asked(questions), [
    ["a", "mine", null],
    ["b", null, "theirs"],
  ]);
});

test("an item that one side deleted and the other left alone is gone", () => {
  const base = [item("a", "1"), item("b", "2"), item("c", "3")];
  const { items, questions } = merge(base, [base[0], base[2]], [base[1], base[2]]);
  assert.deepEqual([ids(items), questions], [["c"], []]);
});

test("new items of theirs come after the item that they came after there", () => {
  const base = [item("a", "1"), item("b", "2")];
  const theirs = [item("first", "0"), item("a", "1"), item("x", "1a"), item("y", "1b"), item("b", "2")];
  const { items, questions } = merge(base, [...base, item("mine", "3")], theirs);
  assert.deepEqual(ids(items), ["first", "a", "x", "y", "b", "mine"]);
  assert.deepEqual(questions, []);
});

test("an order that only they changed is taken, with my new items in their places", () => {
  const [a, b, c] = [item("a", "1"), item("b", "2"), item("c", "3")];
  const { items } = merge([a, b, c], [a, item("x", "mine"), b, c], [c, a, b]);
  assert.deepEqual(ids(items), ["c", "a", "x", "b"]);
});

test("my order is kept where I changed it", () => {
  const [a, b, c] = [item("a", "1"), item("b", "2"), item("c", "3")];
  assert.deepEqual(ids(merge([a, b, c], [b, a, c], [c, a, b]).items), ["b", "a", "c"]);
});

test("answers choose between the two sides, and a side that deleted deletes", () => {
  const questions = [
    { id: "a", mine: item("a", "mine"), theirs: item("a", "theirs") },
    { id: "b", mine: item("b", "mine"), theirs: null },
    { id: "c", mine: null, theirs: item("c", "theirs") },
  ];
  const items = [item("a", "mine"), item("b", "mine"), item("c", "theirs"), item("d", "not asked")];
  const all = (side) => texts(applyAnswers(items, questions, { a: side, b: side, c: side }));
  assert.deepEqual(all("mine"), ["mine", "mine", "not asked"]);
  assert.deepEqual(all("theirs"), ["theirs", "theirs", "not asked"]);
});

test("going back undoes the fields of one step and leaves what came after it", () => {
  const target = [item("a", "before", { points: 1 })];
  const reached = [item("a", "after", { points: 1 })];
  const current = [item("a", "after", { points: 7 }), item("new", "theirs")];
  assert.deepEqual(back(target, reached, current), [item("a", "before", { points: 7 }), item("new", "theirs")]);
});

test("going back brings back what the step deleted, and not what somebody else deleted since", () => {
  const [a, b, c] = [item("a", "1"), item("b", "2"), item("c", "3")];
  assert.deepEqual(ids(back([a, b, c], [a, c], [a])), ["a", "b"]);
});

test("a text is cut at a place, and the joint falls away", () => {
  const at = (text, mark = "|") => cut(text.replace(mark, ""), text.indexOf(mark));
  assert.deepEqual(at("Names the dose| and warns of alcohol"), ["Names the dose", "Warns of alcohol"]);
  assert.deepEqual(at("Names the dose, as well as| the duration."), ["Names the dose", "The duration."]);
  assert.deepEqual(at("Names the |android"), ["Names the", "Android"]);
  assert.deepEqual(at("说明剂量，并|提醒饮酒"), ["说明剂量", "提醒饮酒"]);
  assert.deepEqual(at("说明剂量，|和缓地提醒"), ["说明剂量", "和缓地提醒"]);
  assert.deepEqual(at("|All"), ["", "All"]);
});

test("two items become one, with one axis", () => {
  const first = item("a", "Names the dose", { points: 3, tags: ["axis:accuracy", "t"], source: "NICE", criterion: 4 });
  const second = item("b", "Warns", { points: 5, tags: ["axis:safety", "t", "u"], source: "WHO", criterion: 5 });
  assert.deepEqual(
    joined(first, second),
    item("a", "Names the dose Warns", {
      points: 3,
      tags: ["axis:accuracy", "t", "u"],
      source: "NICE; WHO",
      criterion: 4,
    }),
  );
  assert.equal(joined(item("a", "说明"), item("b", "提醒")).text, "说明提醒");
  const taken = joined(item("a", ""), second);
  assert.deepEqual([taken.text, taken.points, taken.tags, taken.criterion], ["Warns", 5, second.tags, 5]);
});

test("an axis takes the place of the one before it", () => {
  const one = item("a", "", { tags: ["x", "axis:safety", "y"] });
  setAxis(one, " accuracy ");
  assert.deepEqual(one.tags, ["x", "axis:accuracy", "y"]);
  setAxis(one, "");
  assert.deepEqual(one.tags, ["x", "y"]);
  setAxis(one, "safety");
  assert.deepEqual(one.tags, ["axis:safety", "x", "y"]);
});

test("in a list that replaces another, a criterion whose text was there stays the same, once", () => {
  const items = [item("a", " Names the dose ", { criterion: 4, points: 1 }), item("b", "Warns")];
  const fresh = [item("x", "Names the dose", { points: 9 }), item("y", "Names the dose"), item("z", "New")];
  const replaced = replaceAll(items, fresh);
  assert.deepEqual(ids(replaced), ["a", "y", "z"]);
  assert.deepEqual(replaced[0], item("a", " Names the dose ", { criterion: 4, points: 9 }));
  assert.equal(items.length, 2);
});

const whole = (passage) => ({ passage, start: null, end: null, quote: "" });
const words = (passage, start, end, quote) => ({ passage, start, end, quote });

test("items differ by their citations and suggestion", () => {
  const cited = item("a", "one", { citations: [whole("P")] });
  assert.ok(!same(cited, item("a", "one")));
  assert.ok(!same(cited, item("a", "one", { citations: [words("P", 0, 3, "One")] })));
  assert.ok(same(cited, item("b", "one", { citations: [{ ...whole("P"), start: undefined }] })));
  assert.ok(!same(item("a", "one", { suggestion: "S" }), item("a", "one")));
  assert.ok(!isBlank(item("a", "", { citations: [whole("P")] })));
  // Kept by a page from before there were citations.
  const { citations, suggestion, ...older } = item("a", "one");
  assert.ok(same(older, item("a", "one")));
  assert.deepEqual(copy([older]), [item("a", "one")]);
});

test("citations that two people add to one criterion are both kept, and removed ones stay away", () => {
  const [p, q, r, s] = ["P", "Q", "R", "S"].map(whole);
  assert.deepEqual(mergeCitations([p, q], [p, q, r], [q, s]), [q, r, s]);
  assert.deepEqual(mergeCitations([], [p], [p]), [p]);
  const merged = merge(
    [item("a", "one", { citations: [p] })],
    [item("a", "one", { citations: [p, r] })],
    [item("a", "two", { citations: [s] })],
  );
  assert.deepEqual(merged.questions, []);
  assert.deepEqual(merged.items, [item("a", "two", { citations: [r, s] })]);
});

test("a source goes with the citation that it names, and one that was typed stays", () => {
  const [p, q, r] = ["p", "q", "r"].map((passage) => ({ passage, start: null, end: null, quote: "" }));
  const words = { passage: "p", start: 0, end: 5, quote: "Fever" };
  const referenceOf = ({ passage }) => ({ p: "Guideline, p. 1", q: "Leaflet" })[passage] ?? "";
  const after = (source, before, left) =>
    sourceAfter(item("a", "Text", { source, citations: before }), left, referenceOf);
  assert.equal(after("Guideline, p. 1", [p], []), "");
  assert.equal(after("Guideline, p. 1", [p, q], [q]), "Leaflet");
  assert.equal(after("Guideline, p. 1", [p, words], [words]), "Guideline, p. 1");
  assert.equal(after("Guideline, p. 1", [p, q], [p]), "Guideline, p. 1");
  assert.equal(after("Guideline, p. 1, table 2", [p], []), "Guideline, p. 1, table 2");
  assert.equal(after("", [r], []), "");
  assert.equal(after("Own words", [p, r], [r]), "Own words");
});

test("undoing a citation leaves what somebody else cites meanwhile", () => {
  const [p, q] = ["P", "Q"].map(whole);
  const target = [item("a", "one")];
  const reached = [item("a", "one", { citations: [p] })];
  const current = [item("a", "one", { citations: [p, q] })];
  assert.deepEqual(back(target, reached, current), [item("a", "one", { citations: [q] })]);
});

test("merging two criteria keeps the citations of both, replacing a list those of the same text", () => {
  const [p, q] = ["P", "Q"].map(whole);
  const first = item("a", "one", { citations: [p], suggestion: "S" });
  assert.deepEqual(joined(first, item("b", "two", { citations: [p, q] })).citations, [p, q]);
  const [replaced] = replaceAll([first], [item("t1", "one", { points: 3 })]);
  assert.deepEqual([replaced.citations, replaced.suggestion, replaced.points], [[p], "S", 3]);
  assert.deepEqual(replaceAll([first], [item("t1", "one", { citations: [q] })])[0].citations, [q]);
});
