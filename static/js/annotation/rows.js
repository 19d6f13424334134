/* Rows of the grading page: what a decision looks like, the evidence in the text, and the order of the criteria. */
(() => {
  "use strict";
  const reading = window.consilium?.reading;
  if (!reading) return;
  const { current, select, text } = reading;
  const writable = () => Boolean(reading.page.dataset.writable);
  const orderKey = `consilium.order:${window.consilium.outbox?.who ?? ""}`;

  /* State of a row: what the page shows, saved or not */
  const stateOf = (target) => ({
    outcome: target.dataset.outcome,
    borderline: target.dataset.borderline === "1",
    note: target.dataset.note,
    evidence: JSON.parse(target.dataset.evidence),
  });
  const plain = (state) =>
    JSON.stringify([state.outcome, state.borderline, state.note, state.evidence.map(({ start, end }) => [start, end])]);
  const same = (one, other) => plain(one) === plain(other);
  function show(target, state) {
    target.dataset.outcome = state.outcome;
    target.dataset.borderline = state.borderline ? "1" : "";
    target.dataset.note = state.note;
    target.dataset.evidence = JSON.stringify(
      state.evidence.map((span) => ({ ...span, quote: span.quote ?? reading.quote(span) })),
    );
    target.classList.toggle("decided", Boolean(state.outcome));
    target.querySelectorAll("[data-set]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.set === state.outcome));
    });
    target.querySelector("[data-borderline-flag]").hidden = !state.borderline;
    if (state.note || state.evidence.length || target.querySelector(".extra")) showExtra(target, state);
  }
  /* Evidence, note and buttons: made for the rows that have any, and for the one that is worked on. */
  function extraOf(target) {
    const there = target.querySelector(".extra");
    if (there) return there;
    const made = document.getElementById("extra").content.firstElementChild.cloneNode(true);
    made.querySelector("textarea").setAttribute("aria-label", text("note").replace("NUMBER", target.dataset.number));
    if (!writable()) made.querySelector(".actions").remove();
    target.append(made);
    return made;
  }
  function showExtra(target, state = stateOf(target)) {
    const extra = extraOf(target);
    const spans = JSON.parse(target.dataset.evidence);
    const quotes = extra.querySelector(".quotes");
    quotes.hidden = !spans.length;
    quotes.replaceChildren(
      ...spans.map((span, at) => {
        const item = document.getElementById("quote").content.firstElementChild.cloneNode(true);
        const words = Array.from(span.quote ?? "");
        item.querySelector("q").textContent = words.length > 90 ? `${words.slice(0, 89).join("")}…` : words.join("");
        if (writable()) item.querySelector("button").dataset.drop = at;
        else item.querySelector("button").remove();
        return item;
      }),
    );
    const editor = extra.querySelector("[data-note-edit]");
    const field = editor.querySelector("textarea");
    if (editor.hidden || document.activeElement !== field) field.value = state.note;
    const note = extra.querySelector("[data-note-shown]");
    note.textContent = state.note;
    note.hidden = !state.note || !editor.hidden;
    extra.querySelector("[data-do=borderline]")?.setAttribute("aria-pressed", String(state.borderline));
    const clear = extra.querySelector("[data-do=clear]");
    if (clear) clear.hidden = !state.outcome;
  }

  let picked = null;
  function marks() {
    const spans = picked ? [{ ...picked, kind: "pick" }] : [];
    for (const one of reading.all()) {
      if (one.dataset.evidence === "[]") continue;
      for (const span of JSON.parse(one.dataset.evidence)) {
        spans.push({ ...span, label: one.dataset.number, kind: one === current() ? "current" : "other" });
      }
    }
    reading.paint(spans);
  }
  document.addEventListener("consilium:criterion", () => {
    if (writable() && current()) showExtra(current());
    marks();
  });
  document.addEventListener("consilium:pick", (event) => {
    picked = event.detail;
    marks();
  });

  /* Order: by axis, or as the rubric has it */
  function order(byAxis) {
    const list = reading.list;
    const rows = reading.all().sort((one, other) => Number(one.dataset.number) - Number(other.dataset.number));
    const axes = [...new Set(rows.map((one) => one.dataset.axis))];
    const button = document.getElementById("by-axis");
    button.hidden = axes.length < 2;
    byAxis = byAxis && axes.length > 1;
    button.setAttribute("aria-pressed", String(byAxis));
    list.querySelectorAll("li.axis").forEach((head) => {
      head.remove();
    });
    if (!byAxis) {
      list.append(...rows);
      return;
    }
    for (const axis of axes) {
      const head = document.createElement("li");
      head.className = "axis";
      head.dataset.axisHead = axis;
      head.textContent = axis || text("other");
      list.append(head, ...rows.filter((one) => one.dataset.axis === axis));
    }
  }
  const wantsAxis = () => {
    try {
      return localStorage.getItem(orderKey) === "axis";
    } catch {
      return false;
    }
  };
  function changeOrder() {
    const byAxis = document.getElementById("by-axis").getAttribute("aria-pressed") !== "true";
    try {
      localStorage.setItem(orderKey, byAxis ? "axis" : "rubric");
    } catch {
      // It holds for this response.
    }
    order(byAxis);
    reading.applyFilter();
    select(current());
  }
  document.addEventListener("click", (event) => event.target.closest("#by-axis") && changeOrder());

  /* A new sheet: nothing is picked, the order is the remembered one, and what has more to show shows it. */
  function renew() {
    picked = null;
    order(wantsAxis());
    for (const one of reading.all()) if (one.dataset.note || one.dataset.evidence !== "[]") showExtra(one);
  }
  window.consilium.rows = { stateOf, same, show, extraOf, showExtra, marks, changeOrder, renew };
})();
