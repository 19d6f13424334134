/* Checking and adjudicating: an outcome for a criterion, with a reason where one is needed. */
(() => {
  "use strict";
  const reading = window.consilium?.reading;
  if (!reading) return;
  const { page, row, current, select, following, text } = reading;
  const writable = Boolean(page.dataset.writable);
  const adjudicating = page.dataset.reasonFor === "faulty";
  const form = document.getElementById("finish-form");
  let saving = Promise.resolve();

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
    bar.value = rows.filter((one) => one.dataset.conflict && one.dataset.outcome).length;
    document.getElementById("graded-text").textContent = `${bar.value} / ${bar.max}`;
    document.getElementById("submit").classList.toggle("ready", bar.value === bar.max);
  }
  reading.filters.flagged = (one) => Boolean(one.dataset.flagged);
  reading.filters.amended = (one) => Boolean(one.dataset.amended);
  document.addEventListener("consilium:criterion", marks);

  function needsReason(target, outcome) {
    return adjudicating ? outcome === "faulty" : outcome !== target.dataset.default;
  }
  function openReason(target, outcome) {
    const box = target.querySelector("[data-reason-box]");
    if (!box) return;
    select(target, { focus: false });
    box.dataset.outcome = outcome;
    box.hidden = false;
    target.querySelectorAll("[data-set]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.set === outcome)));
    box.querySelector("[data-reason]").focus();
  }
  function closeReason(target) {
    target.querySelector("[data-reason-box]").hidden = true;
    target.querySelectorAll("[data-set]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.set === target.dataset.outcome)));
    target.focus();
  }
  function choose(outcome, target = current()) {
    if (!writable || !target || !target.querySelector(`[data-set="${outcome}"]`)) return;
    const reason = target.querySelector("[data-reason]");
    const same = outcome === target.dataset.outcome;
    if (same && (adjudicating || !target.dataset.amended)) {
      goOn(target);
      return;
    }
    if (needsReason(target, outcome)) openReason(target, outcome);
    else save(target, outcome, adjudicating ? reason.value : "");
  }
  function goOn(target) {
    const next = adjudicating ? following((one) => one !== target && one.dataset.conflict && !one.dataset.outcome) : null;
    if (next) select(next);
    else select(row(target.dataset.row));
  }
  function press(target, outcome) {
    target.dataset.outcome = outcome;
    target.querySelectorAll("[data-set]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.set === outcome)));
  }
  function save(target, outcome, reason) {
    const id = target.dataset.row;
    const before = target.dataset.outcome;
    // Who rules with the keyboard is on the next conflict before the server has answered.
    if (adjudicating) {
      press(target, outcome);
      target.querySelector("[data-reason-box]").hidden = true;
      goOn(target);
    }
    saving = saving.then(async () => {
      let status = 0;
      const receive = (event) => {
        if (event.detail.requestConfig.path === target.dataset.url) status = event.detail.xhr.status;
      };
      document.addEventListener("htmx:beforeSwap", receive);
      try {
        await window.htmx.ajax("POST", target.dataset.url, { source: row(id), target: row(id), swap: "outerHTML", values: { outcome, reason } });
      } catch {
        status = 0;
      } finally {
        document.removeEventListener("htmx:beforeSwap", receive);
      }
      if (status === 200) document.getElementById("refusal").replaceChildren();
      if (status === 0 || status >= 500) window.consilium.toast(text("lost"), "error");
      if (status !== 200 && adjudicating) press(row(id), before);
      summarise();
      if (status === 200 && !adjudicating) select(row(id));
      return status;
    });
    return saving;
  }
  function send(target) {
    const box = target.querySelector("[data-reason-box]");
    const reason = box.querySelector("[data-reason]");
    if (!reason.value.trim() && needsReason(target, box.dataset.outcome)) {
      reason.setAttribute("aria-invalid", "true");
      reason.focus();
      return;
    }
    save(target, box.dataset.outcome, reason.value);
  }

  reading.list.addEventListener("click", (event) => {
    const target = event.target.closest("[data-row]");
    const set = event.target.closest("[data-set]");
    if (set) choose(set.dataset.set, target);
    else if (event.target.closest("[data-send]")) send(target);
    else if (event.target.closest("[data-do=reason]") && target.dataset.outcome) openReason(target, target.dataset.outcome);
  });
  reading.list.addEventListener("keydown", (event) => {
    if (!event.target.matches("[data-reason]") || event.isComposing) return;
    const target = event.target.closest("[data-row]");
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      send(target);
    } else if (event.key === "Escape") {
      event.preventDefault();
      closeReason(target);
    }
  });

  let finishing = false;
  async function finish() {
    if (!form || finishing) return;
    finishing = true;
    try {
      await saving;
      HTMLFormElement.prototype.submit.call(form); // form.submit is the button of that id
    } finally {
      finishing = false;
    }
  }
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    finish();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    finish();
  });
  reading.on(["m"], () => choose("met"));
  reading.on(["n"], () => choose("not_met"));
  reading.on(["c"], () => choose("cannot_assess"));
  reading.on(["f"], () => choose("faulty"));
  reading.on(["t"], () => current()?.dataset.outcome && openReason(current(), current().dataset.outcome));
  reading.on(["r"], () => document.getElementById("send-back")?.showModal());

  summarise();
  select(reading.all().find((one) => one.dataset.conflict && !one.dataset.outcome) ?? reading.all()[0]);
})();
