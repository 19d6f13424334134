/* Writing a response: the text waits in this browser until the server has it, nothing of another tab is written over
   unasked, and it is handed in only after a question. */
(() => {
  "use strict";
  const { server } = window.consilium;
  const page = document.getElementById("work");
  const editor = document.getElementById("text");
  const saved = document.getElementById("saved");
  const shown = document.getElementById("shown");
  const byId = (id) => document.getElementById(id);
  const words = (key) => byId("words").dataset[`text${key[0].toUpperCase()}${key.slice(1)}`];
  const { who, task } = page.dataset;
  const writable = Boolean(page.dataset.writable);
  const KEY = `consilium.writing:${who}:${task}`;
  const SLOW_DOWN_MS = 600; // between a keystroke and its saving
  const LONGEST_TRAIL = 30;

  let version = Number(page.dataset.version);
  let reference = page.dataset.reference === "" ? null : Number(page.dataset.reference);
  let pending = null; // what the server does not have yet
  let trail = []; // ids of what was sent: an answer that was lost is no conflict
  let later = null;
  let sending = null;
  let retry = null;
  let failures = 0;
  let halted = ""; // why nothing is sent any more
  let asked = null; // what stands on the server while the person chooses
  let storable = true;
  let lastSaved = "";
  let leaving = false;

  /* What the page shows */
  // Han, kana and hangul are counted one by one, all else by the spaces between; as the server counts.
  const WORDS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\s\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+/g;
  const counted = () => {
    const box = byId("count");
    const words = (editor.value.match(WORDS) ?? []).length;
    const length = [...editor.value].length;
    return `${words} ${box.dataset.textWords} · ${length} ${box.dataset.textCharacters}`;
  };
  function showCount() {
    byId("count").textContent = counted();
    byId("submit")?.classList.toggle("ready", Boolean(editor.value.trim()));
    const from = byId("from");
    from.hidden = reference === null;
    if (reference !== null)
      from.querySelector("span").textContent = from.dataset.text.replace("LETTER", "ABCDEFGH"[reference]);
  }
  function showSaving() {
    if (!saved) return;
    const stuck = pending && (failures > 0 || !navigator.onLine || halted || asked);
    saved.classList.toggle("offline", Boolean(stuck));
    saved.classList.toggle("saving", Boolean(pending && !stuck));
    const offline = !navigator.onLine || (failures > 0 && !halted);
    const text = stuck
      ? words(offline ? "offline" : "kept")
      : pending
        ? words("saving")
        : lastSaved
          ? `${words("saved")} ${lastSaved}`
          : saved.textContent;
    if (saved.textContent !== text) saved.textContent = text;
  }
  function refuse(detail, place = byId("refusal")) {
    const notice = document.createElement("div");
    notice.className = "notice error";
    notice.setAttribute("role", "alert");
    notice.appendChild(document.createElement("p")).textContent = detail;
    place.replaceChildren(notice);
  }

  /* Kept in this browser until the server has it */
  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...pending, trail }));
      storable = true;
    } catch {
      if (storable) refuse(words("storage"));
      storable = false; // full or forbidden: it is kept as long as the page
    }
  }
  function forget() {
    pending = null;
    try {
      localStorage.removeItem(KEY);
    } catch {
      // Nothing was stored.
    }
  }
  function kept() {
    try {
      return JSON.parse(localStorage.getItem(KEY));
    } catch {
      return null;
    }
  }
  function put() {
    clearTimeout(later);
    later = null;
    if (!writable) return;
    if (!editor.value.trim()) reference = null;
    // What was refused may be taken by now: the batch goes on, or the text is shorter.
    if (halted === "refused") halted = "";
    pending = { text: editor.value, reference, version, client_id: server.newId() };
    keep();
    showCount();
    showSaving();
    flush();
  }
  const putNow = () => later !== null && put();

  /* Sending */
  const ask = (url, body) => server.ask("POST", url, body);
  function flush() {
    if (sending) return sending;
    if (!pending || halted || asked) return Promise.resolve();
    clearTimeout(retry);
    sending = deliver().finally(() => {
      sending = null;
      showSaving();
      if (pending && !halted && !asked)
        retry = setTimeout(flush, failures ? Math.min(30_000, 500 * 2 ** Math.min(failures, 6)) : 0);
    });
    return sending;
  }
  async function deliver() {
    while (pending && !halted && !asked) {
      const sent = pending;
      trail = [...trail, sent.client_id].slice(-LONGEST_TRAIL);
      keep();
      if (!settle(sent, await ask(page.dataset.saveUrl, { who, draft: sent }))) return;
    }
  }
  /* What came back; true when the next request may follow. */
  function settle(sent, { status, body }) {
    if (status === 200) {
      failures = 0;
      byId("refusal").replaceChildren();
      done(sent.client_id, body);
      return true;
    }
    if (body?.reason === "stale") {
      overtaken(body.current);
      return true;
    }
    if (status === 401) {
      halted = "signed-out";
      document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    } else if (body?.reason === "somebody-else") {
      halted = "somebody";
      refuse(words("somebody"));
    } else if (status === 404) {
      halted = "gone";
      refuse(words("gone"));
    } else if ([409, 413, 422].includes(status)) {
      halted = "refused"; // paused, closed, handed in or too long; what was written stays in this browser
      refuse(body?.detail ?? "");
    } else {
      if (status === 403) server.session();
      failures += 1;
    }
    return false;
  }
  function done(clientId, standing) {
    version = standing.version;
    lastSaved = standing.at;
    if (pending?.client_id === clientId) forget();
    else if (pending) rebase();
    showSaving();
  }
  function rebase() {
    pending = { ...pending, version, client_id: server.newId() };
    keep();
  }
  function overtaken(standing) {
    version = standing.version;
    // Ours, though its answer was lost, needs no question.
    if (pending.text === standing.text) done(pending.client_id, standing);
    else if (trail.includes(standing.client_id)) rebase();
    else choose(standing);
  }
  document.addEventListener("consilium:signed-in", () => {
    halted = "";
    flush();
  });
  window.addEventListener("online", () => {
    failures = 0;
    flush();
    showSaving();
  });
  window.addEventListener("offline", showSaving);
  window.addEventListener("pagehide", putNow);
  window.addEventListener("beforeunload", (event) => {
    putNow();
    if (pending && !leaving) event.preventDefault();
  });

  /* Two versions of the text: the person chooses */
  const choice = byId("choice");
  function choose(standing) {
    asked = standing;
    choice.querySelector("[data-theirs]").textContent = standing.text || words("nothing");
    choice.querySelector("[data-theirs-at]").textContent = standing.at;
    choice.querySelector("[data-mine]").textContent = pending.text || words("nothing");
    showSaving();
    document.querySelectorAll("dialog[open]").forEach((dialog) => {
      dialog.close();
    });
    choice.showModal();
  }
  choice.addEventListener("click", (event) => {
    const keepMine = event.target.closest("[data-keep-mine]");
    if (!asked || !(keepMine || event.target.closest("[data-take-saved]"))) return;
    const standing = asked;
    asked = null;
    choice.close();
    if (keepMine) rebase();
    else {
      editor.value = standing.text;
      reference = standing.reference;
      done(pending.client_id, standing);
      showCount();
    }
    flush();
  });
  // Escape would leave the question open with nothing to answer it.
  choice.addEventListener("cancel", (event) => event.preventDefault());

  /* Writing, previewing, starting from a reference */
  editor.addEventListener("input", () => {
    showCount();
    clearTimeout(later);
    later = setTimeout(put, SLOW_DOWN_MS);
  });
  async function view(name) {
    document.querySelectorAll("[data-view]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.view === name));
    });
    if (name === "preview") {
      const { status, body } = await ask(page.dataset.checkUrl, { text: editor.value });
      if (status === 200 && body.html) shown.innerHTML = body.html;
      else shown.textContent = status === 200 ? words("nothing") : words("failed");
    }
    shown.hidden = name !== "preview";
    editor.hidden = name === "preview";
    if (name === "write") editor.focus({ preventScroll: true });
  }
  const previewing = () => !shown.hidden;
  const replace = byId("replace");
  let wanted = null; // the place of a reference, or null: nothing
  function startFrom(place) {
    wanted = place;
    if (!editor.value.trim()) {
      begin();
      return;
    }
    replace.querySelector("[data-from]").hidden = place === null;
    replace.querySelector("[data-over]").hidden = place !== null;
    replace.showModal();
  }
  function begin() {
    editor.value = wanted === null ? "" : JSON.parse(byId(`reference-text-${wanted}`).textContent);
    reference = wanted;
    put();
    view("write");
  }
  replace.querySelector("[data-replace]").addEventListener("click", () => {
    replace.close();
    begin();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-view], [data-start-from], [data-start-over]");
    if (!button) return;
    if (button.dataset.view) view(button.dataset.view);
    else if (writable) startFrom(button.dataset.startFrom === undefined ? null : Number(button.dataset.startFrom));
  });

  /* Handing in */
  const dialog = byId("hand-in");
  const refused = byId("hand-in-refused");
  function tellInDialog(detail) {
    refused.hidden = !detail;
    refused.querySelector("p").textContent = detail ?? "";
  }
  async function question() {
    if (!writable || dialog.open || choice.open) return;
    putNow();
    if (!editor.value.trim()) {
      refuse(words("empty"));
      editor.focus();
      return;
    }
    byId("refusal").replaceChildren();
    tellInDialog("");
    byId("privacy").hidden = true;
    byId("hand-in-count").textContent = counted();
    dialog.showModal();
    const { body } = await ask(page.dataset.checkUrl, { text: editor.value });
    const found = body?.privacy ?? [];
    byId("privacy").hidden = !found.length;
    byId("privacy")
      .querySelector("ul")
      .replaceChildren(
        ...found.map((line) => {
          const item = document.createElement("li");
          item.textContent = line;
          return item;
        }),
      );
  }
  // Whoever goes on writing comes back to the text, not to its preview.
  dialog.addEventListener("close", () => writable && view("write"));
  let submitting = false;
  async function submit() {
    if (submitting) return;
    submitting = true;
    byId("confirm").setAttribute("aria-busy", "true");
    try {
      tellInDialog("");
      putNow();
      await flush();
      if (pending) {
        if (!asked) tellInDialog(words("unsent"));
        return;
      }
      const { status, body } = await ask(page.dataset.submitUrl, {
        who,
        version,
        attested: Boolean(byId("attested")?.checked),
      });
      if (status === 200) {
        leaving = true;
        location.assign(body.next);
      } else if (body?.reason === "stale") {
        // Shown with what stands, as if the page had tried to save over it.
        pending = { text: editor.value, reference, version, client_id: server.newId() };
        overtaken(body.current);
      } else if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      else if (body?.reason === "somebody-else") tellInDialog(words("somebody"));
      else if (status === 404) tellInDialog(words("gone"));
      else {
        if (status === 403) server.session();
        tellInDialog(body?.detail ?? words("failed"));
      }
    } finally {
      submitting = false;
      byId("confirm").removeAttribute("aria-busy");
    }
  }
  byId("submit")?.addEventListener("click", question);
  byId("submit-form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      if (dialog.open) byId("submit-form").requestSubmit();
      else question();
    } else if (event.altKey && event.code === "KeyP") {
      event.preventDefault();
      view(previewing() ? "write" : "preview");
    } else if (event.key === "Escape" && previewing() && !document.querySelector("dialog[open]")) view("write");
    else if (event.key === "?" && event.target !== editor && !document.querySelector("dialog[open]"))
      byId("keys").showModal();
  });

  /* What an earlier visit left: the text of this browser goes into the editor, and the server is asked. */
  const left = writable ? kept() : null;
  if (left) {
    trail = left.trail ?? [];
    editor.value = left.text;
    reference = left.reference;
    pending = { text: left.text, reference: left.reference, version: left.version, client_id: left.client_id };
    flush();
  }
  showCount();
  showSaving();
  if (writable) editor.focus({ preventScroll: true });
})();
