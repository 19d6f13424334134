/* What comes into a rubric from elsewhere: criteria of the bank, and tables that are pasted or read from a file. */
(() => {
  "use strict";
  const rubric = window.consilium?.rubric;
  const model = window.consilium?.rubricModel;
  if (!rubric) return;
  const editor = document.getElementById("editor");
  const words = document.getElementById("words").dataset;
  const headers = () => ({
    "X-CSRFToken": JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"],
    "HX-Request": "true",
  });
  const PLACE = /\[[^[\]]+\]|【[^【】]+】/;

  function soon(work, wait) {
    let timer = null;
    return () => {
      clearTimeout(timer);
      timer = setTimeout(work, wait);
    };
  }

  /* The bank */
  const bank = document.getElementById("bank");
  const query = document.getElementById("bank-q");
  const found = document.getElementById("bank-found");
  let asked = 0;
  async function search() {
    asked += 1;
    const number = asked;
    const address = `${editor.dataset.bankUrl}?${new URLSearchParams({ q: query.value, case: editor.dataset.case })}`;
    try {
      const answer = await fetch(address, { credentials: "same-origin", headers: headers() });
      if (number !== asked) return;
      if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      if (!answer.ok) throw new Error(String(answer.status));
      found.innerHTML = await answer.text();
    } catch {
      if (number === asked) found.textContent = words.unread;
    }
  }
  function openBank() {
    bank.showModal();
    query.select();
    if (!found.childElementCount) found.textContent = words.searching;
    search();
  }
  query.addEventListener("input", soon(search, 200));
  document.getElementById("bank-form").addEventListener("submit", (event) => {
    event.preventDefault();
    found.querySelector("[data-item]")?.click();
  });
  found.addEventListener("click", (event) => {
    const button = event.target.closest("[data-item]");
    if (!button) return;
    const { text, points, tags, bank: from } = JSON.parse(button.dataset.item);
    const item = model.newItem({ text, points, tags: [...tags], bank: from });
    bank.close();
    insert([item], rubric.lastId());
    const place = PLACE.exec(text);
    rubric.focus(item.id, "text", text.length);
    if (place)
      document
        .querySelector(`#item-${CSS.escape(item.id)} textarea`)
        .setSelectionRange(place.index, place.index + place[0].length);
  });
  /* Below the row `id`, or in its place if nothing is written there. */
  function insert(fresh, id) {
    rubric.act(() => {
      const items = rubric.items();
      const at = rubric.placeOf(id);
      const empty = at >= 0 && !items[at].text.trim() && !items[at].points;
      items.splice(at < 0 ? items.length : at + (empty ? 0 : 1), empty ? 1 : 0, ...fresh);
    });
  }

  /* Paste many */
  const dialog = document.getElementById("paste");
  const text = document.getElementById("paste-text");
  const file = document.getElementById("paste-file");
  const preview = document.getElementById("paste-preview");
  const take = document.getElementById("paste-insert");
  const asText = document.getElementById("paste-as-text");
  const COLUMNS = ["", "position", "criterion", "points", "tags", "source", "element", "expectation", "bank"];
  const SHOWN = 12;
  let read = null; // what the server understood
  let target = null; // the text into which was pasted
  let pasted = 0;
  let givenText = "";

  function openPaste(given = "", into = null) {
    target = into ? { area: into, start: into.selectionStart, end: into.selectionEnd } : null;
    text.value = given;
    givenText = text.value;
    file.value = "";
    asText.hidden = !into;
    document.getElementById("paste-replace-label").hidden = rubric.items().length === 0;
    document.getElementById("paste-replace").checked = false;
    dialog.showModal();
    text.focus();
    show(null);
    if (given) understand();
  }
  async function understand(columns) {
    pasted += 1;
    const number = pasted;
    const body = new FormData();
    if (file.files.length) body.append("file", file.files[0]);
    else if (text.value.trim()) body.append("text", text.value);
    else return show(null);
    if (columns) body.append("columns", columns.join(","));
    try {
      const answer = await fetch(editor.dataset.pasteUrl, {
        method: "POST",
        credentials: "same-origin",
        headers: headers(),
        body,
      });
      if (number !== pasted) return;
      if (answer.status === 401) document.dispatchEvent(new CustomEvent("consilium:signed-out"));
      if (!answer.ok) throw new Error(String(answer.status));
      show(await answer.json());
      // What was pasted is understood: Enter takes it.
      if (target && !take.disabled && document.activeElement === text && text.value === givenText) take.focus();
    } catch {
      if (number === pasted) {
        show(null);
        preview.textContent = words.unread;
      }
    }
  }
  function element(name, content, className = "") {
    const node = document.createElement(name);
    if (className) node.className = className;
    if (content !== undefined) node.textContent = content;
    return node;
  }
  function show(told) {
    read = told;
    take.disabled = !told?.rows.length || told.fault_total > 0;
    preview.replaceChildren();
    if (!told) return;
    preview.append(columnChoice(told));
    if (told.fault_total) {
      const list = element("ul", undefined, "paste-faults");
      for (const fault of told.faults) {
        const place = fault.line ? words.line.replace("NUMBER", fault.line) : "";
        const column = words[`${fault.field}Column`] ?? fault.field;
        list.append(
          element("li", `${[place, column].filter(Boolean).join(", ")}: ${fault.message}`.replace(/^: /, "")),
        );
      }
      preview.append(list);
    }
    const table = element("table", undefined, "data compact");
    const body = element("tbody");
    for (const row of told.rows.slice(0, SHOWN)) {
      const line = element("tr");
      line.append(
        element("td", row.text),
        element("td", row.points ? String(row.points) : "·", "num"),
        element("td", [...row.tags, row.source, row.element, row.expectation].filter(Boolean).join(" · "), "muted"),
      );
      body.append(line);
    }
    table.append(body);
    if (told.rows.length) preview.append(table);
    if (told.rows.length > SHOWN)
      preview.append(element("p", words.moreMissing.replace("NUMBER", told.rows.length - SHOWN), "muted"));
  }
  /* What each column was taken for, to be changed where the guess is wrong. */
  function columnChoice(told) {
    const box = element("div", undefined, "columns-guessed");
    if (told.columns.length < 2) return box;
    told.columns.forEach((column, place) => {
      const select = element("select");
      select.setAttribute("aria-label", `${place + 1}`);
      for (const name of COLUMNS) {
        const option = element("option", name ? words[`${name}Column`] : words.skip);
        option.value = name;
        option.selected = name === column;
        select.append(option);
      }
      select.addEventListener("change", () => understand([...box.querySelectorAll("select")].map((one) => one.value)));
      box.append(select);
    });
    return box;
  }
  take.addEventListener("click", () => {
    if (!read) return;
    const fresh = read.rows.map(({ line, ...fields }) => model.newItem(fields));
    dialog.close();
    if (document.getElementById("paste-replace").checked) {
      rubric.act(() => {
        const items = rubric.items();
        // A criterion whose text stands stays the same one.
        const standing = model.copy(items);
        const kept = fresh.map((item) => {
          const place = standing.findIndex((one) => one.text.trim() === item.text);
          if (place < 0) return item;
          const [old] = standing.splice(place, 1);
          return { ...item, id: old.id, text: old.text, criterion: old.criterion };
        });
        items.splice(0, items.length, ...kept);
      });
    } else insert(fresh, target ? target.area.closest(".item").dataset.id : (rubric.items().at(-1)?.id ?? ""));
    window.consilium.toast(words.inserted.replace("NUMBER", fresh.length));
    rubric.focus(rubric.find(fresh[0].id) ? fresh[0].id : rubric.items()[0].id);
  });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) take.click();
  });
  asText.addEventListener("click", () => {
    dialog.close();
    target.area.focus();
    target.area.setRangeText(text.value, target.start, target.end, "end");
    target.area.dispatchEvent(new Event("input", { bubbles: true }));
  });
  text.addEventListener("input", () => {
    file.value = "";
    understandSoon();
  });
  const understandSoon = soon(understand, 300);
  file.addEventListener("change", () => understand());
  document.addEventListener("paste", (event) => {
    const into = event.target.closest?.("textarea, input");
    if (document.querySelector("dialog[open]") || (into && into.dataset.field !== "text")) return;
    const given = event.clipboardData?.getData("text/plain") ?? "";
    const lines = given.split("\n").filter((line) => line.trim());
    if (lines.length < 2 && !given.includes("\t")) return;
    event.preventDefault();
    openPaste(given, into);
  });
  document.addEventListener("click", (event) => {
    const name = event.target.closest("[data-open]")?.dataset.open;
    if (name === "bank") openBank();
    else if (name === "paste") openPaste();
  });
  window.consilium.rubricInsert = { openBank, openPaste };
})();
