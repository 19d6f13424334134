/* Saving of a rubric: the whole list with the version that was seen. What is not saved yet waits in this browser's
   storage; where somebody else saved in between, both are merged, and what both changed is asked.

   consilium.rubricSaving(page) takes {items(), show(items), missing(list), say(state, words)…} and gives back
   {changed, save, dirty, version}. */
(() => {
  "use strict";
  const model = window.consilium?.rubricModel;
  const editor = document.getElementById("editor");
  if (!model || !editor?.dataset.draftUrl) return;
  const WAIT_MS = 900;
  const POLL_MS = 15_000;
  const LONGEST_WAIT_MS = 15_000;
  const PATIENCE_MS = 30_000; // with an answer that does not come
  const MOST_UNSURE = 4;
  const PAUSE_MS = 1500; // in which nothing is typed, before anything is asked
  const MOST_KEPT_ALIVE = 60_000; // browsers take no more with a page that goes

  window.consilium.rubricSaving = ({ start, items, show, missing, toast, ask, finish, words }) => {
    const prefix = `consilium.rubric:${start.who}:${editor.dataset.case}:`;
    const key = prefix + model.newId();
    const savedBox = document.getElementById("saved");
    const trouble = document.getElementById("trouble");
    let version = start.version;
    let draftId = start.draft; // versions of another draft count from the beginning again
    let base = model.copy(start.items); // what the server has, as far as this page knows
    let dirty = false;
    let busy = null;
    let halted = ""; // "signed-out", "gone", "refused": nothing is sent
    let failures = 0;
    let timer = null;
    let sent = null; // {text, id} of the last request: repeated with the same id, it changes nothing
    let keptHere = true;
    let lastSaved = start.saved_at && start.version > 1 ? start.saved_at : "";
    let asking = false;
    let unanswered = null; // the list that both began from: until a question is answered, a later page asks it again
    let unsure = []; // lists that were sent and not answered: they may have arrived
    let touched = 0; // when something was changed here last

    /* What the line in the bar says */
    const time = (text) => new Date(text).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
    function tell() {
      const stuck = dirty && (failures > 0 || !navigator.onLine || halted);
      savedBox.dataset.state = stuck ? "waiting" : dirty ? "saving" : "saved";
      savedBox.classList.toggle("offline", Boolean(stuck));
      savedBox.classList.toggle("saving", dirty && !stuck);
      const offline = !navigator.onLine || (failures > 0 && !halted);
      const text = stuck
        ? offline
          ? words.offline
          : words.kept
        : dirty
          ? words.saving
          : lastSaved
            ? words.saved.replace("TIME", time(lastSaved))
            : words.saves;
      if (savedBox.textContent !== text) savedBox.textContent = text;
    }
    /* Who else has written here, until this page saves. */
    function others(person, at) {
      const box = document.getElementById("elsewhere");
      box.hidden = !person || person === start.name;
      box.querySelector("p").textContent = box.hidden
        ? ""
        : words.earlier
            .replace("PERSON", person)
            .replace("TIME", new Date(at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" }));
    }
    function complain(text) {
      trouble.hidden = !text;
      trouble.querySelector("p").textContent = text;
    }

    /* This browser's storage */
    function keep() {
      try {
        if (dirty)
          localStorage.setItem(
            key,
            JSON.stringify({ items: items(), base: unanswered ?? base, unsure, at: Date.now() }),
          );
        else localStorage.removeItem(key);
        keptHere = true;
      } catch {
        keptHere = false;
      }
    }
    /* What pages before this one could not save, oldest first; each with the list that it began from. */
    function leftBehind() {
      const found = [];
      try {
        for (const name of Object.keys(localStorage)) {
          if (!name.startsWith(prefix) || name === key) continue;
          try {
            found.push({ name, ...JSON.parse(localStorage.getItem(name)) });
          } catch {
            localStorage.removeItem(name);
          }
        }
      } catch {
        // Storage is forbidden: then nothing was kept.
      }
      return found.sort((one, other) => one.at - other.at);
    }
    /* What stands on the server, if this browser sent it and lost the answer: then nobody else has changed anything. */
    const arrived = (stands) => unsure.find((list) => model.sameList(list, stands));
    function pickUp() {
      const entries = leftBehind().filter((entry) => Array.isArray(entry.items) && Array.isArray(entry.base));
      let questions = [];
      for (const entry of entries) {
        unsure = [...unsure, ...(entry.unsure ?? []), entry.items];
        const told = model.merge(arrived(items()) ?? entry.base, entry.items, items());
        questions = questions.concat(told.questions);
        show(told.items);
      }
      if (entries.length && !model.sameList(items(), base)) {
        changed(0);
        if (questions.length) unanswered = entries[0].base;
        keep();
        toast(words.found);
        if (questions.length) question(questions, start.saved_by);
      }
      for (const entry of entries) localStorage.removeItem(entry.name);
    }

    /* Sending */
    function changed(wait = WAIT_MS) {
      dirty = true;
      touched = Date.now();
      tell();
      clearTimeout(timer);
      timer = setTimeout(save, wait);
      clearTimeout(changed.keeping);
      changed.keeping = setTimeout(keep, 150);
    }
    const token = () => JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
    function save() {
      if (busy) return busy;
      if (!dirty || halted || asking) return Promise.resolve(!dirty);
      clearTimeout(timer);
      busy = deliver().finally(() => {
        busy = null;
        tell();
        if (dirty && !halted && !asking) {
          clearTimeout(timer);
          timer = setTimeout(
            save,
            failures ? Math.min(LONGEST_WAIT_MS, 1000 * 2 ** Math.min(failures - 1, 4)) : WAIT_MS,
          );
        }
      });
      tell();
      return busy;
    }
    async function deliver() {
      const list = model.copy(items());
      const text = JSON.stringify(list);
      if (sent?.text !== text || sent.version !== version)
        sent = { text, version, id: crypto.randomUUID?.() ?? uuid() };
      const body = JSON.stringify({ who: start.who, draft: draftId, version, client_id: sent.id, items: list });
      const headers = {
        "Content-Type": "application/json",
        Accept: "application/json",
        "X-CSRFToken": token(),
        "HX-Request": "true",
      };
      unsure = [...unsure.filter((one) => !model.sameList(one, list)).slice(1 - MOST_UNSURE), list];
      keep();
      let answer;
      let told = {};
      try {
        answer = await fetch(editor.dataset.draftUrl, {
          method: "POST",
          credentials: "same-origin",
          headers,
          body,
          keepalive: body.length < MOST_KEPT_ALIVE,
          signal: AbortSignal.timeout?.(PATIENCE_MS),
        });
        if (answer.headers.get("Content-Type")?.startsWith("application/json")) told = await answer.json();
      } catch {
        failures += 1;
        keep();
        return false;
      }
      if (answer.ok) {
        failures = 0;
        unsure = [];
        complain("");
        version = told.version;
        draftId = told.draft;
        base = list;
        lastSaved = told.saved_at;
        others("", "");
        dirty = !model.sameList(items(), list);
        keep();
        missing(told.missing);
        return !dirty;
      }
      keep();
      if (answer.status === 409 && told.draft) return settle(told.draft);
      if (answer.status === 401) {
        halted = "signed-out";
        pause().then(() => halted && document.dispatchEvent(new CustomEvent("consilium:signed-out")));
      } else if (answer.status === 403 && !told.detail && failures < 3) {
        failures += 1;
        await renew();
      } else if (answer.status === 422) {
        // Something in the list cannot be saved as it is; the next change tries again.
        failures += 1;
        complain(
          [
            told.detail,
            ...(told.errors ?? []).map((one) => (one.line ? `${one.line}. ${one.message}` : one.message)),
          ].join(" "),
        );
      } else if (told.detail) {
        halted = told.gone ? "gone" : "refused";
        complain(told.gone ? `${told.detail} ${words.gone}` : told.detail);
      } else failures += 1;
      return false;
    }
    function uuid() {
      // crypto.randomUUID is not there on plain http in the house's network.
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      bytes[6] = (bytes[6] & 15) | 64;
      bytes[8] = (bytes[8] & 63) | 128;
      const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
      return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
    }
    async function renew() {
      try {
        const answer = await fetch(document.getElementById("session-ended").dataset.session, {
          credentials: "same-origin",
          headers: { Accept: "application/json" },
        });
        window.consilium.renewToken((await answer.json()).csrf_token);
      } catch {
        // The next try says so.
      }
    }
    /* Somebody saved in between: what only one changed is taken, the rest is asked. */
    function settle(draft) {
      base = arrived(draft.items) ?? base;
      unsure = [];
      const told = model.merge(base, items(), draft.items);
      const quiet = !dirty;
      if (told.questions.length) unanswered = base;
      version = draft.version;
      draftId = draft.draft;
      base = model.copy(draft.items);
      lastSaved = draft.saved_at;
      others(draft.saved_by, draft.saved_at);
      if (!model.sameList(told.items, items())) show(told.items);
      dirty = told.questions.length > 0 || !model.sameList(items(), base);
      keep();
      missing(draft.missing);
      if (told.questions.length) question(told.questions, draft.saved_by);
      else if (draft.saved_by !== start.name || quiet)
        toast((quiet ? words.theirs : words.merged).replace("PERSON", draft.saved_by));
      tell();
      return !dirty;
    }
    /* A dialog in the middle of a word would swallow the rest of it. */
    async function pause() {
      while (Date.now() - touched < PAUSE_MS || document.querySelector("dialog[open]"))
        await new Promise((go) => setTimeout(go, 200));
    }
    async function question(questions, person) {
      asking = true;
      await pause();
      const answers = await ask(questions, person);
      asking = false;
      unanswered = null;
      const list = [];
      for (const item of items()) {
        const one = questions.find((each) => each.id === item.id);
        const choice = one && answers[item.id] === "theirs" ? one.theirs : one && !one.mine ? null : item;
        if (choice) list.push(choice);
      }
      show(list);
      changed(0);
      keep();
    }

    /* What others do meanwhile */
    async function look() {
      if (document.hidden || dirty || busy || halted || asking || !navigator.onLine) return;
      try {
        const answer = await fetch(`${editor.dataset.draftUrl}?version=${version}&draft=${draftId ?? ""}`, {
          credentials: "same-origin",
          headers: { Accept: "application/json", "HX-Request": "true" },
        });
        if (answer.status !== 200 || dirty || busy) return;
        const told = await answer.json();
        if (told.status !== "draft" && (told.status || version)) {
          halted = "gone";
          complain(words.gone);
        } else if (told.version > version || told.draft !== draftId) settle(told);
      } catch {
        // Offline: nothing is shown as long as there is nothing to save.
      }
    }
    setInterval(look, POLL_MS);
    window.addEventListener("focus", () => {
      // Whoever else was signed in may have left again.
      if (halted === "refused") halted = "";
      if (dirty) save();
      else look();
    });
    window.addEventListener("online", () => {
      failures = 0;
      tell();
      save();
    });
    window.addEventListener("offline", tell);
    document.addEventListener("consilium:signed-in", () => {
      halted = "";
      save();
    });
    document.addEventListener("visibilitychange", leaving);
    window.addEventListener("pagehide", leaving);
    function leaving(event) {
      if (event.type === "visibilitychange" && document.visibilityState === "visible") return;
      finish();
      if (!dirty) return;
      keep();
      save();
    }
    window.addEventListener("beforeunload", (event) => {
      keep();
      if (!dirty || keptHere) return;
      complain(words.full);
      event.preventDefault();
    });
    tell();
    if (version > 1) others(start.saved_by, start.saved_at);
    return { changed, save, pickUp, isDirty: () => dirty, renew };
  };
})();
