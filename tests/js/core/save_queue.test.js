import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { afterStale, SaveQueue } from "../../../static/js/core/save_queue.js";
import { SaveStore } from "../../../static/js/core/save_store.js";
import { FakeStorage } from "./fake_storage.js";

/** A server that keeps one version of each thing, and answers as the product does. */
class Server {
  stored = {};
  requests = [];
  answers = []; // used up before the server answers by itself
  losesAnswers = false;

  send = async (batch) => {
    this.requests.push(batch.map(([id, entry]) => ({ id, ...entry })));
    const planned = this.answers.shift();
    if (typeof planned === "function") return planned(batch);
    if (planned) return planned;
    const results = batch.map(([id, entry]) => this.write(id, entry));
    return this.losesAnswers ? { status: 0, body: null } : { status: 200, body: { results } };
  };

  write(id, { value, version, client_id }) {
    const current = this.stored[id];
    if (current?.client_id === client_id) return { id, status: "saved", version: current.version };
    if ((current?.version ?? 0) !== version) return { id, status: "stale", version: current?.version, current };
    this.stored[id] = { value, client_id, version: version + 1 };
    return { id, status: "saved", version: version + 1 };
  }
}

let storage;
let store;
let server;
let events;
let editor;
let queue;
let person;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  storage = new FakeStorage();
  store = new SaveStore(() => storage, "consilium.test:");
  server = new Server();
  events = [];
  person = { signed_in: true, who: "me", csrf_token: "new" };
  editor = {
    who: "me",
    send: server.send,
    isSame: (entry, current) => entry.value === current.value,
    session: async () => person,
    onStored: (id, { version }, sent) => events.push(["stored", id, version, sent?.value]),
    onAsk: (id, current) => events.push(["ask", id, current.value]),
    onRefused: (id, sent, detail) => events.push(["refused", id, sent.value, detail]),
    onHalted: (halt) => events.push(["halted", halt]),
  };
  queue = new SaveQueue(editor, store);
  globalThis.document = new EventTarget();
});

/** All promises that wait for nothing but each other. */
async function settled() {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
}

async function pass(milliseconds) {
  mock.timers.tick(milliseconds);
  await settled();
}

const keys = () => Object.keys(storage);
const values = () => server.requests.map((batch) => batch.map(({ value }) => value).join("+"));

test("what is put is in the storage at once, and leaves it when the server has it", async () => {
  queue.put("a", { value: "one" }, 0);
  assert.deepEqual(keys(), ["consilium.test:a"]);
  await settled();
  assert.equal(server.stored.a.value, "one");
  assert.deepEqual(keys(), []);
  assert.deepEqual(events, [["stored", "a", 1, "one"]]);
});

test("what is put while a save is under way goes over that save, and is no conflict", async () => {
  queue.put("a", { value: "one" }, 0);
  queue.put("a", { value: "two" }, 0);
  await settled();
  assert.deepEqual(values(), ["one", "two"]);
  assert.equal(server.stored.a.version, 2);
  assert.equal(server.stored.a.value, "two");
  assert.equal(queue.pending.size, 0);
});

test("typing is sent once, a while after the last letter", async () => {
  for (const value of ["w", "wo", "word"]) {
    queue.put("a", { value }, 0, { wait: 600 });
    await pass(500);
  }
  assert.deepEqual(values(), []);
  assert.equal(JSON.parse(storage["consilium.test:a"]).value, "word");
  await pass(100);
  assert.deepEqual(values(), ["word"]);
});

test("one thing that is being typed holds up no other", async () => {
  queue.put("a", { value: "typ" }, 0, { wait: 600 });
  queue.put("b", { value: "chosen" }, 0);
  await settled();
  assert.deepEqual(values(), ["chosen"]);
  await pass(600);
  assert.deepEqual(values(), ["chosen", "typ"]);
});

test("handing in waits for nothing", async () => {
  queue.put("a", { value: "typ" }, 0, { wait: 600 });
  queue.stopWaiting();
  await queue.flush();
  assert.deepEqual(values(), ["typ"]);
});

