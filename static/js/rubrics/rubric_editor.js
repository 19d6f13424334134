/* The rubric editor: what can be done with the list, menus, sums and lint. rubric_model.js knows lists,
   rubric_saving.js the server, rubric_rows.js the rows, rubric_keys.js keys and dragging, rubric_conflict.js asks what
   both changed, rubric_insert.js brings in the bank and what is pasted, rubric_history.js takes back. */
(() => {
  "use strict";
  const model = window.consilium?.rubricModel;
  const rows = window.consilium?.rubricRows;
  if (!model || !rows || !window.consilium.rubricSaving) return;
  const { list, row, field, idOf, AXIS } = rows;
  const editor = document.getElementById("editor");
  const words = document.getElementById("words").dataset;
  const start = JSON.parse(document.getElementById("start").textContent);
  const LINT_MS = 1100;
  const MOST_MISSING = 6;
  const FEW = 12; // so long the ideas stay open by themselves

  let items = model.copy(start.items);
  let remarks = new Map();
  let missingNow = start.missing;
  let lastId = ""; // the row in which the cursor was last
  const toast = (text, level) => window.consilium.toast(text, level);
  const announce = (text) => (document.getElementById("announce").textContent = text);
  const find = (id) => items.find((item) => item.id === id);
  const placeOf = (id) => items.findIndex((item) => item.id === id);

  /* Small things of this browser: what is folded, whether advice is hidden. */
  function remembered(name, fallback) {
    try {
      return localStorage.getItem(`consilium.rubric-${name}`) ?? fallback;
    } catch {
      return fallback;
    }
  }
  function remember(name, value) {
    try {
      localStorage.setItem(`consilium.rubric-${name}`, value);
    } catch {
      // Then it holds for this page.
    }
  }

  /* Showing */
  function render() {
    rows.show(items);
    for (const item of items) showRemarks(item);
    totals();
    const empty = items.length === 0;
    document.getElementById("first").hidden = !empty;
    document.getElementById("add-row").hidden = empty;
    document.getElementById("ideas").hidden = items.length > 3 * FEW;
  }
  function showRemarks(item) {
    const said = [];
    if (start.comments[item.id]) said.push({ kind: "said", label: words.reviewer, text: start.comments[item.id] });
    for (const reason of start.evidence[item.criterion] ?? [])
      said.push({ kind: "said", label: words.faulty, text: reason });
    if (!item.points && item.text.trim() && lastId !== item.id)
      said.push({ kind: "problem", label: "", text: words.needs });
    rows.remarks(row(item.id), remarks.get(item.id) ?? [], said, (id) =>
      placeOf(id) < 0 ? "" : String(placeOf(id) + 1),
    );
  }
  function totals() {
    const written = items.filter((item) => item.text.trim());
    const bar = document.getElementById("target");
    document.getElementById("count").textContent = String(written.length);
    bar.value = Math.min(written.length, bar.max);
    const sum = (some) => some.reduce((total, item) => total + item.points, 0);
    const gain = sum(written.filter((item) => item.points > 0));
    const lose = -sum(written.filter((item) => item.points < 0));
    const parts = gain ? [words.gain.replace("NUMBER", `+${gain}`)] : [];
    if (lose) parts.push(words.lose.replace("NUMBER", `−${lose}`));
    document.getElementById("sums").textContent = parts.join(" · ");
    const axes = new Map();
    for (const item of written) {
      const own = item.tags.filter((tag) => tag.startsWith(AXIS)).map((tag) => tag.slice(AXIS.length));
      for (const axis of own.length ? own : [words.none]) axes.set(axis, (axes.get(axis) ?? 0) + 1);
    }
    const line = document.getElementById("axes-line");
    line.hidden = axes.size < 2;
    line.textContent = [...axes]
      .sort((one, other) => other[1] - one[1])
      .map(([axis, count]) => `${axis.replaceAll("_", " ")} ${count}`)
      .join(" · ");
  }
  function missing(told) {
    missingNow = told;
    const box = document.getElementById("missing");
    box.hidden = told.length === 0 || items.length === 0;
    fillMissing(box.querySelector("ul"), told);
  }
  function fillMissing(target, told) {
    const lines = told.slice(0, MOST_MISSING).map((fault) => {
      const line = document.createElement("li");
      if (fault.line) {
        const go = document.createElement("button");
        go.type = "button";
        go.className = "plain small";
        go.dataset.goto = items[fault.line - 1]?.id ?? "";
        go.dataset.gotoField = fault.field === "points" ? "points" : "text";
        go.textContent = words.criterion.replace("NUMBER", fault.line);
        line.append(go, ` ${fault.message}`);
      } else line.textContent = fault.message;
      return line;
    });
    if (told.length > MOST_MISSING) {
      const rest = document.createElement("li");
      rest.className = "muted";
      rest.textContent = words.moreMissing.replace("NUMBER", told.length - MOST_MISSING);
      lines.push(rest);
    }
    target.replaceChildren(...lines);
  }
  function focus(id, name = "text", at = null) {
    const node = row(id);
    if (!node) return;
    if (["source", "element", "expectation", "tag"].includes(name)) more(node, true);
    const input = field(node, name);
    input.focus();
    if (at !== null) input.setSelectionRange(at, at);
    else if (name === "points") input.select();
    node.scrollIntoView({ block: "nearest" });
  }

  /* Changing */
  const saving = window.consilium.rubricSaving({
    start,
    words,
    toast,
    missing,
    items: () => items,
    show: (told) => {
      items = model.copy(told);
      render();
      past.others();
      lintSoon();
    },
    finish: () => {
      const input = document.activeElement;
      if (input.dataset?.field === "tag" && find(idOf(input))) takeTag(input, find(idOf(input)));
    },
    ask: window.consilium.rubricConflict,
  });
  function changed() {
    saving.changed();
    lintSoon();
  }
  /* Where the cursor is, if it is in the list. */
  function caret() {
    const input = document.activeElement;
    const id = idOf(input);
    return id && input.dataset.field ? { id, name: input.dataset.field, at: input.selectionStart } : null;
  }
  const past = window.consilium.rubricHistory({
    items: () => items,
    caret,
    take: (list) => {
      items = list;
      render();
      changed();
      announce(words.undone);
    },
    go: (at) => {
      if (at && find(at.id)) focus(at.id, at.name, at.name === "points" ? null : at.at);
      else if (!list.contains(document.activeElement)) focus(find(lastId) ? lastId : items.at(-1)?.id);
    },
  });
  /* An action on the list; one key takes it back. */
  function act(change) {
    const from = caret();
    change();
    render();
    past.note(from);
    changed();
  }
  function undo() {
    if (!past.undo()) toast(words.nothing);
  }
  const redo = () => past.redo();
  /* A new criterion below `id`; at the end without one. */
  function add(id, fields = {}) {
    const item = model.newItem(fields);
    const place = placeOf(id);
    lastId = item.id;
    act(() => items.splice(place < 0 ? items.length : place + 1, 0, item));
    focus(item.id, "text", item.text.length);
    if (items.length === 2) foldGuide();
    return item;
  }
  /* Who has begun a second criterion has read what makes a good one. */
  function foldGuide() {
    const guide = document.getElementById("guide");
    if (!guide.open) return;
    guide.open = false;
    remember("guide", "folded");
    row(lastId)?.scrollIntoView({ block: "nearest" });
  }
  function split(id, at) {
    const item = find(id);
    const [left, right] = model.cut(item.text, at);
    const fix = (remarks.get(id) ?? []).find((remark) => remark.rule === "compound" && remark.fix);
    if (!left || !right) return fix ? replaceBy(id, fix.fix.texts) : toast(words.cut);
    return replaceBy(id, [left, right]);
  }
  function replaceBy(id, texts) {
    const place = placeOf(id);
    const { criterion, ...rest } = items[place];
    const others = texts
      .slice(1)
      .map((text) => model.newItem({ ...rest, id: model.newId(), tags: [...rest.tags], criterion: null, text }));
    act(() => items.splice(place, 1, { ...items[place], text: texts[0] }, ...others));
    focus(others.at(-1)?.id ?? id, "text", others.length ? 0 : texts[0].length);
  }
  function merge(first, second) {
    const [one, other] = [find(first), find(second)];
    if (!one || !other) return toast(words.last);
    const made = model.joined(one, other);
    const at = made.text.length - other.text.length;
    act(() => {
      items[placeOf(first)] = made;
      items.splice(placeOf(second), 1);
    });
    focus(first, "text", at);
  }
  function duplicate(id) {
    const item = { ...find(id), id: model.newId(), criterion: null };
    item.tags = [...item.tags];
    act(() => items.splice(placeOf(id) + 1, 0, item));
    focus(item.id, "text", item.text.length);
  }
  function move(id, to, name = "text") {
    const from = placeOf(id);
    if (to < 0 || to >= items.length || from === to) return;
    act(() => items.splice(to, 0, ...items.splice(from, 1)));
    focus(id, name, name === "text" ? field(row(id), "text").selectionStart : null);
    announce(words.moved.replace("NUMBER", to + 1));
  }
  function remove(id) {
    const place = placeOf(id);
    const empty = !items[place].text.trim();
    const next = items[place + 1] ?? items[place - 1];
    act(() => items.splice(place, 1));
    if (next) focus(next.id);
    if (!empty) offerUndo(words.deleted.replace("NUMBER", place + 1));
  }
  function offerUndo(text) {
    toast(text);
    const item = document.querySelector(".toasts .toast:last-of-type");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "toast-undo";
    button.textContent = words.undo;
    button.addEventListener("click", () => {
      item.remove();
      undo();
    });
    item?.querySelector("p").append(" ", button);
  }
  function step(id, by) {
    const item = find(id);
    const { lowest, highest, only_positive: onlyPositive } = start.rules;
    let points = item.points + by;
    if (points === 0) points += by;
    points = Math.max(onlyPositive ? 1 : lowest, Math.min(highest, points));
    if (points === 0 || points === item.points) return;
    setPoints(id, points);
  }
  function setPoints(id, points) {
    const from = caret();
    find(id).points = points;
    const input = field(row(id), "points");
    input.value = points ? String(points) : "";
    if (document.activeElement === input) input.select();
    edited(id);
    past.note(from, `${id} points `, true);
  }
  function edited(id) {
    rows.show(items);
    totals();
    lastId = id;
    changed();
  }
  function setAxis(item, axis) {
    const tag = axis.trim() ? AXIS + axis.trim() : "";
    const place = item.tags.findIndex((one) => one.startsWith(AXIS));
    if (place >= 0) item.tags.splice(place, 1, ...(tag ? [tag] : []));
    else if (tag) item.tags.unshift(tag);
    item.tags = [...new Set(item.tags)];
  }
  function more(node, open) {
    const button = node.querySelector('[data-do="more"]');
    const box = node.querySelector("[data-more]");
    box.hidden = open === undefined ? !box.hidden : !open;
    button.setAttribute("aria-expanded", String(!box.hidden));
  }

  /* Typing */
  list.addEventListener("beforeinput", (event) => {
    if (event.inputType.startsWith("history")) {
      // The menu of the browser; its own steps know nothing of the list.
      event.preventDefault();
      if (event.inputType === "historyUndo") undo();
      else redo();
    } else if (!event.isComposing) past.begin(event.target);
  });
  list.addEventListener("compositionstart", (event) => past.begin(event.target));
  list.addEventListener("input", (event) => {
    const name = event.target.dataset.field;
    const item = find(idOf(event.target));
    if (!item || !name || name === "tag") return;
    // A word that is still being composed is saved as it stands, and is one step once it is chosen.
    const kind = event.isComposing ? "composing" : (event.inputType ?? "");
    take(event.target, item, name, kind, event.data);
  });
  list.addEventListener("compositionend", (event) => {
    const name = event.target.dataset.field;
    const item = find(idOf(event.target));
    if (item && name && name !== "tag") take(event.target, item, name, "insertCompositionText", event.data);
  });
  function take(input, item, name, kind, data) {
    const composing = kind === "composing";
    if (name === "text") {
      rows.grow(input);
      // Chinese input methods make this of the key that opens the bank; no criterion begins so.
      if (!composing && ["、", "／", "/"].includes(input.value) && !item.text.replace(/[、／/]/, "")) {
        input.value = item.text = "";
        edited(item.id);
        return void window.consilium.rubricInsert?.openBank();
      }
    }
    if (name === "points") {
      if (!composing) takePoints(input, item);
    } else if (name === "axis") setAxis(item, input.value);
    else item[name] = input.value;
    edited(item.id);
    if (!composing) past.typed(item.id, name, kind, data);
  }
  /* Digits of any width; of one too many, the last counts: whoever types 8 behind a 5 means 8. */
  function takePoints(input, item) {
    const typed = input.value.normalize("NFKC").replace(/[−–—]/g, "-");
    if (typed.includes("+")) {
      input.value = item.points ? String(item.points) : "";
      return typed === "+" || item.points ? step(item.id, 1) : undefined;
    }
    const text = typed.replace(/[^\d-]/g, "").replace(/(?!^)-/g, "");
    let points = /^-?\d+$/.test(text) ? Number(text) || 0 : 0;
    if (Math.abs(points) > 10) points = (Number(text.at(-1)) || 10) * Math.sign(points);
    const shown = /\d/.test(text) ? (points ? String(points) : "") : text;
    if (shown !== input.value) input.value = shown;
    item.points = points;
  }
  list.addEventListener("focusin", (event) => {
    const before = find(lastId);
    lastId = idOf(event.target) || lastId;
    if (before && before.id !== lastId) showRemarks(before);
    if (event.target.dataset.field === "points") event.target.select();
    if (["axis", "tag"].includes(event.target.dataset.field)) suggest();
    // Many criteria of a rubric rest on the same guideline.
    if (event.target.dataset.field === "source")
      offer("sources", new Set(items.map((item) => item.source).filter(Boolean)));
  });
  // Tab completes an axis as Enter does.
  list.addEventListener("change", (event) => event.target.dataset.field === "axis" && complete(event.target));
  function complete(input) {
    const begun = input.value.trim().toLowerCase();
    const options = begun ? [...document.getElementById("axes").options] : [];
    if (options.some((one) => one.value.toLowerCase() === begun)) return;
    const option = options.find((one) => one.value.toLowerCase().startsWith(begun));
    const item = find(idOf(input));
    if (!option || !item) return;
    const from = caret();
    input.value = option.value;
    setAxis(item, option.value);
    edited(item.id);
    past.note(from, `${item.id} axis `, true);
  }
  list.addEventListener("focusout", (event) => {
    const name = event.target.dataset.field;
    const item = find(idOf(event.target));
    if (item && name === "tag") takeTag(event.target, item);
    if (item && name === "points") event.target.value = item.points ? String(item.points) : "";
  });
  function takeTag(input, item) {
    const tags = input.value
      .split(/[;；]/)
      .map((tag) => tag.trim())
      .filter(Boolean);
    input.value = "";
    if (!tags.length) return;
    const from = caret();
    item.tags = [...new Set([...item.tags, ...tags])];
    edited(item.id);
    past.note(from);
  }
  /* Axes that every benchmark has are there at once; those that this one uses come with the first question. */
  function offer(name, values) {
    document.getElementById(name).replaceChildren(
      ...[...values].map((value) => {
        const option = document.createElement("option");
        option.value = value;
        return option;
      }),
    );
  }
  let suggested = null;
  function suggest() {
    suggested ??= fetch(editor.dataset.tagsUrl, { credentials: "same-origin", headers: { "HX-Request": "true" } })
      .then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status)))))
      .then((told) =>
        ["axes", "tags"].forEach((name) => {
          offer(name, told[name]);
        }),
      )
      .catch(() => (suggested = null));
  }

  function dropTag(id, tag) {
    const from = caret();
    find(id).tags = find(id).tags.filter((one) => one !== tag);
    edited(id);
    past.note(from);
  }

  /* Clicks */
  const actions = {
    add: () => add(items.at(-1)?.id),
    undo,
    redo,
    split: (id) => split(id, field(row(id), "text").selectionStart),
    merge: (id) => merge(id, items[placeOf(id) + 1]?.id),
    duplicate,
    up: (id) => move(id, placeOf(id) - 1),
    down: (id) => move(id, placeOf(id) + 1),
    delete: remove,
    more: (id) => {
      more(row(id));
      if (!row(id).querySelector("[data-more]").hidden) focus(id, "tag");
    },
  };
  document.addEventListener("click", (event) => {
    const target = event.target.closest("button, [data-span]");
    if (!target) return;
    const id = idOf(target);
    if (target.dataset.do && actions[target.dataset.do]) {
      const menu = target.closest("details[data-menu]");
      if (menu) menu.open = false;
      actions[target.dataset.do](id);
    } else if (target.dataset.step) step(id, Number(target.dataset.step));
    else if (target.dataset.removeTag) dropTag(id, target.dataset.removeTag);
    else if (target.dataset.fix) replaceBy(id, remarks.get(id)[Number(target.dataset.fix)].fix.texts);
    else if ("goto" in target.dataset) {
      target.closest("dialog")?.close();
      focus(target.dataset.goto, target.dataset.gotoField ?? "text");
    } else if (target.dataset.span) point(id, remarks.get(id)[Number(target.dataset.span)]);
    else if (target.dataset.stem) {
      const axis = target.dataset.axis;
      add(items.at(-1)?.id, {
        text: target.dataset.stem,
        points: inRange(Number(target.dataset.points)),
        tags: [AXIS + axis],
      });
    } else if ("showCase" in target.dataset) {
      const open = editor.classList.toggle("with-case");
      target.setAttribute("aria-expanded", String(open));
    }
  });
  function inRange(points) {
    return Math.max(start.rules.only_positive ? 1 : start.rules.lowest, Math.min(start.rules.highest, points)) || 1;
  }
  /* Select the words that a remark is about; its places count code points, the browser's UTF-16 units. */
  function point(id, remark) {
    const area = field(row(id), "text");
    const units = (count) => [...area.value].slice(0, count).join("").length;
    area.focus();
    area.setSelectionRange(units(remark.start), units(remark.end));
  }

  /* Lint */
  let lintTimer = null;
  let lintAsked = 0;
  function lintSoon(wait = LINT_MS) {
    clearTimeout(lintTimer);
    lintTimer = setTimeout(lint, wait);
  }
  async function lint() {
    if (!items.length || !navigator.onLine) return;
    lintAsked += 1;
    const asked = lintAsked;
    const token = JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];
    try {
      const answer = await fetch(editor.dataset.lintUrl, {
        method: "POST",
        credentials: "same-origin",
        headers: { "Content-Type": "application/json", "X-CSRFToken": token, "HX-Request": "true" },
        body: JSON.stringify({ items }),
      });
      if (!answer.ok || asked !== lintAsked) return;
      remarks = new Map();
      for (const remark of (await answer.json()).remarks)
        remarks.set(remark.item, [...(remarks.get(remark.item) ?? []), remark]);
      for (const item of items) showRemarks(item);
    } catch {
      // Advice can wait for the connection.
    }
  }
  const hide = document.getElementById("hide-advice");
  hide.checked = remembered("advice", "") === "hidden";
  list.classList.toggle("without-advice", hide.checked);
  hide.addEventListener("change", () => {
    remember("advice", hide.checked ? "hidden" : "");
    list.classList.toggle("without-advice", hide.checked);
  });

  /* Sending to review: what is on the page must be what is read. */
  const send = document.getElementById("send-form");
  document.getElementById("send").addEventListener("click", async () => {
    const written = items.filter((item) => !model.isBlank(item));
    if (written.length && written.length < items.length) act(() => (items = written)); // where Enter began one more
    await saving.save();
    const box = document.getElementById("send-missing");
    box.hidden = missingNow.length === 0;
    send.hidden = missingNow.length > 0;
    fillMissing(box.querySelector("ul"), missingNow);
    if (send.hidden) box.querySelector("button").focus();
  });
  send.addEventListener("submit", async (event) => {
    if (!saving.isDirty()) return;
    event.preventDefault();
    if (await saving.save()) send.submit();
    else toast(words.lost, "error");
  });

  for (const [name, fallback] of [
    ["guide", items.length ? "" : "open"],
    ["ideas", items.length <= FEW ? "open" : ""],
  ]) {
    const box = document.getElementById(name);
    box.open = remembered(name, fallback) === "open";
    box.querySelector("summary").addEventListener("click", () => remember(name, box.open ? "folded" : "open"));
  }
  window.consilium.rubric = {
    ...{ items: () => items, find, placeOf, lastId: () => lastId },
    ...{
      act,
      add,
      split,
      merge,
      duplicate,
      move,
      remove,
      undo,
      redo,
      focus,
      step,
      setPoints,
      complete,
      takeTag,
      dropTag,
    },
    save: () => saving.save(),
  };
  list.replaceChildren();
  offer("axes", start.axes);
  render();
  missing(start.missing);
  saving.pickUp();
  lintSoon(50);
  if (items.length === 0) document.querySelector("#first button").focus({ preventScroll: true });
  // Whoever comes to reword a faulty criterion sees it.
  const faulty = items.find((item) => start.evidence[item.criterion]);
  if (faulty) row(faulty.id).scrollIntoView({ block: "center" });
  editor.dataset.ready = "1";
})();
