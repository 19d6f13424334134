import assert from "node:assert/strict";
import { test } from "node:test";
import { distance, nearest, sameWord } from "../../../static/js/core/nearest.js";

const SPECIALTIES = ["cardiology", "cardiac surgery", "gastroenterology", "neurology", "nephrology", "心内科", "急诊"];

test("the distance of two words is that of Damerau and Levenshtein", () => {
  for (const [first, second, far] of [
    ["", "abc", 3],
    ["kitten", "sitting", 3],
    ["sunday", "saturday", 3],
    ["ca", "ac", 1],
    ["same", "same", 0],
  ]) {
    assert.equal(distance(first, second), far, `${first} ${second}`);
    assert.equal(distance(second, first), far, `${second} ${first}`);
  }
});

test("a word that is begun, or has a slip, is near to the known one", () => {
  assert.deepEqual(nearest("cardio", SPECIALTIES), ["cardiology"]);
  assert.deepEqual(nearest("cardi", SPECIALTIES), ["cardiology", "cardiac surgery"]);
  assert.deepEqual(nearest("gastroentrology", SPECIALTIES), ["gastroenterology"]);
  assert.deepEqual(nearest("surgery", SPECIALTIES), ["cardiac surgery"]);
  assert.deepEqual(nearest("cardiology clinic", SPECIALTIES), ["cardiology"]);
  assert.deepEqual(nearest("心内", SPECIALTIES), ["心内科"]);
  assert.deepEqual(nearest("心", SPECIALTIES), ["心内科"]);
});

test("another word is a new one", () => {
  for (const typed of ["", "c", "ca", "dermatology", "urology", "皮肤科", "pain", "logy"]) {
    assert.deepEqual(nearest(typed, SPECIALTIES), [], typed);
  }
});

test("a word that differs in case, width or hyphens is the known one", () => {
  assert.equal(sameWord("Cardiology", SPECIALTIES), "cardiology");
  assert.equal(sameWord("cardiac-surgery", SPECIALTIES), "cardiac surgery");
  assert.equal(sameWord("ｎｅｕｒｏｌｏｇｙ", SPECIALTIES), "neurology");
  assert.equal(sameWord("cardio", SPECIALTIES), undefined);
});