test("handing in sends what is put meanwhile, too, and gives up where a save fails", async () => {
  server.answers = [
    (batch) => {
      queue.put("a", { value: "more" }, 0, { wait: 600 });
      return { status: 200, body: { results: batch.map(([id, entry]) => server.write(id, entry)) } };
    },
  ];
  queue.put("a", { value: "typ" }, 0, { wait: 600 });
  await queue.flushAll();
  assert.equal(server.stored.a.value, "more");
  server.answers = [{ status: 0, body: null }];
  queue.put("a", { value: "last" }, 2, { wait: 600 });
  await queue.flushAll();
  assert.equal(queue.pending.size, 1);
});

test("a lost answer is no conflict: the same entry is sent under its id", async () => {
  server.losesAnswers = true;
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.failures, 1);
  server.losesAnswers = false;
  await pass(1000);
  assert.equal(server.requests[0][0].client_id, server.requests[1][0].client_id);
  assert.equal(server.stored.a.version, 1);
  assert.deepEqual(keys(), []);
});

test("what is put after a lost answer goes over the save that arrived", async () => {
  server.losesAnswers = true;
  queue.put("a", { value: "one" }, 0);
  await settled();
  server.losesAnswers = false;
  queue.put("a", { value: "two" }, 0);
  await settled();
  assert.equal(server.stored.a.value, "two");
  assert.equal(server.stored.a.version, 2);
  assert.equal(queue.questions.size, 0);
});

test("the last thirty ids of what was sent are kept", async () => {
  server.losesAnswers = true;
  for (let number = 0; number < 40; number += 1) {
    queue.put("a", { value: `${number}` }, 0);
    await settled();
  }
  const ids = server.requests.map(([{ client_id }]) => client_id);
  assert.deepEqual(JSON.parse(storage["consilium.test:a"]).after, ids.slice(9, 39));
});

test("a visit later, too", async () => {
  server.losesAnswers = true;
  queue.put("a", { value: "one" }, 0);
  await settled();
  queue.put("a", { value: "two" }, 0);
  await settled();
  server.losesAnswers = false;
  const later = new SaveQueue(editor, store);
  for (const [id, entry] of Object.entries(store.entries())) later.takeUp(id, entry);
  await later.flush();
  assert.equal(server.stored.a.value, "two");
  assert.equal(later.questions.size, 0);
  assert.deepEqual(keys(), []);
});

test("no connection, an error, a page of a network in between: tried again, at most every five seconds", async () => {
  const failures = [
    { status: 0, body: null },
    { status: 502, body: null },
    { status: 200, body: null },
    { status: 200, body: {} },
    { status: 200, body: { results: [] } },
    { status: 200, body: { results: [{ id: "other", status: "saved", version: 9 }] } },
    { status: 500, body: { detail: "Error" } },
    { status: 429, body: { detail: "Too many" } },
    { status: 302, body: null },
  ];
  server.answers = [...failures];
  queue.put("a", { value: "one" }, 0);
  await settled();
  for (const delay of [1000, 2000, 4000, 5000, 5000, 5000, 5000, 5000]) {
    const before = server.requests.length;
    await pass(delay - 1);
    assert.equal(server.requests.length, before);
    await pass(1);
    assert.equal(server.requests.length, before + 1);
    assert.equal(queue.halted, "");
    assert.deepEqual(keys(), ["consilium.test:a"]);
  }
  await pass(5000);
  assert.equal(server.stored.a.value, "one");
  assert.equal(queue.failures, 0);
});

test("who is signed out is asked to sign in, not in the middle of a word; then all is sent", async () => {
  let asked = 0;
  document.addEventListener("consilium:signed-out", () => asked++);
  server.answers = [{ status: 401, body: null }];
  queue.put("a", { value: "one" }, 0, { wait: 600 });
  await pass(600);
  assert.equal(queue.halted, "signed-out");
  queue.put("a", { value: "more" }, 0, { wait: 600 });
  await pass(1400);
  assert.equal(asked, 0);
  await pass(400);
  assert.equal(asked, 1);
  await queue.flush();
  assert.equal(server.requests.length, 1);
  await queue.resume();
  assert.equal(server.stored.a.value, "more");
});

test("nothing is sent for somebody else, until the author is back", async () => {
  server.answers = [{ status: 409, body: { reason: "somebody-else" } }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.halted, "somebody");
  person = { signed_in: true, who: "other" };
  await queue.resume();
  await pass(60_000);
  assert.equal(server.requests.length, 1);
  person = { signed_in: true, who: "me" };
  await queue.resume();
  assert.equal(server.stored.a.value, "one");
});

