/* The editor of a case. Its whole state is saved a moment after every change, with the version that was seen; until the
   server has said that it is saved, a copy is kept in the browser's storage. Without this script the page is a plain
   form. */
(() => {
  "use strict";
  const editor = document.getElementById("case-editor");
  if (!editor) return;
  const { server, caseTags, caseTurns } = window.consilium;
  const words = editor.dataset;
  const frozen = words.frozen !== "";
  const form = document.getElementById("case-form");
  const turns = document.getElementById("turns");
  const line = document.getElementById("case-saved");
  const stored = JSON.parse(document.getElementById("case-state").textContent);
  const SAVE_MS = 800;
  const PREVIEW_MS = 500;
  const RETRY_MS = 5000;
  const FIELDS = frozen
    ? ["difficulty", "register", "language", "tags"]
    : ["key", "conversation", "reference_answer", "difficulty", "register", "language", "tags"];
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const { newTurn, number } = caseTurns({ turns, words, fill, changed });
  const tags = caseTags({ form, changed });

  /* What stands in the form */
  function part(state) {
    return Object.fromEntries(
      FIELDS.map((name) => [
        name,
        name === "tags"
          ? tags.inOrder(state.tags)
          : name === "conversation"
            ? state.conversation.map(({ role, content }) => ({ role, content: content.replace(/\r\n?/g, "\n") }))
            : typeof state[name] === "string"
              ? state[name].replace(/\r\n?/g, "\n")
              : state[name],
      ]),
    );
  }
  const same = (one, other) => JSON.stringify(part(one)) === JSON.stringify(part(other));
  function read() {
    const value = (name) => form.elements[name]?.value ?? "";
    const state = {
      difficulty: value("difficulty"),
      register: value("register"),
      language: value("language"),
      tags: tags.read(),
    };
    if (frozen) return part(state);
    const conversation = [...turns.children].map((item) => ({
      role: item.querySelector("select").value,
      content: item.querySelector("textarea").value,
    }));
    return part({ ...state, key: value("key").trim(), conversation, reference_answer: value("reference_answer") });
  }
  function show(state) {
    // Only what differs is touched: nothing is rebuilt under the hands of somebody who types.
    const now = read();
    const differs = (name) => JSON.stringify(now[name]) !== JSON.stringify(part({ ...stored.case, ...state })[name]);
    for (const name of ["difficulty", "register", "language", ...(frozen ? [] : ["key", "reference_answer"])])
      if (differs(name)) form.elements[name].value = state[name];
    if (differs("tags")) tags.show(state.tags);
    if (frozen || !differs("conversation")) return;
    turns.replaceChildren(...state.conversation.map(({ role, content }) => newTurn(role, content)));
    number();
  }

  /* Saving */
  const prefix = `consilium.case:${words.who}:${words.case}:`;
  const own = prefix + server.newId();
  let version = stored.version;
  let saved = part(stored.case);
  let inFlight = null; // what was sent and not yet answered: it is sent again as it was, under the same id
  let sending = false;
  let conflict = null;
  let timer = null;
  let previewTimer = null;
  function say(text, kind = "") {
    line.textContent = text;
    line.className = `saved ${kind}`.trim();
  }
  let lastSaved = line.textContent;
  function settled(time = "") {
    clearTimeout(timer);
    drop();
    if (time) lastSaved = fill(words.textSaved, { time });
    say(lastSaved);
  }
  function keep() {
    try {
      localStorage.setItem(
        own,
        JSON.stringify({ version, state: read(), base: saved, ...conflict?.seen, inFlight, at: Date.now() }),
      );
      return true;
    } catch {
      return false;
    }
  }
  function drop(key = own) {
    try {
      localStorage.removeItem(key);
    } catch {
      // It was not kept either.
    }
  }
  function changed() {
    previewSoon();
    if (conflict) {
      keep();
      return;
    }
    if (!inFlight && same(read(), saved)) {
      settled(); // taken back before it was sent
      return;
    }
    const kept = keep();
    say(words.textSaving, "saving");
    if (!kept) say(words.textFull, "offline");
    clearTimeout(timer);
    timer = setTimeout(send, SAVE_MS);
  }
  async function post(url, body, options = {}) {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": server.token(), "HX-Request": "true" };
    return fetch(url, { method: "POST", credentials: "same-origin", headers, body: JSON.stringify(body), ...options });
  }
  const letter = () => ({ who: words.who, version: inFlight.version, client_id: inFlight.id, case: inFlight.state });
  async function send() {
    clearTimeout(timer);
    if (sending || conflict) return;
    if (!inFlight) {
      const state = read();
      if (same(state, saved)) {
        settled();
        return;
      }
      inFlight = { id: server.newId(), version, state };
    }
    keep();
    sending = true;
    say(words.textSaving, "saving");
    let answer = null;
    let body = {};
    try {
      answer = await post(words.save, letter());
      body = await answer.json().catch(() => ({}));
      const session = answer.status === 403 ? await server.session() : null;
      if (session?.signed_in) {
        answer = await post(words.save, letter());
        body = await answer.json().catch(() => ({}));
      } else if (answer.status === 403 && !session) answer = null; // the connection went in between
    } catch {
      answer = null;
    }
    sending = false;
    if (answer?.status === 200) arrived(body);
    else if (answer?.status === 401 || answer?.status === 403) {
      say(words.textOffline, "offline");
      document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    } else if (answer?.status === 409 && body.reason === "somebody-else") say(words.textSomebody, "offline");
    else if (answer?.status === 409 && body.case) overtaken(body);
    else if (answer && answer.status < 500) refused(body);
    else {
      say(words.textOffline, "offline");
      timer = setTimeout(send, RETRY_MS);
    }
  }
  function arrived(body) {
    version = body.version;
    form.elements.version.value = version;
    saved = inFlight.state;
    inFlight = null;
    mark({});
    const place = document.getElementById("privacy");
    // Not under the hands of somebody who is saying why something may stay.
    if (!place.contains(document.activeElement)) place.innerHTML = body.privacy;
    if (same(read(), saved)) settled(body.saved_at);
    else changed();
  }
  function refused(body) {
    inFlight = null;
    mark(body.errors ?? {});
    say(
      body.errors?.case?.join(" ") || (body.errors ? words.textProblem : body.detail || words.textProblem),
      "offline",
    );
  }
  function mark(errors) {
    for (const list of form.querySelectorAll("ul.errors[id]")) {
      const told = errors[list.id.replace("error-", "")] ?? [];
      list.replaceChildren(
        ...told.map((text) => {
          const item = document.createElement("li");
          item.textContent = text;
          return item;
        }),
      );
      const field = list.parentElement.querySelector("input, textarea");
      if (told.length) field?.setAttribute("aria-invalid", "true");
      else field?.removeAttribute("aria-invalid");
    }
  }
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
      event.preventDefault();
      send();
    }
  });
  window.addEventListener("online", send);
  document.addEventListener("consilium:signed-in", send);
  window.addEventListener("pagehide", () => {
    tags.finishAll();
    if (conflict || (!inFlight && same(read(), saved))) return;
    inFlight ??= { id: server.newId(), version, state: read() };
    keep();
    post(words.save, letter(), { keepalive: true }).catch(() => {});
  });
  /* Links and forms that lead away wait until what was typed has arrived, for a while. */
  async function flush() {
    for (let tries = 0; tries < 30 && !conflict && (inFlight || !same(read(), saved)); tries += 1) {
      if (!sending) await send();
      if (line.classList.contains("offline")) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a[data-after-save]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    await flush();
    location.assign(link.href);
  });
  document.addEventListener("submit", async (event) => {
    if (!event.target.matches("form[data-after-save]")) return;
    event.preventDefault();
    await flush();
    event.target.submit();
  });

  /* Two versions: what only one of them changed is taken; where both did, somebody has to say which holds */
  const dialog = document.getElementById("case-conflict");
  function overtaken(body, base = saved) {
    const mine = read();
    const stands = part(body.case);
    const alike = (one, other, name) => JSON.stringify(one[name]) === JSON.stringify(other[name]);
    const both = FIELDS.filter(
      (name) => !alike(mine, stands, name) && !alike(mine, base, name) && !alike(stands, base, name),
    );
    const merged = Object.fromEntries(
      FIELDS.map((name) => [name, alike(mine, base, name) ? stands[name] : mine[name]]),
    );
    const seen = { version, base }; // until somebody has chosen, what is kept in the browser asks again
    inFlight = null;
    version = body.version;
    form.elements.version.value = version;
    saved = stands;
    show({ ...stored.case, ...merged });
    if (!both.length) {
      if (same(read(), saved)) settled(body.saved_at);
      else changed();
      return;
    }
    conflict = { both, stands, seen };
    keep();
    differences(both, mine, stands);
    say(words.textProblem, "offline");
    dialog.showModal();
  }
  function differences(both, mine, theirs) {
    const box = document.getElementById("case-differences");
    const rows = [];
    for (const name of both) {
      if (name === "conversation") {
        for (let n = 0; n < Math.max(mine.conversation.length, theirs.conversation.length); n += 1) {
          const said = [mine, theirs].map((state) => state.conversation[n]?.content ?? "");
          const roles = [mine, theirs].map((state) => state.conversation[n]?.role ?? "");
          if (said[0] !== said[1] || roles[0] !== roles[1]) rows.push([fill(words.textTurn, { n: n + 1 }), ...said]);
        }
      } else {
        const text = (value) => (Array.isArray(value) ? value.join("; ") : value);
        rows.push([box.getAttribute(`data-label-${name}`), text(mine[name]), text(theirs[name])]);
      }
    }
    const cell = (tag, text, heading) => {
      const made = document.createElement(tag);
      if (heading) made.append(Object.assign(document.createElement("b"), { textContent: heading }));
      made.append(
        Object.assign(document.createElement("span"), {
          textContent: text || words.textEmpty,
          className: text ? "" : "muted",
        }),
      );
      return made;
    };
    box.replaceChildren(
      ...rows.map(([label, one, other]) => {
        const row = document.createElement("section");
        row.append(
          Object.assign(document.createElement("h3"), { textContent: label }),
          cell("div", one, box.dataset.textMine),
          cell("div", other, box.dataset.textTheirs),
        );
        return row;
      }),
    );
  }
  dialog.addEventListener("cancel", (event) => event.preventDefault());
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("[data-conflict]");
    if (!button || !conflict) return;
    if (button.dataset.conflict === "theirs")
      show({
        ...stored.case,
        ...read(),
        ...Object.fromEntries(conflict.both.map((name) => [name, conflict.stands[name]])),
      });
    conflict = null;
    dialog.close();
    changed();
    recover();
  });

  /* What an earlier visit left unsent */
  const sameContent = (state) =>
    ["key", "conversation", "reference_answer"].every(
      (name) => JSON.stringify(state[name]) === JSON.stringify(stored.case[name]),
    );
  function recover() {
    let keys = [];
    try {
      keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix) && key !== own);
    } catch {
      return;
    }
    for (const key of keys) {
      let entry = null;
      try {
        entry = JSON.parse(localStorage.getItem(key));
      } catch {
        // Not ours, or cut off.
      }
      // Content that was typed before the case went to review waits until it comes back.
      if (frozen && entry?.state && "conversation" in entry.state && !sameContent(entry.state)) continue;
      drop(key);
      if (!entry?.state || !FIELDS.every((name) => name in entry.state) || same(entry.state, read())) continue;
      // Its last request arrived though its answer did not: what stands is what it had seen.
      const seen = entry.version === version || (entry.inFlight && entry.inFlight.id === stored.edit_id);
      const stands = { version, case: { ...stored.case, ...saved }, saved_at: "" };
      show({ ...stored.case, ...entry.state });
      if (seen) {
        window.consilium?.toast(words.textRestored);
        changed();
      } else {
        version = entry.version; // what it had seen, until the two are brought together
        overtaken(stands, part({ ...stored.case, ...(entry.base ?? entry.state) }));
        if (conflict) return;
      }
    }
  }

  /* Preview, and places of findings */
  const pane = document.getElementById("preview");
  let asked = 0;
  function previewSoon() {
    if (!pane) return;
    clearTimeout(previewTimer);
    previewTimer = setTimeout(preview, PREVIEW_MS);
  }
  async function preview() {
    asked += 1;
    const turn = asked;
    const { conversation, reference_answer, language } = read();
    try {
      const answer = await post(words.preview, { conversation, reference_answer, language });
      const html = await answer.text();
      if (answer.ok && turn === asked) pane.innerHTML = html;
    } catch {
      // The next change asks again.
    }
  }
  document.getElementById("privacy").addEventListener("click", (event) => {
    const button = event.target.closest("[data-find-part]");
    if (!button) return;
    const places = {
      key: "#case-key",
      reference: "#reference-answer",
      tags: ".tag-field input",
      conversation: "#turns textarea",
    };
    const texts = [...document.querySelectorAll(places[button.dataset.findPart])];
    const first = texts[Number(button.dataset.findNumber) - 1];
    const area = [first, ...texts].find((text) => text?.value.includes(button.dataset.findQuote));
    if (!area) {
      window.consilium?.toast(words.textNowhere);
      return;
    }
    const start = area.value.indexOf(button.dataset.findQuote);
    area.focus();
    area.setSelectionRange(start, start + button.dataset.findQuote.length);
    area.scrollIntoView({ block: "center" });
  });
  recover();
})();
