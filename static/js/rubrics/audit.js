/* The auditor's form: it saves itself with the version it saw, keeps what could not be sent in this browser, and asks
   which of the two holds where another tab was faster. Keys are off while somebody types. */
(() => {
  "use strict";
  const form = document.getElementById("finding");
  if (!form?.dataset.save) return;
  const { server } = window.consilium;
  const DELAY_MS = 600;
  const QUESTIONS = ["correctness", "necessity", "consistency", "guidelines"];
  const key = `consilium.audit:${form.dataset.item}`;
  const saving = document.getElementById("saving");
  const refusal = document.getElementById("refusal");
  const overtaken = document.getElementById("overtaken");
  let version = Number(form.dataset.version);
  let sent = JSON.stringify(read()); // what the server has
  let later = null;
  let busy = null;
  let failures = 0;
  let standing = null; // what another tab saved, while the question is open
  let leaving = false;

  /* The form as one object, and back */
  function read() {
    const answers = {};
    for (const name of QUESTIONS) {
      const value = form.elements[name].value;
      if (value) answers[name] = value === "sound";
    }
    const criteria = Array.from(document.querySelectorAll("[name=criteria]:checked"), (box) => Number(box.value)).sort(
      (a, b) => a - b,
    );
    return { answers, criteria, outcome: form.elements.outcome.value, comment: form.elements.comment.value };
  }
  function write(finding) {
    for (const name of QUESTIONS) {
      form.querySelectorAll(`[name=${name}]`).forEach((radio) => {
        radio.checked = name in finding.answers && (radio.value === "sound") === finding.answers[name];
      });
    }
    form.querySelectorAll("[name=outcome]").forEach((radio) => {
      radio.checked = radio.value === finding.outcome;
    });
    document.querySelectorAll("[name=criteria]").forEach((box) => {
      box.checked = finding.criteria.includes(Number(box.value));
    });
    form.elements.comment.value = finding.comment;
  }
  const dirty = () => JSON.stringify(read()) !== sent;

  function keep() {
    try {
      if (dirty()) localStorage.setItem(key, JSON.stringify({ version, finding: read() }));
      else localStorage.removeItem(key);
    } catch {
      // The page holds it.
    }
  }
  function restore() {
    try {
      const kept = JSON.parse(localStorage.getItem(key) ?? "null");
      if (!kept) return;
      const here = read();
      write(kept.finding);
      if (!dirty()) return localStorage.removeItem(key);
      tell(form.dataset.textRestored);
      // Written before what stands now: the person chooses.
      if (kept.version !== version) ask({ version, ...here });
      else save();
    } catch {
      localStorage.removeItem(key);
    }
  }

  /* Saving */
  function tell(text) {
    saving.textContent = text;
  }
  function refuse(text) {
    refusal.hidden = !text;
    refusal.querySelector("p").textContent = text;
    if (text) refusal.scrollIntoView({ block: "nearest" });
  }
  const post = (url, finding) => server.ask("POST", url, { version, ...finding });
  function save() {
    if (busy) return busy;
    if (standing || !dirty()) return Promise.resolve();
    clearTimeout(later);
    tell(form.dataset.textSaving);
    busy = deliver().finally(() => {
      busy = null;
      if (!standing && dirty()) later = setTimeout(save, failures ? Math.min(30_000, 500 * 2 ** failures) : DELAY_MS);
    });
    return busy;
  }
  async function deliver() {
    const finding = read();
    settle(await post(form.dataset.save, finding), finding);
    keep();
  }
  function settle({ status, body }, finding) {
    if (status === 200) {
      failures = 0;
      version = body.version ?? version;
      sent = JSON.stringify(finding);
      tell(form.dataset.textSaved);
      return true;
    }
    failures = Math.min(failures + 1, 6);
    if (status === 409 && body?.standing) ask(body.standing);
    else if (status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
    else if (body?.detail && status < 500 && status !== 403) refuse(body.detail);
    else {
      tell(form.dataset.textOffline);
      if (status === 403) server.session(); // the next attempt takes the new token
    }
    return false;
  }
  function ask(what) {
    standing = what;
    overtaken.hidden = false;
    overtaken.scrollIntoView({ block: "nearest" });
  }
  overtaken.addEventListener("click", (event) => {
    const mine = event.target.closest("[data-keep-mine]");
    if (!standing || !(mine || event.target.closest("[data-take-saved]"))) return;
    version = standing.version;
    const { answers, criteria, outcome, comment } = standing;
    sent = JSON.stringify({ answers, criteria, outcome, comment });
    if (!mine) write(standing);
    standing = null;
    failures = 0;
    overtaken.hidden = true;
    keep();
    save();
  });
  function changed() {
    refuse("");
    keep();
    clearTimeout(later);
    later = setTimeout(save, DELAY_MS);
  }
  form.addEventListener("input", changed);
  document.addEventListener("change", (event) => event.target.name === "criteria" && changed());
  document.addEventListener("consilium:signed-in", save);
  window.addEventListener("online", save);
  window.addEventListener("beforeunload", (event) => {
    keep();
    if (dirty() && !leaving) event.preventDefault();
  });

  /* Handing in */
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await busy;
    if (standing) return overtaken.scrollIntoView({ block: "nearest" });
    clearTimeout(later);
    const finding = read();
    const answer = await post(form.dataset.submit, finding);
    if (answer.status === 200) {
      leaving = true;
      localStorage.removeItem(key);
      location.assign(answer.body.next);
      return;
    }
    settle(answer, finding);
  });

  /* Keys */
  const criteria = () => Array.from(document.querySelectorAll("[data-criterion]"));
  function move(step) {
    const all = criteria();
    const at = all.indexOf(document.activeElement?.closest?.("[data-criterion]"));
    const next = all[at < 0 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }
  function toggle(name) {
    const [sound, fault] = form.querySelectorAll(`[name=${name}]`);
    (sound.checked ? fault : sound).click();
  }
  document.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return form.requestSubmit();
    if (event.key === "Escape" && event.target.matches("textarea")) return event.target.blur();
    if (
      event.target.closest("textarea, input:not([type=radio], [type=checkbox]), dialog") ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey
    )
      return;
    const outcome = { s: "sound", r: "revise", x: "remove" }[event.key.toLowerCase()];
    if ("1234".includes(event.key)) toggle(QUESTIONS[Number(event.key) - 1]);
    else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
    else if (event.key.toLowerCase() === "f")
      document.activeElement?.closest?.("[data-criterion]")?.querySelector("input").click();
    else if (event.key.toLowerCase() === "t") form.elements.comment.focus();
    else if (outcome) form.querySelector(`[name=outcome][value=${outcome}]`).click();
    else return;
    event.preventDefault();
  });
  restore();
})();