test("an old token is renewed, and the save sent again at once", async () => {
  server.answers = [{ status: 403, body: null }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(server.stored.a.value, "one");
});

test("what was refused as somebody else's is asked once more, then nothing is sent and all is kept", async () => {
  server.answers = [
    { status: 404, body: null },
    { status: 404, body: null },
  ];
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.deepEqual(events, [["halted", "gone"]]);
  await pass(60_000);
  assert.equal(server.requests.length, 2);
  assert.deepEqual(keys(), ["consilium.test:a"]);
});

test("404 because of another account: nothing is given up", async () => {
  server.answers = [{ status: 404, body: null }];
  person = { signed_in: true, who: "other" };
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.halted, "somebody");
  assert.deepEqual(keys(), ["consilium.test:a"]);
});

test("where nobody can say who is signed in, it is tried again later", async () => {
  server.answers = [{ status: 403, body: null }];
  person = null;
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.halted, "");
  await pass(1000);
  assert.equal(server.stored.a.value, "one");
});

test("work that is paused is kept, and sent with the next change or when the person comes back", async () => {
  const paused = { status: 409, body: { detail: "Paused" } };
  server.answers = [paused, paused];
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.halted, "refused");
  await pass(60_000);
  assert.equal(server.requests.length, 1);
  queue.put("b", { value: "other" }, 0);
  await settled();
  assert.equal(queue.halted, "refused");
  await queue.resume();
  assert.equal(server.stored.a.value, "one");
  assert.equal(server.stored.b.value, "other");
});

