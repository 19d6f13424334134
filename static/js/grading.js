/* Grading: every decision shows at once, waits in an outbox that outlives the page, and is saved one after the other.

   An entry is the whole state of a decision with the version that the page saw and an id of its own. It leaves the outbox
   only when the server has said that this very entry is saved; a repeated one changes nothing there. */
(() => {
  "use strict";
  const reading = window.consilium?.reading;
  if (!reading) return;
  const { page, row, current, select, following, text } = reading;
  const writable = Boolean(page.dataset.writable);
  const storeKey = `consilium.outbox.${page.dataset.assignment}`;
  const savedBox = document.getElementById("saved");
  const choice = document.getElementById("choice");

  /* State of a row: what the page shows, saved or not ------------------------------------------------------------------ */
  function stateOf(target) {
    return {
      outcome: target.dataset.outcome,
      borderline: target.dataset.borderline === "1",
      note: target.querySelector("[data-note]").value.trim(),
      evidence: JSON.parse(target.dataset.evidence),
    };
  }
  function show(target, state) {
    target.dataset.outcome = state.outcome;
    target.dataset.borderline = state.borderline ? "1" : "";
    target.dataset.evidence = JSON.stringify(state.evidence);
    target.classList.toggle("decided", Boolean(state.outcome));
    target.querySelectorAll("[data-set]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.set === state.outcome)));
    target.querySelector("[data-borderline-flag]").hidden = !state.borderline;
    target.querySelector("[data-do=borderline]")?.setAttribute("aria-pressed", String(state.borderline));
    const field = target.querySelector("[data-note]");
    if (field.value.trim() !== state.note) field.value = state.note;
    const note = target.querySelector("[data-note-shown]");
    note.textContent = state.note;
    note.hidden = !state.note || !target.querySelector("[data-note-edit]").hidden;
    summarise();
  }
  function summarise() {
    const rows = reading.all();
    const done = rows.filter((one) => one.dataset.outcome).length;
    document.getElementById("graded").value = done;
    document.getElementById("graded-text").textContent = `${done} / ${rows.length}`;
    document.getElementById("submit")?.classList.toggle("ready", done === rows.length);
    reading.applyFilter();
    marks();
  }
  let picked = null;
  function marks() {
    const spans = picked ? [{ ...picked, kind: "pick" }] : [];
    for (const one of reading.all()) {
      for (const span of JSON.parse(one.dataset.evidence)) {
        spans.push({ ...span, label: one.dataset.number, kind: one === current() ? "current" : "other" });
      }
    }
    reading.paint(spans);
  }
  document.addEventListener("consilium:criterion", marks);
  document.addEventListener("consilium:pick", (event) => {
    picked = event.detail;
    marks();
  });
  reading.filters.open = (one) => !one.dataset.outcome;
  reading.filters.flagged = (one) => one.dataset.borderline === "1" || one.dataset.outcome === "cannot_assess";

  /* Outbox ------------------------------------------------------------------------------------------------------------- */
  let outbox = {};
  try {
    outbox = JSON.parse(localStorage.getItem(storeKey)) ?? {};
  } catch {
    outbox = {};
  }
  const sent = new Set(); // ids that this page has sent; an answer to them may have been lost on the way
  let sending = false;
  let failures = 0;
  let timer = null;
  let halted = false; // the server will not take more now: paused, handed in, or a question is open
  let refused = false; // halted by the state of the work, which may change: asked again when the person comes back
  let lastSaved = "";

  function keep() {
    try {
      if (Object.keys(outbox).length) localStorage.setItem(storeKey, JSON.stringify(outbox));
      else localStorage.removeItem(storeKey);
    } catch {
      // Storage is full or forbidden; the entries are still in memory.
    }
    showSaving();
  }
  function showSaving() {
    if (!savedBox) return;
    const waiting = Object.keys(outbox).length;
    const offline = waiting > 0 && (failures > 0 || !navigator.onLine || halted);
    savedBox.classList.toggle("offline", offline);
    savedBox.classList.toggle("saving", waiting > 0 && !offline);
    const words = offline ? `${waiting} ${text(navigator.onLine && !failures ? "kept" : "waiting")}` : waiting ? text("saving") : lastSaved ? `${text("saved")} ${lastSaved}` : savedBox.textContent;
    if (savedBox.textContent !== words) savedBox.textContent = words;
  }
  function newId() {
    if (crypto.randomUUID) return crypto.randomUUID();
    // Not there on plain http in the house's network.
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
  }
  function put(id, state) {
    const before = outbox[id];
    outbox[id] = { ...state, version: before ? before.version : Number(row(id).dataset.version), client_id: newId() };
    keep();
    flush();
  }
  async function flush() {
    if (sending || halted || !writable) return;
    clearTimeout(timer);
    sending = true;
    try {
      let id;
      while (!halted && (id = Object.keys(outbox)[0]) !== undefined) {
        if (!(await send(id))) break;
      }
    } finally {
      sending = false;
      showSaving();
    }
    if (!halted && Object.keys(outbox).length) timer = setTimeout(flush, Math.min(30_000, 1000 * 2 ** Math.min(failures, 5)));
  }
  /* One request; true when the next may follow. */
  async function send(id) {
    const target = row(id);
    const entry = outbox[id];
    if (!target) {
      delete outbox[id];
      keep();
      return true;
    }
    const { client_id: clientId, ...rest } = entry;
    sent.add(clientId);
    let answer = null;
    const receive = (event) => {
      if (event.detail.requestConfig.path !== target.dataset.url) return;
      answer = event.detail.xhr;
      if (event.detail.xhr.status === 409 && overtaken(answer, id)) event.detail.shouldSwap = false;
      if (event.detail.xhr.status !== 200) return;
      const busy = outbox[id]?.client_id !== clientId || !row(id).querySelector("[data-note-edit]").hidden;
      if (busy) event.detail.shouldSwap = false;
    };
    document.addEventListener("htmx:beforeSwap", receive);
    showSaving();
    try {
      const values = { ...rest, outcome: rest.outcome, borderline: rest.borderline ? "on" : "", evidence: JSON.stringify(rest.evidence), client_id: clientId };
      await window.htmx.ajax("POST", target.dataset.url, { source: target, target, swap: "outerHTML", values });
    } catch {
      answer = null; // no connection, or no answer in time
    } finally {
      document.removeEventListener("htmx:beforeSwap", receive);
    }
    return settle(id, clientId, answer);
  }
  function settle(id, clientId, answer) {
    const status = answer?.status ?? 0;
    if (status === 200) {
      failures = 0;
      const version = Number(answer.getResponseHeader("X-Decision-Version"));
      row(id).dataset.version = String(version);
      if (outbox[id]?.client_id === clientId) delete outbox[id];
      else if (outbox[id]) outbox[id].version = version;
      // The server's clock in the reader's zone: what the page says is what is stored.
      lastSaved = /data-saved="([\d:]+)"/.exec(answer.responseText)?.[1] ?? lastSaved;
      document.getElementById("refusal").replaceChildren();
      keep();
      summarise();
      return true;
    }
    if (status === 409 && choiceOpen()) {
      askWhich(id);
      return false;
    }
    if (status === 409 && sent.has(currentClient(answer))) {
      outbox[id].version = currentVersion(answer);
      keep();
      return true;
    }
    if (status === 409) {
      halted = refused = true; // the reason stands above the criteria; the entries stay in this browser
      showSaving();
      return false;
    }
    if (status === 422) {
      // Refused for what it says: it would be refused for ever, so the row goes back to what is saved.
      delete outbox[id];
      keep();
      reload(id);
      return true;
    }
    if (status === 401 || status === 404) {
      halted = true; // signed out (a dialog opens), or signed in as somebody else
      refused = status === 404;
      if (refused) window.consilium.toast(text("elsewhere"), "error");
      showSaving();
      return false;
    }
    if (status === 403 && failures === 0) refreshToken();
    failures += 1;
    showSaving();
    return false;
  }
  function parsed(answer) {
    return new DOMParser().parseFromString(answer.responseText, "text/html").querySelector("[data-choice]");
  }
  const currentClient = (answer) => parsed(answer)?.dataset.currentClient ?? "";
  const currentVersion = (answer) => Number(parsed(answer).dataset.currentVersion);
  /* What stands on the server is an entry of our own whose answer was lost: no question, just go on from there. */
  function overtaken(answer, id) {
    return Boolean(outbox[id]) && sent.has(currentClient(answer));
  }
  const choiceOpen = () => Boolean(document.querySelector("#choice-body [data-choice]"));
  async function refreshToken() {
    try {
      const answer = await fetch(document.getElementById("session-ended").dataset.session, { credentials: "same-origin" });
      const session = await answer.json();
      document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": session.csrf_token }));
    } catch {
      // Offline: the next attempt comes by itself.
    }
  }
  function reload(id) {
    return window.htmx.ajax("GET", row(id).dataset.url, { source: row(id), target: row(id), swap: "outerHTML" }).then(summarise, () => {});
  }

  /* Two versions of one decision: the person chooses ------------------------------------------------------------------- */
  function askWhich(id) {
    halted = true;
    showSaving();
    const mine = outbox[id];
    choice.querySelector("[data-mine]").textContent = [text(mine.outcome || "undecided"), mine.borderline ? text("borderline") : "", mine.note].filter(Boolean).join(" · ");
    if (!choice.open) choice.showModal();
  }
  choice?.addEventListener("click", async (event) => {
    const body = choice.querySelector("[data-choice]");
    if (!body) return;
    const id = body.dataset.choice;
    if (event.target.closest("[data-keep-mine]")) {
      outbox[id].version = Number(body.dataset.currentVersion);
      outbox[id].client_id = newId();
      row(id).dataset.version = body.dataset.currentVersion;
    } else if (event.target.closest("[data-take-saved]")) {
      delete outbox[id];
      await reload(id);
    } else return;
    body.remove();
    choice.close();
    halted = false;
    keep();
    if (!Object.keys(outbox).length) lastSaved = row(id).dataset.saved || lastSaved;
    showSaving();
    flush();
  });
  // Escape would leave the question open with nothing to answer it.
  choice?.addEventListener("cancel", (event) => event.preventDefault());

  /* What the person does ------------------------------------------------------------------------------------------------ */
  const history = [];
  function change(target, difference, { remember = true } = {}) {
    if (!writable || !target) return;
    const before = stateOf(target);
    const after = { ...before, ...difference };
    if (JSON.stringify(before) === JSON.stringify(after)) return;
    if (remember) history.push({ id: target.dataset.row, before });
    show(target, after);
    put(target.dataset.row, after);
  }
  function decide(outcome, target = current()) {
    if (!writable || !target) return;
    select(target, { focus: false });
    const next = following((one) => one !== target && !one.dataset.outcome);
    change(target, { outcome });
    if (next) select(next);
    else {
      select(row(target.dataset.row));
      if (reading.all().every((one) => one.dataset.outcome)) document.getElementById("submit")?.classList.add("ready");
    }
  }
  function undo() {
    const last = history.pop();
    if (!last) {
      window.consilium.toast(text("nothing"));
      return;
    }
    reading.applyFilter("all");
    select(row(last.id));
    change(row(last.id), last.before, { remember: false });
  }
  function attach(span) {
    const target = current();
    if (!target || !span) return;
    const evidence = JSON.parse(target.dataset.evidence);
    if (!evidence.some((one) => one.start === span.start && one.end === span.end)) change(target, { evidence: [...evidence, span] });
    document.getSelection().removeAllRanges();
  }
  function evidence() {
    const span = reading.selected();
    if (span) attach(span);
    else {
      window.consilium.toast(text("select"));
      reading.pick(attach);
    }
  }
  function openNote(target = current()) {
    if (!writable || !target) return;
    select(target, { focus: false });
    const editor = target.querySelector("[data-note-edit]");
    editor.dataset.before = JSON.stringify(stateOf(target));
    editor.hidden = false;
    target.querySelector("[data-note-shown]").hidden = true;
    const field = editor.querySelector("textarea");
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }
  function closeNote(field) {
    const editor = field.closest("[data-note-edit]");
    if (editor.hidden) return;
    const target = field.closest("[data-row]");
    editor.hidden = true;
    const before = JSON.parse(editor.dataset.before);
    const note = field.value.trim();
    if (note !== before.note) {
      history.push({ id: target.dataset.row, before });
      show(target, { ...stateOf(target), note });
      put(target.dataset.row, stateOf(target));
    } else show(target, stateOf(target));
  }
  let noteTimer = null;
  reading.list.addEventListener("input", (event) => {
    if (!event.target.matches("[data-note]")) return;
    // A note is saved while it is being written, too: whoever closes the tab in the middle keeps it.
    clearTimeout(noteTimer);
    const target = event.target.closest("[data-row]");
    noteTimer = setTimeout(() => put(target.dataset.row, stateOf(target)), 1500);
  });
  reading.list.addEventListener("focusout", (event) => {
    if (event.target.matches("[data-note]")) {
      clearTimeout(noteTimer);
      closeNote(event.target);
    }
  });
  reading.list.addEventListener("keydown", (event) => {
    if (!event.target.matches("[data-note]") || event.isComposing) return;
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      event.stopPropagation();
      event.target.closest("[data-row]").focus();
    }
  });
  reading.list.addEventListener("click", (event) => {
    const target = event.target.closest("[data-row]");
    const set = event.target.closest("[data-set]");
    const act = event.target.closest("[data-do]")?.dataset.do;
    const drop = event.target.closest("[data-drop]");
    if (set) decide(set.dataset.set, target);
    else if (drop) change(target, { evidence: JSON.parse(target.dataset.evidence).filter((_, at) => at !== Number(drop.dataset.drop)) });
    else if (act === "borderline") change(target, { borderline: target.dataset.borderline !== "1" });
    else if (act === "note") openNote(target);
    else if (act === "evidence") evidence();
    else if (act === "clear") change(target, { outcome: "" });
  });
  // A click on a button of the row would empty the selection before E's twin could read it.
  reading.list.addEventListener("mousedown", (event) => {
    if (event.target.closest("[data-do=evidence]")) event.preventDefault();
  });

  /* Handing in ---------------------------------------------------------------------------------------------------------- */
  const form = document.getElementById("submit-form");
  async function submit() {
    if (!form || form.dataset.busy) return;
    if (document.activeElement?.matches("[data-note]")) document.activeElement.blur();
    form.dataset.busy = "1";
    try {
      await flush();
      while (sending) await new Promise((resolve) => setTimeout(resolve, 20));
      if (Object.keys(outbox).length) {
        if (!choice.open) window.consilium.toast(text("unsent"), "warning");
        return;
      }
      await window.htmx.ajax("POST", form.getAttribute("action"), { source: form, target: "#refusal", swap: "innerHTML" });
      const missing = document.querySelector("#refusal [data-missing]");
      if (missing) {
        reading.applyFilter("all");
        select(row(missing.dataset.missing));
      }
    } catch {
      window.consilium.toast(text("unsent"), "warning");
    } finally {
      delete form.dataset.busy;
    }
  }
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });

  reading.on(["m"], () => decide("met"));
  reading.on(["n"], () => decide("not_met"));
  reading.on(["c"], () => decide("cannot_assess"));
  reading.on(["b"], () => current() && change(current(), { borderline: current().dataset.borderline !== "1" }));
  reading.on(["Delete", "Backspace"], () => current() && change(current(), { outcome: "" }));
  reading.on(["e"], () => writable && evidence());
  reading.on(["t"], () => openNote());
  reading.on(["u"], () => writable && undo());
  document.addEventListener("keydown", (event) => {
    // Also while a note is open: the note is saved first.
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    submit();
  });
  window.addEventListener("online", () => {
    failures = 0;
    flush();
  });
  window.addEventListener("offline", showSaving);
  window.addEventListener("focus", () => {
    if (!refused || choice.open) return;
    halted = refused = false;
    flush();
  });
  document.addEventListener("consilium:signed-in", () => {
    halted = false;
    flush();
  });
  window.addEventListener("beforeunload", (event) => {
    if (Object.keys(outbox).length) event.preventDefault();
  });

  /* Start: what is still in the outbox shows as the person left it; then on to the first open criterion. */
  for (const [id, entry] of Object.entries(outbox)) {
    if (row(id)) show(row(id), entry);
  }
  summarise();
  const asked = location.hash.startsWith("#criterion-") ? document.querySelector(location.hash) : null;
  select(asked ?? reading.all().find((one) => !one.dataset.outcome) ?? reading.all()[0], { focus: true });
  flush();
})();
