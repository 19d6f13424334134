/* The rows of the rubric editor: made from a template, kept in step with the items, one node for each item for as long
   as it stands, so that the cursor stays where it is. */
(() => {
  "use strict";
  const list = document.getElementById("items");
  const template = document.getElementById("row");
  if (!list || !template) return;
  const words = document.getElementById("words").dataset;
  const AXIS = "axis:";

  const axisOf = (item) => item.tags.find((tag) => tag.startsWith(AXIS))?.slice(AXIS.length) ?? "";
  const row = (id) => document.getElementById(`item-${id}`);
  const field = (node, name) => node.querySelector(`[data-field="${name}"]`);
  const idOf = (node) => node?.closest(".item")?.dataset.id ?? "";

  function grow(area) {
    area.style.height = "auto";
    area.style.height = `${area.scrollHeight + 2}px`;
  }
  function put(input, text) {
    if (input.value === text) return;
    const at = document.activeElement === input ? input.selectionStart : null;
    input.value = text;
    if (at !== null) input.setSelectionRange(Math.min(at, text.length), Math.min(at, text.length));
  }
  function make(item) {
    const node = template.content.firstElementChild.cloneNode(true);
    node.id = `item-${item.id}`;
    node.dataset.id = item.id;
    node.querySelector("[data-remarks]").id = `remarks-${item.id}`;
    field(node, "text").setAttribute("aria-describedby", `remarks-${item.id}`);
    return node;
  }
  function chips(node, item) {
    const tags = item.tags.filter((tag) => tag !== AXIS + axisOf(item));
    const box = node.querySelector("[data-chips]");
    const shown = tags.join("\n");
    if (box.dataset.shown === shown) return;
    box.dataset.shown = shown;
    box.replaceChildren(
      ...tags.map((tag) => {
        const chip = document.createElement("span");
        chip.className = "tag";
        const name = document.createElement("span");
        name.textContent = tag.startsWith(AXIS) ? tag.slice(AXIS.length) : tag; // a second axis
        const remove = document.createElement("button");
        remove.type = "button";
        remove.dataset.removeTag = tag;
        remove.setAttribute("aria-label", words.remove.replace("TAG", tag));
        remove.textContent = "×";
        chip.append(name, remove);
        return chip;
      }),
    );
  }
  function fill(node, item, place) {
    const number = String(place + 1);
    const shown = node.querySelector(".n");
    if (shown.textContent !== number) {
      shown.textContent = number;
      const name = words.criterion.replace("NUMBER", number);
      node.setAttribute("aria-label", name);
      // Thirty fields of the same name say nothing to who hears them.
      for (const part of node.querySelectorAll("[data-field], summary, [data-do=more]")) {
        part.dataset.name ??=
          part.getAttribute("aria-label") ?? part.closest("label")?.textContent.trim() ?? part.textContent.trim();
        part.setAttribute("aria-label", part.dataset.field === "text" ? name : `${part.dataset.name}, ${name}`);
      }
    }
    const area = field(node, "text");
    if (area.value !== item.text) {
      put(area, item.text);
      if (node.isConnected) grow(area);
    }
    for (const name of ["source", "element", "expectation"]) put(field(node, name), item[name]);
    const axis = field(node, "axis");
    if (document.activeElement !== axis || axis.value.trim() !== axisOf(item)) put(axis, axisOf(item));
    const points = field(node, "points");
    // A minus that waits for its digits stays.
    const halfTyped =
      document.activeElement === points && (points.value === "-" || Number(points.value) === item.points);
    if (!halfTyped) put(points, item.points ? String(item.points) : "");
    node.classList.toggle("negative", item.points < 0);
    node.classList.toggle("no-points", !item.points && Boolean(item.text.trim()));
    chips(node, item);
  }
  function show(items) {
    const wanted = new Set(items.map((item) => `item-${item.id}`));
    for (const node of [...list.children]) if (!wanted.has(node.id)) node.remove();
    // Moving a node takes the cursor from it.
    const held = document.activeElement;
    const range =
      held?.matches?.("textarea, input") && list.contains(held) && held.selectionStart !== null
        ? [held.selectionStart, held.selectionEnd]
        : null;
    const fresh = [];
    items.forEach((item, place) => {
      let node = row(item.id);
      if (!node) {
        node = make(item);
        fresh.push(node);
      }
      if (list.children[place] !== node) list.insertBefore(node, list.children[place] ?? null);
      fill(node, item, place);
    });
    for (const node of fresh) grow(field(node, "text"));
    if (held && held !== document.activeElement && held.isConnected && list.contains(held)) {
      held.focus({ preventScroll: true });
      if (range) held.setSelectionRange(...range);
    }
  }

  /* Remarks of the lint, and what a reviewer or a grader said. */
  function line(kind, text, advice) {
    const node = document.createElement("li");
    node.className = kind;
    const why = document.createElement("span");
    why.textContent = text;
    node.append(why);
    if (advice) {
      const what = document.createElement("span");
      what.className = "todo";
      what.textContent = ` ${advice}`;
      node.append(what);
    }
    return node;
  }
  function button(text, data) {
    const node = document.createElement("button");
    node.type = "button";
    node.className = "plain small";
    node.textContent = text;
    Object.assign(node.dataset, data);
    return node;
  }
  function remarks(node, found, said, numberOf) {
    const box = node.querySelector("[data-remarks]");
    const lines = said.map(({ kind, label, text }) => line(kind, `${label} ${text}`));
    found.forEach((remark, place) => {
      const node = line(remark.severity, remark.why, remark.advice);
      node.firstElementChild.dataset.span = String(place);
      if (remark.fix) node.append(button(remark.fix.label, { fix: String(place) }));
      if (remark.other && numberOf(remark.other))
        node.append(button(words.duplicates.replace("NUMBER", numberOf(remark.other)), { goto: remark.other }));
      lines.push(node);
    });
    const shown = lines.map((one) => one.textContent).join("\n");
    if (box.dataset.shown === shown) return;
    box.dataset.shown = shown;
    box.replaceChildren(...lines);
  }

  window.addEventListener("resize", () => list.querySelectorAll("textarea").forEach(grow));
  window.consilium.rubricRows = { list, row, field, idOf, axisOf, show, grow, remarks, AXIS };
})();
