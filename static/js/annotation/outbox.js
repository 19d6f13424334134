/* Decisions on their way: they wait in the browser's storage, for their author alone, until the server has them.

   An entry is the whole state of one decision, with the version that its author saw, an id of its own, and in `after`
   the ids of the entries that were on the screen when it was made. It leaves the storage only when the server has said
   that this very entry is saved; a repeated one changes nothing there. Two tabs share the storage, and tell each
   other. */
(() => {
  "use strict";
  const box = document.getElementById("outbox");
  if (!box?.dataset.who) return;
  const { newId, ask, session } = window.consilium.server;
  const who = box.dataset.who;
  const prefix = `consilium.outbox:${who}:`;
  const tab = newId();
  const kept = new Map(); // what storage could not take: full, or forbidden

  /* Storage: one key for each decision, so that two tabs never write over each other's */
  const keyOf = (assignment, id) => `${prefix}${assignment}:${id}`;
  function placeOf(key) {
    if (!key?.startsWith(prefix)) return null;
    const [assignment, id] = key.slice(prefix.length).split(":");
    return { assignment, id };
  }
  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
  function entries(wanted) {
    const found = {};
    const add = (key, entry) => {
      const place = placeOf(key);
      if (!place || !entry || (wanted && place.assignment !== wanted)) return;
      found[place.assignment] ??= {};
      found[place.assignment][place.id] = entry;
    };
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(prefix)) add(key, parsed(localStorage.getItem(key)));
    } catch {
      // Forbidden: what there is, is in memory.
    }
    kept.forEach((entry, key) => {
      add(key, entry);
    });
    return wanted ? (found[wanted] ?? {}) : found;
  }
  function put(assignment, id, entry) {
    const key = keyOf(assignment, id);
    try {
      localStorage.setItem(key, JSON.stringify(entry));
      kept.delete(key);
    } catch {
      kept.set(key, entry);
    }
  }
  /* Only the entry that was meant: another tab may have put a newer one there. */
  function drop(assignment, id, clientId) {
    const key = keyOf(assignment, id);
    if (kept.get(key)?.client_id === clientId) kept.delete(key);
    try {
      if (parsed(localStorage.getItem(key))?.client_id === clientId) localStorage.removeItem(key);
    } catch {
      // Nothing was stored.
    }
  }
  const wire = (id, entry) => ({
    criterion: Number(id),
    outcome: entry.outcome,
    borderline: entry.borderline,
    note: entry.note,
    evidence: entry.evidence.map(({ start, end }) => ({ start, end })),
    version: entry.version,
    client_id: entry.client_id,
  });

  /* The server */
  const send = (url, batch, more = {}) =>
    ask("POST", url, { decisions: Object.entries(batch).map(([id, entry]) => wire(id, entry)), ...more });

  /* Other tabs of this browser */
  const listeners = [];
  const name = `consilium:${who}`;
  const channel = "BroadcastChannel" in window ? new BroadcastChannel(name) : null;
  function say(message) {
    const whole = { ...message, tab };
    if (channel) channel.postMessage(whole);
    else {
      try {
        localStorage.setItem(name, JSON.stringify({ ...whole, nonce: newId() }));
      } catch {
        // Then each tab learns from the server what the other did.
      }
    }
  }
  const hear = (listener) => listeners.push(listener);
  const tell = (message) =>
    listeners.forEach((listener) => {
      if (message && message.tab !== tab) listener(message);
    });
  channel?.addEventListener("message", (event) => tell(event.data));
  window.addEventListener("storage", (event) => {
    if (event.key === name) tell(parsed(event.newValue));
    const place = placeOf(event.key);
    if (place)
      listeners.forEach((listener) => {
        listener({ type: "entry", ...place, entry: parsed(event.newValue), before: parsed(event.oldValue) });
      });
  });

  /* What another page left behind: a tab that was killed, an evening without a connection */
  let clearing = null;
  function sendLeft(except) {
    clearing ??= clear(except).finally(() => (clearing = null));
    return clearing;
  }
  async function clear(except) {
    for (const [assignment, left] of Object.entries(entries())) {
      if (assignment === except) continue;
      let refused = null; // why the server will have none of it
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const batch = entries(assignment);
        if (!Object.keys(batch).length) break;
        const { status, body } = await send(
          box.dataset.decisions.replace("ASSIGNMENT", encodeURIComponent(assignment)),
          batch,
        );
        if (status === 0 || status === 401) return;
        if (status === 404 || status === 409) refused = { status, detail: body?.detail ?? "" };
        if (status !== 200) break;
        let again = false;
        for (const result of body.results) {
          const id = String(result.criterion);
          if (result.result === "saved") drop(assignment, id, batch[id].client_id);
          else if (result.result === "stale" && batch[id].after?.includes(result.current.client_id)) {
            put(assignment, id, { ...batch[id], version: result.current.version });
            again = true;
          }
        }
        if (!again) break;
      }
      document.dispatchEvent(new CustomEvent("consilium:left", { detail: { assignment, left, refused } }));
    }
  }
  const left = (except) => Object.entries(entries()).filter(([assignment]) => assignment !== except);

  window.consilium = Object.assign(window.consilium ?? {}, {
    outbox: {
      who,
      newId,
      entries,
      put,
      drop,
      ask,
      send,
      session,
      say,
      hear,
      sendLeft,
      left,
      page: (assignment) => box.dataset.page.replace("ASSIGNMENT", encodeURIComponent(assignment)),
    },
  });
})();
