import assert from "node:assert/strict";
import { test } from "node:test";
import {
  afterStaleReview,
  needsReason,
  resumedEntry,
  reviewPayload,
} from "../../../../static/js/annotation/reviewing/review_entries.js";

const ROW = { was: "met", version: 4, clientId: "new" };
const CHECKING = { adjudicating: false };
const ADJUDICATING = { adjudicating: true };

function entry(more = {}) {
  return { outcome: "not_met", reason: "why", was: "met", version: 4, client_id: "a", after: [], ...more };
}

test("an entry of the storage is sent as it was kept, but its outcome before is that of the page", () => {
  const kept = { ...entry({ version: 2, client_id: "old", after: ["x"], was: "cannot_assess" }), unsent: true };
  const resumed = resumedEntry(kept, ROW);
  assert.deepEqual([resumed.version, resumed.client_id, resumed.after, resumed.was], [2, "old", ["x"], "met"]);
  const older = resumedEntry({ outcome: "met", reason: "", unsent: true }, ROW); // of a page without versions
  assert.deepEqual([older.version, older.client_id, older.after], [4, "new", []]);
});

test("a ruling that is taken back is sent as none", () => {
  assert.deepEqual(reviewPayload(entry({ outcome: "" })), {
    outcome: "none",
    reason: "why",
    version: "4",
    client_id: "a",
  });
});

test("what is stored already is done with; the white space around a reason does not count", () => {
  const stored = { outcome: "not_met", reason: "why", client: "x", default: "met" };
  assert.equal(afterStaleReview(entry({ reason: " why " }), stored, CHECKING), "done");
  assert.equal(afterStaleReview(entry({ reason: "other" }), stored, CHECKING), "ask");
});

test("to take an amendment back needs no reason; a ruling is the same only with its reason", () => {
  const stored = { outcome: "met", reason: "", client: "x", default: "met" };
  assert.equal(afterStaleReview(entry({ outcome: "met" }), stored, CHECKING), "done");
  assert.equal(afterStaleReview(entry({ outcome: "met" }), stored, ADJUDICATING), "ask");
});

test("an earlier save of ours is no question", () => {
  const stored = { outcome: "met", reason: "", client: "b", default: "cannot_assess" };
  assert.equal(afterStaleReview(entry({ after: ["b"] }), stored, CHECKING), "rebase");
});

test("a checker gives a reason for what differs, an adjudicator for a faulty criterion", () => {
  assert.equal(needsReason("met", { adjudicating: false, default: "met" }), false);
  assert.equal(needsReason("not_met", { adjudicating: false, default: "met" }), true);
  assert.equal(needsReason("not_met", { adjudicating: true }), false);
  assert.equal(needsReason("faulty", { adjudicating: true }), true);
});
