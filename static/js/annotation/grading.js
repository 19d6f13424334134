/* Grading: every decision shows at once, waits in the outbox, and is saved; a submitted response gives way to the next
   without a new page. outbox.js keeps and sends; reading.js moves and listens to single keys; rows.js shows. */
(() => {
  "use strict";
  const reading = window.consilium?.reading;
  const outbox = window.consilium?.outbox;
  if (!reading || !outbox) return;
  const { row, current, inSight, select, following, text } = reading;
  const { stateOf, same, show, extraOf, showExtra, marks, changeOrder, renew } = window.consilium.rows;
  const savedBox = document.getElementById("saved");
  const choice = document.getElementById("choice");
  const question = document.getElementById("choice-body");
  const form = document.getElementById("submit-form");
  const MOST_AT_ONCE = 100;

  // What belongs to the response on the page; `begin` sets all of it.
  let assignment, writable, mine, stood, trail, questions, history, justDecided, lastSaved, prefetched;

  function summarise() {
    const rows = reading.all();
    const done = rows.filter((one) => one.dataset.outcome).length;
    const bar = document.getElementById("graded");
    bar.max = rows.length;
    bar.value = done;
    document.getElementById("graded-text").textContent = `${done} / ${rows.length}`;
    document.getElementById("submit")?.classList.toggle("ready", done === rows.length);
    reading.applyFilter();
    marks();
    if (writable && rows.length - done <= Math.max(3, rows.length / 5)) prefetch();
  }
  reading.filters.open = (one) => !one.dataset.outcome;
  reading.filters.flagged = (one) => one.dataset.borderline === "1" || one.dataset.outcome === "cannot_assess";

  /* Sending */
  const made = new Set(); // ids of the entries made on this page
  let sending = null; // the request under way
  let failures = 0;
  let missed = false; // the server knew nothing of this work when it was last asked
  let timer = null;
  // Why nothing is sent now: "signed-out", "somebody" else is signed in, "refused" (paused, handed in), or "".
  let halted = "";
  const waiting = () => Object.entries(mine).filter(([id]) => !questions.has(id));
  function showSaving() {
    if (!savedBox) return;
    const count = Object.keys(mine).length;
    const stuck = count > 0 && (failures > 0 || !navigator.onLine || Boolean(halted) || questions.size > 0);
    savedBox.dataset.state = stuck ? "waiting" : count ? "saving" : "saved";
    savedBox.classList.toggle("offline", stuck);
    savedBox.classList.toggle("saving", count > 0 && !stuck);
    const offline = !navigator.onLine || (failures > 0 && !halted);
    const words = stuck
      ? `${count} ${text(offline ? "waiting" : "kept")}`
      : count
        ? text("saving")
        : lastSaved
          ? `${text("saved")} ${lastSaved}`
          : text("saves");
    if (savedBox.textContent !== words) savedBox.textContent = words;
  }
  function put(id, state) {
    const before = mine[id];
    const clientId = outbox.newId();
    const version = before ? before.version : Number(row(id).dataset.version);
    const after = [...(trail[id] ?? [])].slice(-20);
    const evidence = state.evidence.map(({ start, end }) => ({ start, end }));
    trail[id] ??= [];
    trail[id].push(clientId);
    made.add(clientId);
    mine[id] = {
      outcome: state.outcome,
      borderline: state.borderline,
      note: state.note,
      evidence,
      version,
      client_id: clientId,
      after,
    };
    outbox.put(assignment, id, mine[id]);
    outbox.say({ type: "shown", assignment, id, state, client: clientId });
    showSaving();
    flush();
  }
  function flush() {
    if (sending) return sending;
    if (halted || !writable || !waiting().length) return Promise.resolve();
    clearTimeout(timer);
    sending = deliver().finally(() => {
      sending = null;
      showSaving();
      if (!halted && waiting().length)
        timer = setTimeout(flush, failures ? Math.min(5_000, 500 * 2 ** Math.min(failures, 4)) : 0);
    });
    return sending;
  }
  async function deliver() {
    const of = assignment;
    while (!halted && waiting().length) {
      const batch = Object.fromEntries(waiting().slice(0, MOST_AT_ONCE));
      showSaving();
      const answer = await outbox.send(reading.page.dataset.decisionsUrl, batch);
      if (of !== assignment) return;
      if (!settle(answer, batch)) return;
    }
  }
  /* What came back; true when the next request may follow. */
  function settle({ status, body }, batch) {
    if (status === 200) {
      failures = 0;
      missed = false;
      document.querySelector("#refusal [data-refused]:not([data-missing])")?.remove();
      results(body.results, batch);
      return true;
    }
    if (body?.results) results(body.results, batch);
    if (status === 401) {
      halted = "signed-out";
      document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    } else if (status === 404) {
      halted = "refused";
      // Somebody else may have been signed in for that moment only: once more, then it is gone for good.
      const again = !missed;
      missed = true;
      whose(() => (again ? resume() : window.consilium.toast(text("elsewhere"), "error")));
    } else if (body?.detail) {
      halted = "refused"; // the reason stands above the criteria; the entries stay in this browser
      refuse(body.detail);
    } else {
      if (status === 403 && failures === 0) outbox.session();
      failures += 1;
    }
    return false;
  }
  function results(told, batch) {
    for (const result of told) {
      const id = String(result.criterion);
      const sent = batch[id];
      const target = row(id);
      if (!sent) continue;
      if (result.result === "saved") {
        stood[id] = { ...sent };
        if (target) target.dataset.version = String(result.version);
        lastSaved = result.at;
        leave(id, sent, result.version);
        outbox.say({
          type: "saved",
          assignment,
          id,
          version: result.version,
          at: result.at,
          client: sent.client_id,
          state: sent,
        });
      } else if (result.result === "stale") overtaken(id, sent, result.current);
      else {
        // Refused for what it says: it would be refused for ever, so the row goes back to what is saved.
        leave(id, sent, stood[id].version ?? 0);
        if (target && !mine[id]) show(target, stood[id]);
        window.consilium.toast(result.detail, "error");
      }
    }
    summarise();
    ask();
  }
  /* An entry is done with; what was decided on top of it goes on from there. */
  function leave(id, sent, version) {
    outbox.drop(assignment, id, sent.client_id);
    if (mine[id]?.client_id === sent.client_id) delete mine[id];
    else if (mine[id] && mine[id].version < version) rebase(id, version);
  }
  function rebase(id, version) {
    mine[id] = { ...mine[id], version };
    outbox.put(assignment, id, mine[id]);
  }
  function overtaken(id, sent, standing) {
    if (!mine[id]) return;
    const known =
      mine[id].after.includes(standing.client_id) ||
      sent.after.includes(standing.client_id) ||
      same(mine[id], standing);
    stood[id] = { ...standing };
    if (row(id)) row(id).dataset.version = String(standing.version);
    // Ours, though its answer was lost; or seen on this page before the person decided anew: no question.
    if (known && same(mine[id], standing)) leave(id, mine[id], standing.version);
    else if (known) rebase(id, standing.version);
    else questions.set(id, standing);
    lastSaved = standing.at;
  }
  function refuse(detail, missing) {
    // The rubric has a new version since the page was opened: what is missing is not on it.
    if (missing?.some((id) => !row(id))) return location.reload();
    const box = document.getElementById("refusal");
    const notice = document.createElement("div");
    notice.className = `notice ${missing ? "warning" : "error"}`;
    notice.setAttribute("role", "alert");
    notice.dataset.refused = "";
    const words = document.createElement("p");
    words.textContent = detail;
    notice.append(words);
    if (missing?.length) {
      notice.dataset.missing = missing[0];
      const jumps = document.createElement("span");
      jumps.className = "jumps";
      for (const id of missing) {
        const link = document.createElement("a");
        link.href = `#criterion-${id}`;
        link.dataset.jump = id;
        link.textContent = row(id)?.dataset.number ?? "?";
        jumps.append(link);
      }
      words.append(" ", jumps);
    }
    box.replaceChildren(notice);
  }
  function stopForSomebody() {
    halted = "somebody";
    refuse(text("somebody"));
    showSaving();
  }

  /* Two versions of one decision: the person chooses */
  const inWords = (state) =>
    [text(state.outcome || "undecided"), state.borderline ? text("borderline") : "", state.note]
      .filter(Boolean)
      .join(" · ");
  function ask() {
    const [next] = questions;
    if (!next || choice.open) return;
    const [id, standing] = next;
    question.dataset.choice = id;
    choice.querySelector("[data-changed]").textContent = text("changed").replace(
      "NUMBER",
      row(id)?.dataset.number ?? "",
    );
    choice.querySelector("[data-theirs]").textContent = `${inWords(standing)} · ${standing.at}`;
    choice.querySelector("[data-mine]").textContent = inWords(mine[id]);
    showSaving();
    choice.showModal();
  }
  choice.addEventListener("click", (event) => {
    const id = question.dataset.choice;
    const standing = questions.get(id);
    const keepMine = event.target.closest("[data-keep-mine]");
    if (!standing || !(keepMine || event.target.closest("[data-take-saved]"))) return;
    questions.delete(id);
    delete question.dataset.choice;
    choice.close();
    if (keepMine && mine[id]) rebase(id, standing.version);
    else {
      if (mine[id]) leave(id, mine[id], standing.version);
      if (row(id)) show(row(id), standing);
    }
    summarise();
    showSaving();
    flush();
    ask();
  });
  // Escape would leave the question open with nothing to answer it.
  choice.addEventListener("cancel", (event) => event.preventDefault());

  /* Another tab */
  const others = new Set();
  function showOthers() {
    const notice = document.getElementById("elsewhere");
    if (notice) notice.hidden = !others.size;
  }
  function lookForOthers() {
    others.clear();
    outbox.say({ type: "hello", assignment });
    setTimeout(showOthers, 300);
  }
  /* The storage that both share has changed: what one tab puts there, either may send. Word of it comes late and in no
     order, so what it holds by now counts; and an entry made here stays until the server has it, or a later one stands
     on it, whatever another tab did to the storage in the meantime. */
  function shared(id, before) {
    const entry = outbox.entries(assignment)[id];
    const held = mine[id];
    if (entry && (!held || entry.client_id === held.client_id || entry.after?.includes(held.client_id)))
      mine[id] = entry;
    else if (entry ? held.after.includes(entry.client_id) : held && made.has(held.client_id))
      outbox.put(assignment, id, held);
    else if (!entry && held?.client_id === before?.client_id) delete mine[id];
    showSaving();
    // The tab that made it sends it; where that one cannot, this one does.
    if (mine[id]) setTimeout(flush, 2_000);
  }
  outbox.hear((message) => {
    if (message.assignment !== assignment) {
      if (others.delete(message.tab)) showOthers();
      return;
    }
    if (message.type === "hello") outbox.say({ type: "here", assignment });
    if (message.type === "hello" || message.type === "here") others.add(message.tab);
    if (message.type === "bye") others.delete(message.tab);
    if (["hello", "here", "bye"].includes(message.type)) {
      showOthers();
      return;
    }
    if (message.type === "handed-in") {
      writable = false;
      reading.page.dataset.writable = "";
      refuse(text("handed"));
      if (!Object.keys(mine).length) location.reload();
      return;
    }
    const target = row(message.id);
    if (!target) return;
    if (message.type === "shown") {
      trail[message.id] ??= [];
      trail[message.id].push(message.client);
      show(target, message.state);
      summarise();
    } else if (message.type === "saved") {
      trail[message.id] ??= [];
      trail[message.id].push(message.client);
      stood[message.id] = message.state;
      target.dataset.version = String(Math.max(message.version, Number(target.dataset.version)));
      if (mine[message.id]?.client_id === message.client) {
        outbox.drop(assignment, message.id, message.client);
        delete mine[message.id];
      } else if (
        mine[message.id] &&
        mine[message.id].version < message.version &&
        mine[message.id].after.includes(message.client)
      )
        rebase(message.id, message.version);
      lastSaved = message.at;
      showSaving();
    } else if (message.type === "entry") {
      shared(message.id, message.before);
    }
  });
  /* Whose browser is it by now? Asked when the person comes back to this tab. */
  async function whose(otherwise = resume) {
    const session = await outbox.session();
    if (session?.signed_in && session.who !== outbox.who) stopForSomebody();
    else if (session?.signed_in) otherwise();
  }
  function resume() {
    if (choice.open) return;
    if (halted === "somebody") document.getElementById("refusal").replaceChildren();
    halted = "";
    flush();
    outbox.sendLeft(assignment);
  }

  /* What the person does */
  function change(target, difference, { remember = true } = {}) {
    // A row of a sheet that gave way: its criterion stands in the next one, too, and that is another decision.
    if (!writable || !target?.isConnected) return;
    const before = stateOf(target);
    const after = { ...before, ...difference };
    if (same(before, after)) return;
    if (remember) history.push({ id: target.dataset.row, before });
    show(target, after);
    summarise();
    put(target.dataset.row, after);
  }
  function decide(outcome, target = inSight(), more = {}) {
    if (!writable || !target) return;
    select(target, { focus: false });
    const next = following((one) => one !== target && !one.dataset.outcome);
    // Borderline is met or not met, only just.
    change(target, { outcome, ...(outcome === "cannot_assess" ? { borderline: false } : more) });
    justDecided = target.dataset.row;
    select(next ?? row(target.dataset.row));
  }
  const toggleBorderline = (target) =>
    target &&
    target.dataset.outcome !== "cannot_assess" &&
    change(target, { borderline: target.dataset.borderline !== "1" });
  function toggleLast() {
    if (justDecided && row(justDecided)) toggleBorderline(row(justDecided));
    else window.consilium.toast(text("none"));
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
    const target = inSight();
    if (!target || !span) return;
    const evidence = JSON.parse(target.dataset.evidence);
    if (!evidence.some((one) => one.start === span.start && one.end === span.end))
      change(target, { evidence: [...evidence, span] });
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
  function openNote(target = inSight()) {
    if (!writable || !target) return;
    select(target, { focus: false });
    const extra = extraOf(target);
    const editor = extra.querySelector("[data-note-edit]");
    editor.dataset.before = JSON.stringify(stateOf(target));
    editor.hidden = false;
    extra.querySelector("[data-note-shown]").hidden = true;
    const field = editor.querySelector("textarea");
    field.value = target.dataset.note;
    field.focus();
    field.setSelectionRange(field.value.length, field.value.length);
  }
  let noteTimer = null;
  function keepNote(field) {
    clearTimeout(noteTimer);
    const target = field.closest("[data-row]");
    change(target, { note: field.value.trim() }, { remember: false });
  }
  function closeNote(field) {
    const editor = field.closest("[data-note-edit]");
    if (editor.hidden || !field.isConnected) return;
    const target = field.closest("[data-row]");
    const before = JSON.parse(editor.dataset.before);
    keepNote(field);
    editor.hidden = true;
    if (target.dataset.note !== before.note) history.push({ id: target.dataset.row, before });
    showExtra(target);
  }
  document.addEventListener("input", (event) => {
    if (!event.target.matches("textarea[data-note]")) return;
    // A note is saved while it is being written, too: whoever closes the tab in the middle keeps it.
    clearTimeout(noteTimer);
    noteTimer = setTimeout(keepNote, 1500, event.target);
  });
  function keepOpenNote() {
    const field = document.activeElement;
    if (field?.matches("textarea[data-note]")) keepNote(field);
  }
  document.addEventListener(
    "focusout",
    (event) => event.target.matches?.("textarea[data-note]") && reading.afterPress(() => closeNote(event.target)),
  );
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches?.("textarea[data-note]") || event.isComposing) return;
    if (event.key === "Escape" || (event.key === "Enter" && (event.ctrlKey || event.metaKey))) {
      event.preventDefault();
      event.stopImmediatePropagation();
      event.target.closest("[data-row]").focus();
    }
  });
  document.addEventListener("click", (event) => {
    const target = event.target.closest("#criteria [data-row]");
    if (!target) return;
    const set = event.target.closest("[data-set]");
    const act = event.target.closest("[data-do]")?.dataset.do;
    const drop = event.target.closest("[data-drop]");
    if (set) decide(set.dataset.set, target);
    else if (drop)
      change(target, {
        evidence: JSON.parse(target.dataset.evidence).filter((_, at) => at !== Number(drop.dataset.drop)),
      });
    else if (act === "borderline") toggleBorderline(target);
    else if (act === "note") openNote(target);
    else if (act === "evidence") evidence();
    else if (act === "clear") change(target, { outcome: "" });
  });
  // A click on a button of the row would empty the selection before E's twin could read it.
  document.addEventListener(
    "mousedown",
    (event) => event.target.closest("#criteria [data-do=evidence]") && event.preventDefault(),
  );

  /* Handing in, and the next response */
  let busy = false;
  async function submit() {
    if (!form || !writable || busy) return;
    if (document.activeElement?.matches("textarea[data-note]")) document.activeElement.blur();
    reading.endPress(); // a note that the press on the button left: it goes along
    busy = true;
    try {
      await sending;
      if (questions.size) {
        ask();
        return;
      }
      clearTimeout(timer);
      // All of it: what was left behind could not be saved any more.
      const batch = Object.fromEntries(waiting());
      const answer = await outbox.send(reading.page.dataset.submitUrl, batch, { have: prefetched?.id ?? "" });
      if (answer.status === 200) {
        results(answer.body.results, batch);
        outbox.say({ type: "handed-in", assignment });
        goOn(answer.body);
        return;
      }
      const { body } = answer;
      if (body?.missing) {
        results(body.results, batch);
        refuse(body.detail, body.missing);
        reading.applyFilter("all");
        select(row(body.missing[0]));
      } else {
        settle(answer, batch);
        if (Object.keys(mine).length && !questions.size) window.consilium.toast(text("unsent"), "warning");
        else if (!answer.status) window.consilium.toast(text("unsent"), "warning");
      }
    } finally {
      busy = false;
      showSaving();
      if (!halted && waiting().length) timer = setTimeout(flush, 1000);
    }
  }
  async function skip(skipForm) {
    if (busy) return;
    busy = true;
    const problem = skipForm.querySelector("[data-skip-problem]");
    const { reason, note } = Object.fromEntries(new FormData(skipForm));
    try {
      await flush();
      const { status, body } = await outbox.ask("POST", reading.page.dataset.skipUrl, {
        reason,
        note,
        have: prefetched?.id ?? "",
      });
      if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      problem.hidden = status === 200;
      problem.textContent = body?.detail ?? text("lost");
      if (status !== 200) return;
      skipForm.reset();
      document.getElementById("skip").close();
      goOn(body);
    } finally {
      busy = false;
    }
  }
  document.getElementById("skip-form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    skip(event.target);
  });
  async function prefetch() {
    if (prefetched !== null) return;
    prefetched = {}; // asked for
    const of = assignment;
    const { status, body } = await outbox.ask("GET", reading.page.dataset.nextUrl);
    if (of === assignment) prefetched = status === 200 ? body : {};
  }
  function goOn({ next, work }) {
    const sheet = next?.html ? next : next && prefetched?.id === next.id ? prefetched : null;
    if (!sheet?.writable) {
      location.assign(next ? outbox.page(next.id) : work);
      return;
    }
    const holder = document.createElement("template");
    holder.innerHTML = sheet.html;
    reading.page.replaceWith(holder.content.querySelector("#work"));
    window.htmx?.process(reading.page);
    window.history.pushState({ sheet: sheet.id }, "", sheet.url);
    const heading = reading.page.dataset.heading;
    document.title = `${heading} · Consilium`;
    document.getElementById("place").textContent = heading;
    document.getElementById("announce").textContent = heading;
    form.action = reading.page.dataset.submitUrl;
    begin();
    document.dispatchEvent(new CustomEvent("consilium:sheet"));
  }
  // Back and forward lead to real pages.
  window.addEventListener("popstate", (event) => {
    if (!location.pathname.includes(assignment) && (event.state || location.pathname !== lastPath)) location.reload();
  });
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });

  reading.on(["m"], () => decide("met"));
  reading.on(["n"], () => decide("not_met"));
  reading.on(["shift+m"], () => decide("met", inSight(), { borderline: true }));
  reading.on(["shift+n"], () => decide("not_met", inSight(), { borderline: true }));
  reading.on(["c"], () => decide("cannot_assess"));
  reading.on(["b"], () => toggleBorderline(inSight()));
  reading.on(["shift+b"], toggleLast);
  reading.on(["Delete", "Backspace"], () => inSight() && change(inSight(), { outcome: "" }));
  reading.on(["e"], () => writable && evidence());
  reading.on(["t"], () => openNote());
  reading.on(["u"], () => writable && undo());
  reading.on(["a"], changeOrder);
  const toggleFilter = (name) => {
    reading.applyFilter(reading.filter === name ? "all" : name);
    if (!reading.shown().includes(current())) select(reading.shown()[0]);
  };
  reading.on(["o"], () => toggleFilter("open"));
  reading.on(["l"], () => toggleFilter("flagged"));
  document.addEventListener("keydown", (event) => {
    // Also while a note is open: the note is saved first.
    if (
      event.key !== "Enter" ||
      !(event.ctrlKey || event.metaKey) ||
      event.altKey ||
      event.defaultPrevented ||
      document.querySelector("dialog[open]")
    )
      return;
    event.preventDefault();
    submit();
  });
  window.addEventListener("online", () => {
    failures = 0;
    flush();
    outbox.sendLeft(assignment);
  });
  window.addEventListener("offline", showSaving);
  window.addEventListener("focus", () => {
    lookForOthers();
    whose();
  });
  document.addEventListener("consilium:signed-in", resume);
  window.addEventListener("pagehide", () => {
    keepOpenNote();
    outbox.say({ type: "bye", assignment });
  });
  // A page that the browser had kept shows old versions.
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  window.addEventListener("beforeunload", (event) => {
    keepOpenNote();
    if (Object.keys(mine).length) event.preventDefault();
  });

  /* A sheet starts: what is still in the outbox shows as the person left it; then on to the first open criterion. */
  let lastPath = location.pathname;
  function begin() {
    const { dataset } = reading.page;
    assignment = dataset.assignment;
    writable = Boolean(dataset.writable);
    lastPath = location.pathname;
    lastSaved = dataset.saved;
    clearTimeout(noteTimer);
    delete question.dataset.choice;
    if (choice.open) choice.close();
    [mine, stood, trail, questions, history, justDecided, prefetched] = [
      outbox.entries(assignment),
      {},
      {},
      new Map(),
      [],
      null,
      null,
    ];
    reading.renew();
    renew();
    for (const one of reading.all()) stood[one.dataset.row] = { ...stateOf(one), version: Number(one.dataset.version) };
    for (const [id, entry] of Object.entries(mine)) {
      trail[id] = [...(entry.after ?? []), entry.client_id];
      if (row(id)) show(row(id), entry);
      else {
        outbox.drop(assignment, id, entry.client_id);
        delete mine[id];
      }
    }
    summarise();
    const asked = location.hash.startsWith("#criterion-") ? document.querySelector(location.hash) : null;
    select(asked ?? reading.all().find((one) => !one.dataset.outcome) ?? reading.all()[0]);
    showSaving();
    lookForOthers();
    flush();
  }
  begin();
  outbox.sendLeft(assignment);
})();
