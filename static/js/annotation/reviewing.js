/* Checking and adjudicating: an outcome for a criterion, with a reason where one is needed, and the next piece of work
   without a page load.

   What was chosen or written stays in the browser, for its author alone, until the server has it. */
(() => {
  "use strict";
  const reading = window.consilium?.reading;
  if (!reading) return;
  const { row, current, inSight, select, following, text } = reading;
  const outbox = window.consilium.outbox;
  const who = outbox?.who ?? "";
  const words = document.getElementById("words");
  const dialog = document.getElementById("send-back");
  const returning = document.getElementById("return-form");
  const form = document.getElementById("finish-form");
  const choice = document.getElementById("choice");
  let work = "";
  let adjudicating = false;
  let writable = false;
  let pending = new Map(); // criterion → what is on its way
  let questions = new Map(); // criterion → the row as it was saved elsewhere, until the person has chosen
  let busy = false; // an accept, a return or a finish is under way
  let history = [];
  let savedAt = "";
  let halted = "";
  let failures = 0;
  let timer = null;

  /* What is kept in the browser */
  const prefix = () => `consilium.review:${who}:${work}:`;
  function keep(id, entry) {
    try {
      if (entry) localStorage.setItem(prefix() + id, JSON.stringify(entry));
      else localStorage.removeItem(prefix() + id);
    } catch {
      // Forbidden or full: then it is on the page alone.
    }
  }
  function kept() {
    const found = {};
    try {
      for (const key of Object.keys(localStorage))
        if (key.startsWith(prefix())) found[key.slice(prefix().length)] = JSON.parse(localStorage.getItem(key));
    } catch {
      // Nothing to be had.
    }
    return found;
  }
  const forgetAll = () =>
    Object.keys(kept()).forEach((id) => {
      keep(id, null);
    });

  /* What the page shows */
  function marks() {
    reading.paint(
      reading.all().flatMap((one) =>
        JSON.parse(one.dataset.evidence).map((span) => ({
          ...span,
          label: `${one.dataset.number}${span.letter ?? ""}`,
          kind: one === current() ? "current" : "other",
        })),
      ),
    );
  }
  function summarise() {
    marks();
    reading.applyFilter();
    const rows = reading.all();
    const summary = document.getElementById("summary");
    if (summary) summary.textContent = `${rows.filter((one) => one.dataset.amended).length} ${summary.dataset.one}`;
    const bar = document.getElementById("graded");
    if (!bar) return;
    bar.max = Number(reading.page.dataset.conflicts);
    bar.value = rows.filter((one) => one.dataset.conflict && one.dataset.outcome).length;
    document.getElementById("graded-text").textContent = `${bar.value} / ${bar.max}`;
    document.getElementById("submit")?.classList.toggle("ready", bar.value === bar.max);
  }
  function showSaving() {
    const saved = document.getElementById("saved");
    if (!saved) return;
    const lost = pending.size && (failures || halted || !navigator.onLine);
    const saving = busy || pending.size;
    saved.className = lost ? "saved offline" : saving ? "saved saving" : "saved";
    saved.dataset.state = lost ? "waiting" : saving ? "saving" : "saved";
    saved.textContent = lost
      ? `${pending.size} ${text("waiting")}`
      : saving
        ? text("saving")
        : savedAt
          ? `${text("saved")} ${savedAt}`
          : text("saves");
  }
  function refuse(message) {
    const notice = document.createElement("div");
    notice.className = "notice error";
    notice.setAttribute("role", "alert");
    const line = document.createElement("p");
    line.textContent = message;
    notice.append(line);
    document.getElementById("refusal").replaceChildren(notice);
  }
  function parse(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html;
    return holder.content;
  }
  const sentence = (html) => parse(html).textContent.trim();
  reading.filters.flagged = (one) => Boolean(one.dataset.flagged);
  reading.filters.amended = (one) => Boolean(one.dataset.amended);
  document.addEventListener("consilium:criterion", marks);

  /* The server */
  async function post(url, values = {}) {
    const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
    try {
      const answer = await fetch(url, {
        method: "POST",
        credentials: "same-origin",
        headers: { "X-CSRFToken": token, "HX-Request": "true" },
        body: new URLSearchParams(values),
        signal: AbortSignal.timeout?.(15_000),
      });
      return {
        status: answer.status,
        html: await answer.text(),
        leave: answer.headers.get("HX-Redirect"),
        told: answer.headers.get("HX-Trigger"),
      };
    } catch {
      return { status: 0, html: "", leave: null, told: null };
    }
  }
  /* True where the same person is signed in; the page's token is brought up to date on the way. */
  async function stillMe() {
    const session = await outbox?.session();
    if (session?.signed_in && session.who !== who) {
      halted = "somebody";
      refuse(text("somebody"));
      showSaving();
      return false;
    }
    return true;
  }
  const toSend = () => Array.from(pending.keys()).some((id) => !questions.has(id));
  let sending = null;
  function flush() {
    sending ??= drain().finally(() => {
      sending = null;
      showSaving();
      // A new sheet came while the old one was sending.
      if (toSend() && !halted && !failures) flush();
      ask();
    });
    return sending;
  }
  function later() {
    failures += 1;
    clearTimeout(timer);
    timer = setTimeout(flush, Math.min(30_000, 1000 * 2 ** failures));
  }
  async function drain() {
    const of = work;
    for (const [id, entry] of pending) {
      if (questions.has(id)) continue;
      const target = row(id);
      if (!target) {
        pending.delete(id);
        continue;
      }
      const answer = await post(target.dataset.url, {
        // An empty outcome takes a ruling back.
        outcome: entry.outcome || "none",
        reason: entry.reason,
        version: entry.version,
        client_id: entry.client_id,
      });
      if (of !== work) return;
      if (answer.status === 200) {
        failures = 0;
        halted = "";
        savedAt = new Date().toLocaleTimeString(undefined, { hour12: false });
        const made = rowOf(answer.html);
        if (pending.get(id) === entry) {
          pending.delete(id);
          keep(id, null);
          renewRow(id, made);
        } else if (pending.has(id)) rebase(id, made, { was: entry.outcome });
        document.getElementById("refusal").replaceChildren();
      } else if (answer.status === 401) {
        halted = "signed-out";
        document.dispatchEvent(new CustomEvent("consilium:signed-out"));
        return;
      } else if (answer.status === 0 || answer.status >= 500) {
        later();
        return;
      } else if (answer.status === 403 || answer.status === 404) {
        // Another account, an old token, or work that is somebody else's by now.
        if (!(await stillMe())) return;
        if (answer.status === 403) {
          later();
          return;
        }
        giveUp(id, entry);
        refuse(text("gone"));
      } else if (answer.status === 409 && rowOf(answer.html)) overtaken(id, rowOf(answer.html));
      else {
        giveUp(id, entry);
        refuse(sentence(answer.html));
      }
      summarise();
    }
  }
  const rowOf = (html) => parse(html).querySelector("[data-row]");
  /* The row as the server has it; a reason that is being written in the old one is not disturbed. */
  function renewRow(id, made) {
    const old = row(id);
    if (!old || !made) return;
    const box = old.querySelector("[data-reason-box]");
    if (box && !box.hidden) {
      const { value, defaultValue } = reasonOf(old);
      if (value && value !== defaultValue && !pending.has(id))
        keep(id, { outcome: box.dataset.outcome, reason: value, unsent: false });
      for (const name of ["outcome", "amended", "version", "client", "at"])
        if (name in made.dataset) old.dataset[name] = made.dataset[name];
      return;
    }
    const was = current() === old;
    const focused = old.contains(document.activeElement);
    old.replaceWith(made);
    if (was) select(made, { focus: focused || document.activeElement === document.body });
  }
  /* What the person chose last goes on from the version that stands. */
  function rebase(id, made, more = {}) {
    const entry = { ...pending.get(id), ...more, version: Number(made?.dataset.version ?? pending.get(id).version) };
    pending.set(id, entry);
    keep(id, { ...entry, unsent: true });
    if (made && row(id)) row(id).dataset.version = made.dataset.version;
  }

  /* Two versions of one criterion: the person chooses */
  const savedReason = (made) => made.querySelector("[data-reason]")?.defaultValue ?? "";
  function overtaken(id, made) {
    const entry = pending.get(id);
    if (!entry) return;
    // What takes an amendment back needs no reason, and a ruling's reason is part of it.
    const takesBack = !adjudicating && entry.outcome === made.dataset.default;
    const same = made.dataset.outcome === entry.outcome && (takesBack || savedReason(made) === entry.reason.trim());
    // Ours, though its answer was lost; or it says the same: no question.
    if (same) {
      pending.delete(id);
      keep(id, null);
      renewRow(id, made);
    } else if (entry.after.includes(made.dataset.client)) rebase(id, made, { was: made.dataset.outcome });
    else questions.set(id, made);
  }
  function inWords(outcome, reason) {
    const word = outcome ? text(outcome) : text("undecided");
    return [word, reason].filter(Boolean).join(" · ");
  }
  function ask({ evenWhileTyping = false } = {}) {
    const [next] = questions;
    // Somebody who is typing would answer it with a stray Enter: it comes up when they leave the field.
    if (!next || !choice || choice.open || busy) return;
    if (!evenWhileTyping && document.activeElement?.matches("[data-reason], textarea")) return;
    const [id, made] = next;
    const entry = pending.get(id);
    if (!entry) {
      questions.delete(id);
      ask();
      return;
    }
    const untouched = made.dataset.amended === "" && "default" in made.dataset;
    choice.dataset.of = id;
    choice.querySelector("[data-changed]").textContent = text("changed").replace("NUMBER", made.dataset.number);
    choice.querySelector("[data-theirs]").textContent = [
      inWords(made.dataset.outcome, untouched ? text("own") : savedReason(made)),
      made.dataset.at,
    ]
      .filter(Boolean)
      .join(" · ");
    choice.querySelector("[data-mine]").textContent = inWords(entry.outcome, entry.reason);
    choice.showModal();
    document.getElementById("choice-title").focus();
  }
  choice?.addEventListener("click", (event) => {
    const id = choice.dataset.of;
    const made = questions.get(id);
    const keepMine = event.target.closest("[data-keep-mine]");
    if (!made || !(keepMine || event.target.closest("[data-take-saved]"))) return;
    questions.delete(id);
    choice.close();
    if (keepMine && pending.has(id)) rebase(id, made, { was: made.dataset.outcome });
    else {
      pending.delete(id);
      keep(id, null);
      history = history.filter((one) => one.id !== id); // what it led back to is not what stands
      renewRow(id, made);
    }
    select(row(id));
    summarise();
    showSaving();
    flush();
    ask();
  });
  // Escape would leave the question open with nothing to answer it.
  choice?.addEventListener("cancel", (event) => event.preventDefault());
  choice?.addEventListener("close", () => setTimeout(ask)); // a second Escape closes it all the same
  document.addEventListener("focusout", () => questions.size && setTimeout(ask));

  function giveUp(id, entry) {
    if (pending.get(id) !== entry) return; // what was chosen since goes its own way
    pending.delete(id);
    reopen(id, entry);
  }
  function reopen(id, entry) {
    const target = row(id);
    if (!target) return;
    target.dataset.outcome = entry.was; // what the server has
    press(target, entry.was);
    if (!entry.reason) {
      keep(id, null);
      return;
    }
    keep(id, { ...entry, unsent: false });
    showReason(target, entry.outcome, entry.reason);
  }

  /* Choosing */
  const reasonOf = (target) => target.querySelector("[data-reason]");
  function needsReason(target, outcome) {
    return adjudicating ? outcome === "faulty" : outcome !== target.dataset.default;
  }
  function press(target, outcome) {
    target.querySelectorAll("[data-set]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.set === outcome));
    });
  }
  function showReason(target, outcome, value) {
    const box = target.querySelector("[data-reason-box]");
    if (!box) return null;
    box.dataset.outcome = outcome;
    box.hidden = false;
    press(target, outcome);
    if (value !== undefined) reasonOf(target).value = value;
    return box;
  }
  function openReason(target, outcome) {
    select(target, { focus: false });
    if (!showReason(target, outcome)) return;
    reasonOf(target).focus();
    reasonOf(target).select();
  }
  function closeReason(target) {
    const field = reasonOf(target);
    field.value = field.defaultValue;
    field.removeAttribute("aria-invalid");
    target.querySelector("[data-reason-box]").hidden = true;
    const unsent = pending.get(target.dataset.row);
    keep(target.dataset.row, unsent ? { ...unsent, unsent: true } : null);
    press(target, target.dataset.outcome);
    target.focus();
  }
  /* Nothing is chosen or written while the piece is being finished: it would come too late and be lost. */
  function free() {
    if (busy) window.consilium.toast(text("busy"));
    return writable && !busy;
  }
  function choose(outcome, target = inSight()) {
    if (!free() || !target?.querySelector(`[data-set="${outcome}"]`)) return;
    const same = outcome === target.dataset.outcome;
    if (same && (adjudicating || !target.dataset.amended)) {
      goOn(target);
      return;
    }
    if (needsReason(target, outcome)) openReason(target, outcome);
    else save(target, outcome, adjudicating ? reasonOf(target).value : "");
  }
  function goOn(target) {
    const next = adjudicating
      ? following((one) => one !== target && one.dataset.conflict && !one.dataset.outcome)
      : null;
    select(next ?? row(target.dataset.row));
  }
  function save(target, outcome, reason, { remember = true } = {}) {
    const id = target.dataset.row;
    if (remember) history.push({ id, outcome: target.dataset.outcome, reason: reasonOf(target)?.defaultValue ?? "" });
    const before = pending.get(id);
    const entry = {
      outcome,
      reason,
      was: before?.was ?? target.dataset.outcome,
      version: before?.version ?? Number(target.dataset.version),
      client_id: outbox.newId(),
      // Saves of ours that may have arrived though no answer did.
      after: before ? [...before.after, before.client_id] : [],
    };
    // At the end of the queue: who changes their mind before it was sent is sent once.
    pending.delete(id);
    pending.set(id, entry);
    keep(id, { ...entry, unsent: true });
    // Shown before the server has answered; who rules with the keyboard is on the next conflict by then.
    target.dataset.outcome = outcome;
    press(target, outcome);
    const box = target.querySelector("[data-reason-box]");
    if (box) box.hidden = true;
    if (remember) goOn(target);
    else select(target);
    showSaving();
    summarise();
    flush();
  }
  function send(target) {
    if (!free()) return;
    const box = target.querySelector("[data-reason-box]");
    const reason = reasonOf(target);
    if (!reason.value.trim() && needsReason(target, box.dataset.outcome)) {
      reason.setAttribute("aria-invalid", "true");
      reason.focus();
      return;
    }
    reason.removeAttribute("aria-invalid");
    save(target, box.dataset.outcome, reason.value);
  }
  function undo() {
    const last = history.pop();
    if (!last || !row(last.id)) {
      window.consilium.toast(text("nothing"));
      return;
    }
    reading.applyFilter("all");
    select(row(last.id));
    save(row(last.id), last.outcome, last.reason, { remember: false });
  }
  function nextFlagged() {
    const next = following((one) => one.dataset.flagged && one !== current());
    if (next) select(next);
    else if (!current()?.dataset.flagged) window.consilium.toast(text("none"));
  }

  document.addEventListener("click", (event) => {
    const target = event.target.closest("#criteria [data-row]");
    if (!target) return;
    const set = event.target.closest("[data-set]");
    if (set) choose(set.dataset.set, target);
    else if (event.target.closest("[data-send]")) send(target);
    else if (event.target.closest("[data-do=reason]") && target.dataset.outcome && free())
      openReason(target, target.dataset.outcome);
  });
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-reason]")) {
      const target = event.target.closest("[data-row]");
      if (pending.has(target.dataset.row)) return; // what was sent off before is kept first
      const outcome = target.querySelector("[data-reason-box]").dataset.outcome;
      keep(target.dataset.row, event.target.value ? { outcome, reason: event.target.value, unsent: false } : null);
    } else if (returning?.contains(event.target))
      keep("note", event.target.value ? { note: event.target.value } : null);
  });
  document.addEventListener("keydown", (event) => {
    if (!event.target.matches?.("[data-reason]") || event.isComposing || event.keyCode === 229) return;
    const target = event.target.closest("[data-row]");
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      send(target);
    } else if (event.key === "Escape") {
      event.preventDefault();
      closeReason(target);
    }
  });

  /* Finishing, and the next */
  function setBusy(now) {
    const focused = document.activeElement;
    busy = now;
    const list = document.getElementById("criteria");
    // An inert field takes no more letters; what is chosen by key is held back by free().
    list.inert = now;
    list.setAttribute("aria-busy", String(now));
    if (returning) returning.elements.note.readOnly = now;
    if (!now && (focused === document.body || !focused) && !document.querySelector("dialog[open]"))
      current()?.focus({ preventScroll: true });
    showSaving();
  }
  async function finish(url, values, say) {
    if (busy || !writable) return;
    const typed = reading.all().find((one) => {
      const box = one.querySelector("[data-reason-box]");
      return box && !box.hidden && reasonOf(one).value.trim() && reasonOf(one).value !== reasonOf(one).defaultValue;
    });
    if (typed) {
      say(text("typed"));
      if (!dialog?.open) {
        reading.applyFilter("all");
        select(typed, { focus: false });
        reasonOf(typed).focus();
      }
      return;
    }
    let leaving = false;
    setBusy(true);
    try {
      takeUp();
      await flush();
      if (questions.size) {
        say(text("asked"));
        return;
      }
      if (pending.size) {
        say(text(halted === "somebody" ? "somebody" : "unsent"));
        return;
      }
      const answer = await post(url, values);
      if (answer.status === 200) {
        forgetAll();
        leaving = !goToNext(answer);
      } else if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      else if (answer.status === 0 || answer.status >= 500) say(text("lost"));
      else if (answer.status === 403 || answer.status === 404) {
        if (await stillMe()) say(text(answer.status === 403 ? "lost" : "gone"));
      } else {
        say(sentence(answer.html));
        const open = reading.all().find((one) => one.dataset.conflict && !one.dataset.outcome);
        if (open) select(open);
      }
    } finally {
      if (!leaving) setBusy(false);
      ask({ evenWhileTyping: true });
    }
  }
  /* True where the next piece is on the page by now; else another page is under way. */
  function goToNext({ html, told, leave }) {
    const made = parse(html).querySelector("#work");
    if (leave || !made) {
      if (leave) location.assign(leave);
      else location.reload();
      return false;
    }
    if (dialog?.open) dialog.close();
    returning?.reset();
    reading.page.replaceWith(made);
    window.history.pushState({ work: made.dataset.work }, "", made.dataset.url);
    begin();
    const { heading } = made.dataset;
    document.title = `${heading} · Consilium`;
    document.getElementById("place").textContent = heading;
    const said = told ? (JSON.parse(told).toast?.text ?? "") : "";
    window.consilium.toast(said);
    document.getElementById("announce").textContent = `${said} ${heading}`;
    document.dispatchEvent(new CustomEvent("consilium:sheet"));
    return true;
  }
  const accept = () => form && finish(reading.page.dataset.finishUrl, {}, refuse);
  function sayInDialog(message) {
    const problem = dialog.querySelector("[data-problem]");
    problem.querySelector("p").textContent = message;
    problem.hidden = !message;
  }
  const sendBack = () => finish(reading.page.dataset.returnUrl, { note: returning.elements.note.value }, sayInDialog);
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    accept();
  });
  returning?.addEventListener("submit", (event) => {
    event.preventDefault();
    sendBack();
  });
  function openReturn() {
    if (!free() || !dialog || dialog.open) return;
    sayInDialog("");
    const note = returning.elements.note;
    note.value ||= kept().note?.note ?? "";
    dialog.showModal();
    note.focus();
  }
  document.addEventListener("keydown", (event) => {
    if (
      event.key !== "Enter" ||
      !(event.ctrlKey || event.metaKey) ||
      event.altKey ||
      event.repeat ||
      event.defaultPrevented
    )
      return;
    const open = document.querySelector("dialog[open]");
    if (open && open !== dialog) return;
    event.preventDefault();
    if (open) sendBack();
    else accept();
  });
  document.getElementById("release-form")?.addEventListener("submit", forgetAll);
  // Back and forward lead to real pages.
  window.addEventListener("popstate", () => location.pathname !== reading.page.dataset.url && location.reload());
  window.addEventListener("pageshow", (event) => event.persisted && location.reload());
  window.addEventListener("beforeunload", (event) => pending.size && event.preventDefault());
  async function resume() {
    failures = 0;
    if (!(await stillMe())) return;
    if (halted === "somebody") document.getElementById("refusal").replaceChildren();
    halted = "";
    flush();
  }
  window.addEventListener("online", resume);
  window.addEventListener("offline", showSaving);
  document.addEventListener("consilium:signed-in", resume);

  reading.on(["m"], () => choose("met"));
  reading.on(["n"], () => choose("not_met"));
  reading.on(["c"], () => choose("cannot_assess"));
  reading.on(["f"], () => (adjudicating ? choose("faulty") : nextFlagged()));
  reading.on(
    ["t"],
    () =>
      writable &&
      inSight()?.dataset.outcome &&
      (adjudicating || inSight().dataset.amended) &&
      free() &&
      openReason(inSight(), inSight().dataset.outcome),
  );
  reading.on(["u"], () => free() && undo());
  reading.on(["r"], openReturn);
  reading.on(["l"], () => {
    if (adjudicating) return;
    reading.applyFilter(reading.filter === "flagged" ? "all" : "flagged");
    if (!reading.shown().includes(current())) select(reading.shown()[0]);
  });
  reading.on(["a"], () =>
    document.querySelector(".segmented a:is([data-everything], [data-conflicts-only]):not([aria-current])")?.click(),
  );

  /* What this browser holds and no server has, from before a reload or from another tab of the same work. */
  function takeUp() {
    for (const [id, entry] of Object.entries(kept())) {
      const target = row(id);
      if (!target || !entry?.unsent || pending.has(id)) continue;
      pending.set(id, {
        version: Number(target.dataset.version),
        client_id: outbox.newId(),
        after: [],
        ...entry,
        was: target.dataset.outcome,
      });
      target.dataset.outcome = entry.outcome;
      press(target, entry.outcome);
    }
  }
  /* A sheet starts: what the browser still holds of it is shown, and sent. */
  function begin() {
    const { dataset } = reading.page;
    work = dataset.work;
    adjudicating = dataset.reasonFor === "faulty";
    writable = Boolean(dataset.writable);
    [pending, questions, history, failures, halted, savedAt] = [new Map(), new Map(), [], 0, "", ""];
    reading.renew();
    if (form) form.action = dataset.finishUrl;
    if (returning) returning.action = dataset.returnUrl;
    const release = document.getElementById("release-form");
    if (release) release.action = dataset.releaseUrl;
    if (writable) takeUp();
    for (const [id, entry] of Object.entries(writable ? kept() : {})) {
      const target = row(id);
      if (target && entry?.outcome && !entry.unsent) showReason(target, entry.outcome, entry.reason);
    }
    summarise();
    select(reading.all().find((one) => one.dataset.conflict && !one.dataset.outcome) ?? reading.all()[0]);
    showSaving();
    if (pending.size) flush();
  }
  if (words) begin();
})();
