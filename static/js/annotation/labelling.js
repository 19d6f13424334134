/* Questions about a case: each answer shows at once, waits in the browser until the server has it, and a case that was
   handed in gives way to the next one without a new page. */
(() => {
  "use strict";
  const text = (key) => document.getElementById("words").dataset[`text${key[0].toUpperCase()}${key.slice(1)}`];
  const { server } = window.consilium;
  const savedBox = document.getElementById("saved");
  const choice = document.getElementById("choice");
  const form = document.getElementById("submit-form");
  const SLOW_DOWN_MS = 400; // between a keystroke in a note or a move of the slider and its saving

  // What belongs to the case on the page; `begin` sets all of it.
  let page, writable, who, pending, early, trail, asked, lastSaved, current;
  let sending = null;
  let failures = 0;
  let retry = null;
  let halted = "";
  let storable = true;
  const later = new Map();

  const all = () => [...page.querySelectorAll("[data-question]")];
  const find = (id) => document.getElementById(`question-${id}`);
  const isAcuity = (one) => one.dataset.acuity === "1";
  const stateOf = (one) => ({
    value: one.querySelector("input[type=radio]:checked")?.value ?? "",
    certainty: one.dataset.certainty === "" ? null : Number(one.dataset.certainty),
    note: one.querySelector("[data-note]").value.trim(),
  });
  const answered = (one) => {
    const state = stateOf(one);
    return Boolean(state.value) && !(isAcuity(one) && state.certainty === null);
  };
  const same = (one, other) =>
    one.value === other.value && one.certainty === other.certainty && one.note === other.note;

  /* What the page shows */
  function show(one, state) {
    one.querySelectorAll("input[type=radio]").forEach((radio) => {
      radio.checked = radio.value === state.value;
    });
    one.querySelector("[data-note]").value = state.note;
    if (state.note) one.querySelector("details.note").open = true;
    showCertainty(one, state.certainty);
    summarise();
  }
  function showCertainty(one, certainty) {
    one.dataset.certainty = certainty ?? "";
    const range = one.querySelector("[data-certainty-range]");
    if (!range) return;
    if (certainty !== null) range.value = certainty;
    one.querySelector("[data-certainty-shown]").textContent = certainty ?? "–";
  }
  function summarise() {
    const rows = all();
    const done = rows.filter(answered).length;
    for (const one of rows) {
      one.classList.toggle("decided", answered(one));
      one.querySelector("[data-early]").hidden = !early.has(one.dataset.question);
    }
    const bar = document.getElementById("answered");
    bar.max = rows.length || 1;
    bar.value = done;
    document.getElementById("answered-text").textContent = `${done} / ${rows.length}`;
    document.getElementById("submit")?.classList.toggle("ready", done === rows.length);
  }
  function showSaving() {
    if (!savedBox) return;
    const count = pending.size;
    const stuck = count > 0 && (failures > 0 || !navigator.onLine || Boolean(halted) || asked.size > 0);
    savedBox.classList.toggle("offline", stuck);
    savedBox.classList.toggle("saving", !stuck && (count > 0 || early.size > 0));
    const offline = !navigator.onLine || (failures > 0 && !halted);
    const words = stuck
      ? `${count} ${text(offline ? "waiting" : "kept")}`
      : count
        ? text("saving")
        : early.size
          ? `${early.size} ${text("early")}`
          : lastSaved
            ? `${text("saved")} ${lastSaved}`
            : text("saves");
    if (savedBox.textContent !== words) savedBox.textContent = words;
  }
  function refuse(detail) {
    const notice = document.createElement("div");
    notice.className = "notice error";
    notice.setAttribute("role", "alert");
    const words = document.createElement("p");
    words.textContent = detail;
    notice.append(words);
    document.getElementById("refusal").replaceChildren(notice);
  }
  function select(one) {
    if (!one) return;
    all().forEach((other) => {
      other.classList.toggle("current", other === one);
    });
    current = one;
    if (!one.contains(document.activeElement)) one.focus({ preventScroll: true });
    one.scrollIntoView({ block: "nearest" });
  }
  function onward() {
    const rows = all();
    const place = rows.indexOf(current);
    const open = [...rows.slice(place + 1), ...rows.slice(0, place)].find((one) => !answered(one));
    document.activeElement?.blur?.();
    if (open) select(open);
    else current.focus({ preventScroll: true });
  }
  function move(step) {
    const rows = all();
    document.activeElement?.blur?.();
    select(rows[Math.min(rows.length - 1, Math.max(0, rows.indexOf(current) + step))]);
  }

  /* Kept in this browser until the server has it */
  const keyOf = (id) => `consilium.labels:${who}:${page.dataset.task}:${id}`;
  function keep(id, entry) {
    try {
      localStorage.setItem(keyOf(id), JSON.stringify(entry));
      storable = true;
    } catch {
      storable = false; // full or forbidden: it is kept as long as the page
    }
  }
  function forget(id) {
    try {
      localStorage.removeItem(keyOf(id));
    } catch {
      // Nothing was stored.
    }
  }
  function kept(id) {
    try {
      return JSON.parse(localStorage.getItem(keyOf(id)));
    } catch {
      return null;
    }
  }
  function put(one) {
    if (!one.isConnected) return;
    const id = one.dataset.question;
    const state = stateOf(one);
    clearTimeout(later.get(id));
    later.delete(id);
    if (!writable) return;
    const entry = {
      ...state,
      version: pending.get(id)?.version ?? Number(one.dataset.version),
      client_id: server.newId(),
    };
    if (!state.value) {
      wait(id, entry);
      return;
    }
    early.delete(id);
    summarise();
    pending.set(id, entry);
    keep(id, entry);
    showSaving();
    flush();
  }
  /* A note or a certainty without its answer waits here, and goes with it. */
  function wait(id, entry) {
    if (entry.note || entry.certainty !== null) {
      early.add(id);
      keep(id, entry);
    } else {
      early.delete(id);
      forget(id);
    }
    summarise();
    showSaving();
  }
  const putAll = () =>
    all().forEach((one) => {
      if (later.has(one.dataset.question)) put(one);
    });
  function putLater(one) {
    const id = one.dataset.question;
    summarise();
    clearTimeout(later.get(id));
    later.set(
      id,
      setTimeout(() => put(one), SLOW_DOWN_MS),
    );
  }

  /* Sending */
  const ask = (url, body) => server.ask("POST", url, { who, ...body });
  const waiting = () => [...pending].filter(([id]) => !asked.has(id));
  function flush() {
    if (sending) return sending;
    if (halted || !writable || !waiting().length) return Promise.resolve();
    clearTimeout(retry);
    sending = deliver().finally(() => {
      sending = null;
      showSaving();
      if (!halted && waiting().length)
        retry = setTimeout(flush, failures ? Math.min(30_000, 500 * 2 ** Math.min(failures, 6)) : 0);
    });
    return sending;
  }
  async function deliver() {
    const of = page;
    while (!halted && waiting().length) {
      const [id, entry] = waiting()[0];
      trail[id] ??= [];
      trail[id].push(entry.client_id);
      const answer = await ask(page.dataset.answerUrl, { answer: { question: id, ...entry } });
      if (of !== page || !settle(id, entry, answer)) return;
    }
  }
  /* What came back; true when the next request may follow. */
  function settle(id, sent, { status, body }) {
    if (status === 200) {
      failures = 0;
      lastSaved = body.at;
      done(id, sent.client_id, body.version);
      return true;
    }
    if (body?.reason === "stale") {
      overtaken(id, body.current);
      return true;
    }
    if (status === 401) {
      halted = "signed-out";
      document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    } else if (body?.reason === "somebody-else" || status === 404) {
      halted = "somebody";
      refuse(text("somebody"));
    } else if (status === 409 || status === 413) {
      halted = "refused"; // paused, closed, handed in or too long; what was answered stays in this browser
      refuse(body?.detail ?? "");
    } else if (body?.detail) {
      // Refused for what it says: it would be refused for ever.
      refuse(body.detail);
      if (pending.get(id)?.client_id === sent.client_id) {
        pending.delete(id);
        forget(id);
      }
      return true;
    } else {
      if (status === 403) server.session();
      failures += 1;
    }
    return false;
  }
  function done(id, clientId, version) {
    find(id).dataset.version = version;
    if (pending.get(id)?.client_id === clientId) {
      pending.delete(id);
      forget(id);
    } else if (pending.has(id)) rebase(id, version);
  }
  function rebase(id, version) {
    const entry = { ...pending.get(id), version, client_id: server.newId() };
    pending.set(id, entry);
    keep(id, entry);
  }
  function overtaken(id, standing) {
    find(id).dataset.version = standing.version;
    lastSaved = standing.at;
    const mine = pending.get(id);
    // Ours, though its answer was lost, needs no question.
    if (same(mine, standing)) done(id, mine.client_id, standing.version);
    else if (trail[id].includes(standing.client_id)) rebase(id, standing.version);
    else {
      asked.set(id, standing);
      question();
    }
  }
  document.addEventListener("consilium:signed-in", () => {
    halted = "";
    flush();
  });
  window.addEventListener("online", () => {
    failures = 0;
    flush();
  });
  window.addEventListener("offline", showSaving);
  window.addEventListener("pagehide", putAll);
  window.addEventListener("beforeunload", (event) => {
    putAll();
    if (pending.size || (early.size && !storable)) event.preventDefault();
  });

  /* Two versions of one answer: the person chooses */
  function inWords(one, state) {
    const label = [...one.querySelectorAll("input[type=radio]")]
      .find((radio) => radio.value === state.value)
      ?.closest("label")
      .querySelector("b").textContent;
    return [label, state.certainty === null ? "" : `${text("certain")} ${state.certainty}`, state.note]
      .filter(Boolean)
      .join(" · ");
  }
  function question() {
    const [next] = asked;
    if (!next || choice.open) return;
    const [id, standing] = next;
    const one = find(id);
    choice.dataset.choice = id;
    choice.querySelector("[data-changed]").textContent = text("changed").replace("NUMBER", one.dataset.number);
    choice.querySelector("[data-theirs]").textContent = `${inWords(one, standing)} · ${standing.at}`;
    choice.querySelector("[data-mine]").textContent = inWords(one, pending.get(id));
    showSaving();
    choice.showModal();
  }
  choice.addEventListener("click", (event) => {
    const id = choice.dataset.choice;
    const standing = asked.get(id);
    const keepMine = event.target.closest("[data-keep-mine]");
    if (!standing || !(keepMine || event.target.closest("[data-take-saved]"))) return;
    asked.delete(id);
    choice.close();
    if (keepMine) rebase(id, standing.version);
    else {
      done(id, pending.get(id).client_id, standing.version);
      show(find(id), standing);
    }
    showSaving();
    flush();
    question();
  });
  // Escape would leave the question open with nothing to answer it.
  choice.addEventListener("cancel", (event) => event.preventDefault());

  /* Handing in */
  let submitting = false;
  async function submit() {
    if (!writable || submitting) return;
    submitting = true;
    document.getElementById("submit").setAttribute("aria-busy", "true");
    try {
      putAll();
      await flush();
      if (pending.size) {
        if (!halted) refuse(text("unsent"));
        return;
      }
      const { status, body } = await ask(page.dataset.submitUrl, {});
      if (status === 200) next(body);
      else if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      else if (body?.reason === "somebody-else") refuse(text("somebody"));
      else {
        if (status === 403) server.session();
        const words = body?.detail ?? text("unsent");
        refuse(body?.missing?.length && early.size ? `${words} ${text("earlyStays")}` : words);
        if (body?.missing?.length) select(find(body.missing[0]));
      }
    } finally {
      submitting = false;
      document.getElementById("submit")?.removeAttribute("aria-busy");
    }
  }
  function next(body) {
    if (!body.next) {
      location.assign(body.work);
      return;
    }
    const template = document.createElement("template");
    template.innerHTML = body.next.html;
    page.replaceWith(template.content);
    history.pushState({}, "", body.next.url);
    begin();
    document.dispatchEvent(new CustomEvent("consilium:sheet"));
    document.getElementById("announce").textContent = page.dataset.heading;
  }
  window.addEventListener("popstate", () => location.reload());
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });

  /* Mouse and keyboard */
  document.addEventListener("change", (event) => {
    const one = event.target.closest?.("[data-question]");
    if (!one) return;
    if (event.target.matches("input[type=radio], [data-note]")) put(one);
  });
  document.addEventListener("input", (event) => {
    const one = event.target.closest?.("[data-question]");
    if (!one) return;
    if (event.target.matches("[data-certainty-range]")) showCertainty(one, Number(event.target.value));
    if (event.target.matches("[data-certainty-range], [data-note]")) putLater(one);
  });
  document.addEventListener("focusin", (event) => {
    const one = event.target.closest?.("[data-question]");
    if (one && one !== current) select(one);
  });
  function choose(number) {
    const radio = current?.querySelectorAll("input[type=radio]")[number - 1];
    if (!radio) return;
    radio.checked = true;
    document.getElementById("announce").textContent = radio.closest("label").querySelector("b").textContent;
    put(current);
    if (isAcuity(current)) current.querySelector("[data-certainty-range]").focus();
    else onward();
  }
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "Enter" && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      submit();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const target = event.target;
    if (target.matches("textarea")) {
      if (event.key !== "Escape") return;
      event.preventDefault();
      target.closest("[data-question]").focus();
      return;
    }
    const range = target.matches("[data-certainty-range]");
    // A focused radio button and the slider take the arrows for themselves.
    const arrows = !range && !target.matches("input[type=radio]") && !target.matches(".pane");
    if (event.key === "?") document.getElementById("keys").showModal();
    else if (!writable && !/^[jk]$/i.test(event.key)) return;
    else if (/^[1-9]$/.test(event.key)) choose(Number(event.key));
    else if (event.key === "j" || event.key === "J" || (arrows && event.key === "ArrowDown")) move(1);
    else if (event.key === "k" || event.key === "K" || (arrows && event.key === "ArrowUp")) move(-1);
    else if (range && event.key === " ") {
      showCertainty(current, Number(target.value));
      put(current);
      onward();
    } else if (range && event.key === "Enter") onward();
    else if (event.key === "t" || event.key === "T") {
      const note = current?.querySelector("details.note");
      if (!note) return;
      note.open = true;
      note.querySelector("textarea").focus();
    } else return;
    event.preventDefault();
  });

  function restore(one) {
    const id = one.dataset.question;
    let left = kept(id);
    if (!left) return;
    const here = stateOf(one);
    if (!left.value && here.value) {
      // Answered elsewhere in the meantime: the note that waited for it goes along, over nothing.
      left = {
        ...here,
        certainty: here.certainty ?? left.certainty,
        note: here.note || left.note,
        version: Number(one.dataset.version),
        client_id: server.newId(),
      };
      if (same(left, here)) {
        forget(id);
        return;
      }
      keep(id, left);
    }
    show(one, left);
    if (left.value) pending.set(id, left);
    else early.add(id);
  }
  function begin() {
    page = document.getElementById("work");
    writable = page.dataset.writable === "1";
    who = page.dataset.who;
    pending = new Map();
    early = new Set();
    trail = {};
    asked = new Map();
    lastSaved = page.dataset.saved;
    halted = "";
    // The next case has the same questions: nothing of the one before may land in it.
    later.forEach((timer) => {
      clearTimeout(timer);
    });
    later.clear();
    if (choice.open) choice.close();
    document.getElementById("place").textContent = page.dataset.heading;
    document.title = document.title.replace(/^[^·|–]*/, `${page.dataset.heading} `);
    for (const one of all()) {
      one.tabIndex = -1;
      if (writable) restore(one);
    }
    summarise();
    showSaving();
    current = null;
    select(all().find((one) => writable && !answered(one)) ?? all()[0]);
    flush();
  }
  begin();
})();
