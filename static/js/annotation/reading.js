/* What the grading, checking and adjudication pages share: moving through the criteria, single keys, evidence in the
   text. */
(() => {
  "use strict";
  if (!document.getElementById("work")) return;
  // Looked up anew each time: the grading page swaps the whole sheet for the next response.
  const page = () => document.getElementById("work");
  const list = () => document.getElementById("criteria");
  const response = () => document.getElementById("response");

  /* Criteria */
  const all = () => Array.from(list().querySelectorAll("[data-row]"));
  const shown = () => all().filter((row) => !row.hidden);
  const row = (id) => document.getElementById(`criterion-${id}`);
  let currentId = null;
  const current = () => (currentId === null ? null : row(currentId));
  /* The current row unless a filter hides it: keys change nothing that is out of sight. */
  const inSight = () => (current()?.hidden ? null : current());

  function select(target, { focus = true } = {}) {
    if (!target) return;
    all().forEach((one) => {
      one.classList.toggle("current", one === target);
      if (one === target) one.setAttribute("aria-current", "true");
      else one.removeAttribute("aria-current");
      one.tabIndex = one === target ? 0 : -1;
    });
    const changed = currentId !== target.dataset.row;
    currentId = target.dataset.row;
    if (focus) target.focus({ preventScroll: true });
    reveal(target);
    if (changed) document.dispatchEvent(new CustomEvent("consilium:criterion", { detail: { id: currentId } }));
  }
  function reveal(target) {
    const pane = target.closest(".pane");
    const bar = pane.querySelector(".pane-bar")?.offsetHeight ?? 0;
    if (getComputedStyle(pane).overflowY === "visible") {
      target.scrollIntoView({ block: "nearest" });
      return;
    }
    const box = target.getBoundingClientRect();
    const frame = pane.getBoundingClientRect();
    const room = 72; // the neighbours stay in sight
    if (box.top < frame.top + bar + room) pane.scrollTop -= frame.top + bar + room - box.top;
    else if (box.bottom > frame.bottom - room)
      pane.scrollTop += Math.min(box.bottom - frame.bottom + room, box.top - frame.top - bar - room);
  }
  function move(step) {
    const rows = shown();
    if (!rows.length) return;
    const at = rows.indexOf(current());
    select(at < 0 ? rows[0] : rows[Math.max(0, Math.min(rows.length - 1, at + step))]);
  }
  /* The next row after the current one for which wanted(row); then from the top; null if there is none. */
  function following(wanted) {
    const rows = shown();
    const at = rows.indexOf(current());
    return [...rows.slice(at + 1), ...rows.slice(0, at + 1)].find(wanted) ?? null;
  }
  document.addEventListener("click", (event) => {
    const target = event.target.closest("#criteria [data-row]");
    if (target) select(target, { focus: !event.target.closest("button, textarea, input, a") });
  });
  /* Between pressing a button and letting it go nothing may move, or the click would hit something else and be lost:
     what folds and unfolds rows waits until the button is up. */
  let pressed = false;
  let held = [];
  function release() {
    pressed = false;
    const waiting = held;
    held = [];
    waiting.forEach((work) => {
      work();
    });
  }
  document.addEventListener("pointerdown", () => (pressed = true), true);
  for (const name of ["pointerup", "pointercancel", "dragend"])
    document.addEventListener(name, () => pressed && setTimeout(release), true);
  // A button that went up outside the window is not heard of; whoever types has let it go.
  document.addEventListener("keydown", () => pressed && release(), true);
  window.addEventListener("blur", () => pressed && release());
  const afterPress = (work) => (pressed ? held.push(work) : work());
  document.addEventListener("focusin", (event) => {
    const target = event.target.closest("#criteria [data-row]");
    // A press that becomes a click selects by itself.
    if (target && target.dataset.row !== currentId && !pressed) select(target, { focus: false });
  });
  /* htmx replaces rows: the new one takes over what the old one was. */
  document.addEventListener("htmx:afterSettle", () => {
    const target = current();
    if (target && !target.classList.contains("current")) {
      const lost = document.activeElement === document.body;
      select(target, { focus: lost });
    }
  });

  /* Keys */
  const keys = new Map();
  function on(names, action) {
    names.forEach((name) => {
      keys.set(name, action);
    });
  }
  function keyName(event) {
    let key = event.key;
    // With a Chinese or Cyrillic layout the letter is elsewhere; the place on the keyboard is not.
    if (!/^[\x20-\x7e]$/.test(key) && /^Key[A-Z]$/.test(event.code)) key = event.code.slice(3);
    const letter = /^[a-z]$/i.test(key);
    if (letter) key = key.toLowerCase();
    const alt = event.altKey || event.getModifierState?.("AltGraph");
    const ctrl = event.ctrlKey || event.metaKey;
    const shift = letter && event.shiftKey;
    return `${ctrl ? "ctrl+" : ""}${alt ? "alt+" : ""}${shift ? "shift+" : ""}${key}`;
  }
  function typing(target) {
    return (
      target instanceof HTMLElement &&
      (target.isContentEditable ||
        target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])"))
    );
  }
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || event.keyCode === 229) return;
    if (document.querySelector("dialog[open]")) return;
    const name = keyName(event);
    if (typing(event.target)) return;
    if (picking && pickerKey(name, event)) return;
    // Enter and space belong to the button that has the focus.
    const action = keys.get(name);
    if (!action) return;
    if (event.repeat && !["j", "k", "ArrowDown", "ArrowUp"].includes(name)) {
      event.preventDefault();
      return;
    }
    event.preventDefault();
    action(event);
  });
  on(["j", "ArrowDown"], () => move(1));
  on(["k", "ArrowUp"], () => move(-1));
  on(["Home"], () => select(shown()[0]));
  on(["End"], () => select(shown().at(-1)));
  on(["?"], () => document.getElementById("keys")?.showModal());
  on(["g"], () => document.getElementById("guidelines")?.showModal());

  /* Places in the text: code points of the stored response, which every piece carries the start of */
  const pieces = () => Array.from(response().querySelectorAll("[data-s]"));
  const points = (text) => Array.from(text).length;
  function place(piece, node, offset) {
    // Code points of the piece before (node, offset).
    const before = document.createRange();
    before.selectNodeContents(piece);
    before.setEnd(node, offset);
    return points(before.toString());
  }
  /* The selection as {start, end}, or null where it holds nothing of the response. */
  function selected() {
    const selection = document.getSelection();
    if (!selection.rangeCount || selection.isCollapsed) return null;
    const range = selection.getRangeAt(0);
    let span = null;
    for (const piece of pieces()) {
      if (!range.intersectsNode(piece)) continue;
      const text = Array.from(piece.textContent);
      let from = piece.contains(range.startContainer) ? place(piece, range.startContainer, range.startOffset) : 0;
      let to = piece.contains(range.endContainer) ? place(piece, range.endContainer, range.endOffset) : text.length;
      while (from < to && /\s/u.test(text[from])) from += 1;
      while (to > from && /\s/u.test(text[to - 1])) to -= 1;
      if (from >= to) continue;
      const start = Number(piece.dataset.s);
      span = { start: span ? span.start : start + from, end: start + to };
    }
    return span;
  }
  /* Draw marks: spans are {start, end, label, kind}; kind "current", "other" or "pick". */
  function paint(spans) {
    for (const piece of pieces()) {
      const text = Array.from(piece.textContent);
      const start = Number(piece.dataset.s);
      const end = start + text.length;
      const here = spans.filter((span) => span.start < end && span.end > start);
      if (!here.length && !piece.firstElementChild) continue;
      const cuts = [...new Set([start, end, ...here.flatMap((span) => [span.start, span.end])])]
        .filter((cut) => cut >= start && cut <= end)
        .sort((a, b) => a - b);
      const parts = [];
      for (let at = 0; at + 1 < cuts.length; at += 1) {
        const words = text.slice(cuts[at] - start, cuts[at + 1] - start).join("");
        const over = here.filter((span) => span.start <= cuts[at] && span.end >= cuts[at + 1]);
        if (!over.length) {
          parts.push(document.createTextNode(words));
          continue;
        }
        const mark = document.createElement("mark");
        mark.textContent = words;
        mark.className = ["pick", "current"].find((kind) => over.some((span) => span.kind === kind)) ?? "other";
        const labels = over.filter((span) => span.end === cuts[at + 1] && span.label).map((span) => span.label);
        if (labels.length) mark.dataset.label = [...new Set(labels)].join(", ");
        parts.push(mark);
      }
      piece.replaceChildren(...parts);
    }
  }

  /* Picking a sentence without a mouse */
  let picking = null;
  function sentences() {
    const found = [];
    for (const line of response().querySelectorAll("[data-line]")) {
      let start = null;
      let end = null;
      const close = () => {
        if (start !== null && end > start) found.push({ start, end });
        start = null;
      };
      for (const piece of line.querySelectorAll("[data-s]")) {
        Array.from(piece.textContent).forEach((character, at, text) => {
          const spot = Number(piece.dataset.s) + at;
          if (start === null && /\s/u.test(character)) return;
          if (start === null) start = spot;
          if (!/\s/u.test(character)) end = spot + 1;
          if (/[。！？；]/u.test(character) || (/[.!?;]/.test(character) && /^\s?$/u.test(text[at + 1] ?? ""))) close();
        });
      }
      close();
    }
    return found;
  }
  function pick(done) {
    const choices = sentences();
    if (!choices.length) return;
    picking = { choices, from: 0, to: 0, done };
    drawPick();
  }
  function drawPick() {
    const { choices, from, to } = picking;
    document.dispatchEvent(
      new CustomEvent("consilium:pick", { detail: { start: choices[from].start, end: choices[to].end } }),
    );
    response().querySelector("mark.pick")?.scrollIntoView({ block: "nearest" });
  }
  function endPick() {
    picking = null;
    document.dispatchEvent(new CustomEvent("consilium:pick", { detail: null }));
  }
  function pickerKey(name, event) {
    const last = picking.choices.length - 1;
    if (name === "ArrowRight" || name === "ArrowDown") {
      picking.to = Math.min(last, picking.to + 1);
      if (!event.shiftKey) picking.from = picking.to;
    } else if (name === "ArrowLeft" || name === "ArrowUp") {
      picking.to = Math.max(event.shiftKey ? picking.from : 0, picking.to - 1);
      if (!event.shiftKey) picking.from = picking.to;
    } else if (name === "Enter" || name === "e") {
      const { choices, from, to, done } = picking;
      endPick();
      done({ start: choices[from].start, end: choices[to].end });
      event.preventDefault();
      return true;
    } else if (name === "Escape") {
      endPick();
      event.preventDefault();
      return true;
    } else {
      if (name !== "Shift") endPick();
      return false;
    }
    event.preventDefault();
    drawPick();
    return true;
  }

  /* Filters */
  const filters = { all: () => true };
  let filter = "all";
  function applyFilter(name = filter) {
    filter = name;
    const rows = all();
    rows.forEach((one) => {
      one.hidden = !filters[filter](one);
    });
    document.querySelectorAll("[data-filter]").forEach((button) => {
      button.setAttribute("aria-pressed", String(button.dataset.filter === filter));
    });
    document.querySelectorAll("[data-count]").forEach((count) => {
      count.textContent = rows.filter(filters[count.dataset.count]).length;
    });
    const none = document.getElementById("none-shown");
    if (none) none.hidden = rows.some((one) => !one.hidden);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-filter]");
    const jump = event.target.closest("[data-jump]");
    if (button) {
      applyFilter(button.dataset.filter);
      if (!shown().includes(current())) select(shown()[0], { focus: false });
    } else if (jump) {
      event.preventDefault();
      applyFilter("all");
      select(row(jump.dataset.jump));
    }
  });

  /* A new sheet: nothing of the old one holds. */
  function renew() {
    currentId = null;
    picking = null;
    filter = "all";
  }
  /* The words of a passage as they are read, without the marks of the markup. */
  function quote({ start, end }) {
    return pieces()
      .map((piece) =>
        Array.from(piece.textContent)
          .slice(Math.max(0, start - Number(piece.dataset.s)), Math.max(0, end - Number(piece.dataset.s)))
          .join(""),
      )
      .filter(Boolean)
      .join(" ")
      .replace(/\s+/g, " ");
  }

  function text(name) {
    const key = `text${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    return document.getElementById("words")?.dataset[key] ?? page().dataset[key] ?? "";
  }
  window.consilium.reading = {
    afterPress,
    endPress: release,
    get page() {
      return page();
    },
    get list() {
      return list();
    },
    get filter() {
      return filter;
    },
    renew,
    quote,
    all,
    shown,
    row,
    current,
    inSight,
    select,
    move,
    following,
    on,
    typing,
    selected,
    paint,
    pick,
    filters,
    applyFilter,
    text,
  };
})();