test("what is too large for a server in between is kept, and not sent again and again", async () => {
  server.answers = [{ status: 413, body: null }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  await pass(60_000);
  assert.equal(server.requests.length, 1);
  assert.deepEqual(keys(), ["consilium.test:a"]);
});

test("who comes back to the page goes on, once they are signed in again", async () => {
  globalThis.window = new EventTarget();
  queue.listen();
  server.answers = [{ status: 401, body: null }];
  person = { signed_in: false, who: "" };
  queue.put("a", { value: "one" }, 0);
  await settled();
  window.dispatchEvent(new Event("focus"));
  await settled();
  assert.equal(server.requests.length, 1);
  person = { signed_in: true, who: "me" };
  window.dispatchEvent(new Event("focus"));
  await settled();
  assert.equal(server.stored.a.value, "one");
});

test("who has signed in on the page is not kept waiting by one request that gets lost", async () => {
  globalThis.window = new EventTarget();
  queue.listen();
  server.answers = [{ status: 401, body: null }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  assert.equal(queue.halted, "signed-out");
  person = null;
  document.dispatchEvent(new Event("consilium:signed-in"));
  await settled();
  assert.equal(queue.halted, "");
  assert.equal(server.stored.a.value, "one");
});

test("signing in as somebody else sends nothing of the author's", async () => {
  globalThis.window = new EventTarget();
  queue.listen();
  server.answers = [{ status: 401, body: null }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  person = { signed_in: true, who: "other" };
  document.dispatchEvent(new Event("consilium:signed-in"));
  await settled();
  assert.equal(queue.halted, "somebody");
  assert.equal(server.requests.length, 1);
});

test("a page that is left sends what was being typed", async () => {
  globalThis.window = new EventTarget();
  queue.listen();
  queue.put("a", { value: "typ" }, 0, { wait: 600 });
  window.dispatchEvent(new Event("pagehide"));
  await settled();
  assert.equal(server.stored.a.value, "typ");
});

test("what is put while a request is under way that is refused is sent all the same", async () => {
  let answer;
  server.answers = [() => new Promise((resolve) => (answer = resolve))];
  queue.put("a", { value: "too long" }, 0);
  queue.put("a", { value: "shorter" }, 0, { wait: 600 });
  answer({ status: 413, body: null });
  await settled();
  assert.equal(queue.halted, "");
  assert.deepEqual(values(), ["too long"]);
  await pass(600);
  assert.equal(server.stored.a.value, "shorter");
  assert.deepEqual(events, [["stored", "a", 1, "shorter"]]); // nothing was called refused that is not wanted any more
});

test("so is another thing that is put meanwhile, and a refusal of both is said", async () => {
  let answer;
  const paused = { status: 409, body: { detail: "Paused" } };
  server.answers = [() => new Promise((resolve) => (answer = resolve)), paused];
  queue.put("a", { value: "one" }, 0);
  queue.put("b", { value: "other" }, 0);
  answer(paused);
  await settled();
  await pass(0);
  assert.deepEqual(values(), ["one", "one"]);
  assert.equal(queue.halted, "refused");
  assert.deepEqual(events, [["halted", "refused"]]);
});

test("handing in tries again what was refused", async () => {
  server.answers = [{ status: 409, body: { detail: "Paused" } }];
  queue.put("a", { value: "one" }, 0);
  await settled();
  await queue.flushAll();
  assert.equal(server.stored.a.value, "one");
});

test("another version is asked about and overwrites nothing", async () => {
  server.stored.a = { value: "theirs", version: 3, client_id: "x" };
  queue.put("a", { value: "mine" }, 2);
  queue.put("b", { value: "other" }, 0);
  await settled();
  assert.deepEqual(events, [
    ["stored", "a", 3, undefined],
    ["ask", "a", "theirs"],
    ["stored", "b", 1, "other"],
  ]);
  await pass(60_000);
  assert.equal(server.stored.a.value, "theirs");
  assert.deepEqual(keys(), ["consilium.test:a"]);
  assert.equal(queue.answer("a", { keepsMine: true }).value, "theirs");
  await queue.flush();
  assert.equal(server.stored.a.value, "mine");
  assert.equal(server.stored.a.version, 4);
  assert.equal(queue.answer("a", { keepsMine: true }), null);
});

test("who takes the other version forgets their own", async () => {
  server.stored.a = { value: "theirs", version: 3, client_id: "x" };
  queue.put("a", { value: "mine" }, 2);
  await settled();
  queue.answer("a", { keepsMine: false });
  await queue.flush();
  assert.equal(server.requests.length, 1);
  assert.deepEqual(keys(), []);
});

test("the same content is no question", async () => {
  server.stored.a = { value: "same", version: 3, client_id: "x" };
  queue.put("a", { value: "same" }, 2);
  await settled();
  assert.deepEqual(events, [["stored", "a", 3, "same"]]);
  assert.deepEqual(keys(), []);
});

test("what was never sent, or is known not to be stored, can be taken back", async () => {
  assert.equal(queue.mayHaveArrived("a"), false);
  queue.put("a", { value: "one" }, 0, { wait: 600 });
  assert.equal(queue.mayHaveArrived("a"), false);
  server.losesAnswers = true;
  await pass(600);
  assert.equal(queue.mayHaveArrived("a"), true);
  queue.put("a", { value: "two" }, 0, { wait: 10_000 });
  assert.equal(queue.mayHaveArrived("a"), true);
  server.stored.a = { value: "theirs", version: 3, client_id: "x" };
  server.losesAnswers = false;
  await pass(10_000);
  assert.equal(queue.mayHaveArrived("a"), false);
  queue.forget("a");
  assert.deepEqual(keys(), []);
});

test("a page may merge", async () => {
  editor.resolve = (id, entry, _sent, current) => {
    queue.rebase(id, current.version, { value: `${current.value}+${entry.value}` });
    return "resolved";
  };
  server.stored.a = { value: "theirs", version: 3, client_id: "x" };
  const mine = queue.put("a", { value: "mine" }, 2);
  await settled();
  assert.equal(server.stored.a.value, "theirs+mine");
  assert.notEqual(server.stored.a.client_id, mine.client_id);
});

test("what is refused for ever leaves the queue; what was put since goes on", async () => {
  server.answers = [{ status: 200, body: { results: [{ id: "a", status: "refused", detail: "No" }] } }];
  queue.put("a", { value: "bad" }, 0);
  queue.put("a", { value: "good" }, 0);
  await settled();
  assert.deepEqual(events[0], ["refused", "a", "bad", "No"]);
  assert.equal(server.stored.a.value, "good");
});

test("what an answer says nothing about is sent again", async () => {
  editor.batchSize = 2;
  queue.put("c", { value: "three" }, 0, { wait: 1 });
  queue.put("a", { value: "one" }, 0, { wait: 1 });
  server.answers = [{ status: 200, body: { results: [{ id: "a", status: "saved", version: 1 }] } }];
  await pass(1);
  assert.deepEqual(values(), ["three+one", "three"]);
  assert.deepEqual(keys(), []);
});

test("many go in one request, as many as it takes", async () => {
  editor.batchSize = 2;
  for (const id of ["a", "b", "c"]) queue.put(id, { value: id }, 0, { wait: 1 });
  await pass(1);
  assert.deepEqual(values(), ["a+b", "c"]);
});

test("a server that contradicts itself is not asked without a pause", async () => {
  const first = queue.put("a", { value: "one" }, 0, { wait: 1 });
  const entry = queue.put("a", { value: "two" }, 0, { wait: 1, after: [first.client_id] });
  const current = { value: "one", version: entry.version, client_id: first.client_id };
  server.answers = Array(3).fill({ status: 200, body: { results: [{ id: "a", status: "stale", current }] } });
  await pass(1);
  assert.equal(server.requests.length, 1);
});

test("a change of mind before it was sent is sent once, after the others, on the version they saw", async () => {
  server.stored.a = { value: "old", version: 2, client_id: "x" };
  queue.put("a", { value: "first" }, 2, { wait: 1 });
  queue.put("b", { value: "other" }, 0, { wait: 1 });
  queue.put("a", { value: "second" }, 9, { wait: 1 });
  await pass(1);
  assert.deepEqual(values(), ["other", "second"]);
  assert.equal(server.stored.a.value, "second");
});

test("another piece of work waits for no answer to the one before", async () => {
  server.answers = [() => new Promise(() => {})];
  queue.put("a", { value: "one" }, 0);
  queue.open(new SaveStore(() => storage, "consilium.next:"));
  queue.put("a", { value: "next" }, 0);
  await settled();
  assert.equal(server.stored.a.value, "next");
});

test("another piece of work: the answer to the one before drops what it saved there, and nothing else", async () => {
  let answer;
  server.answers = [
    (batch) =>
      new Promise((resolve) => {
        answer = () => resolve({ status: 200, body: { results: batch.map(([id, e]) => server.write(id, e)) } });
      }),
  ];
  queue.put("a", { value: "one" }, 0);
  const next = new SaveStore(() => storage, "consilium.next:");
  queue.open(next);
  queue.put("a", { value: "next" }, 1, { wait: 10_000 });
  assert.deepEqual(keys().sort(), ["consilium.next:a", "consilium.test:a"]);
  answer();
  await settled();
  assert.deepEqual(keys(), ["consilium.next:a"]);
  assert.deepEqual(events, []);
  assert.equal(queue.pending.get("a").value, "next");
});

test("a storage that is full keeps no older entry of what was saved", async () => {
  queue.put("a", { value: "old" }, 0, { wait: 600 });
  storage.setItem = () => {
    throw new Error("full");
  };
  queue.put("a", { value: "new" }, 0);
  await settled();
  assert.equal(server.stored.a.value, "new");
  assert.deepEqual(store.entries(), {});
});

test("a storage that is full loses nothing while the page is open, and says so", async () => {
  server.answers = [{ status: 0, body: null }];
  storage.setItem = () => {
    throw new Error("full");
  };
  queue.put("a", { value: "one" }, 0);
  assert.equal(queue.isKept, false);
  assert.equal(store.get("a").value, "one");
  await settled();
  await pass(1000);
  assert.equal(server.stored.a.value, "one");
  assert.deepEqual(store.entries(), {});
});

test("after a stale answer: the same, one of ours, somebody else's", () => {
  const isSame = (entry, current) => entry.value === current.value;
  const entry = { value: "new", version: 1, client_id: "c", after: ["b"] };
  const sent = { value: "old", version: 1, client_id: "b", after: ["a"] };
  const after = (current) => afterStale(entry, sent, { version: 2, ...current }, isSame);
  assert.equal(after({ value: "new", client_id: "x" }), "done");
  assert.equal(after({ value: "old", client_id: "b" }), "rebase");
  assert.equal(after({ value: "older", client_id: "a" }), "rebase");
  assert.equal(after({ value: "theirs", client_id: "x" }), "ask");
  assert.equal(after({ value: "theirs", client_id: "" }), "ask");
  assert.equal(after({ value: "theirs" }), "ask");
});
