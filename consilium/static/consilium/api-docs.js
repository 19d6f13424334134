"use strict";

// A list of all operations above Swagger's own: Swagger draws operations when their tag is opened or scrolled to, so that
// the browser's search does not find the others. A box narrows the list.

const METHODS = ["get", "post", "put", "patch", "delete"];

const element = (name, text = "", attributes = {}) => {
  const made = Object.assign(document.createElement(name), attributes);
  if (text) made.textContent = text;
  return made;
};

const operationsByTag = (spec) => {
  const byTag = new Map();
  for (const [path, own] of Object.entries(spec.paths)) {
    for (const method of METHODS.filter((each) => each in own)) {
      const { tags, summary = "", operationId } = own[method];
      byTag.set(tags[0], [...(byTag.get(tags[0]) ?? []), { method, path, summary, id: operationId }]);
    }
  }
  return [...byTag].sort(([one], [other]) => one.localeCompare(other));
};

const show = (ui, tag, id) => {
  const { layoutActions } = ui.getSystem();
  layoutActions.show(["operations-tag", tag], true);
  layoutActions.show(["operations", tag, id], true);
  window.requestAnimationFrame(() => {
    document.getElementById(`operations-${tag}-${id}`)?.scrollIntoView();
  });
};

const row = (ui, tag, operation) => {
  const address = `#/${tag}/${operation.id}`;
  const link = element("a", `${operation.method.toUpperCase()} ${operation.path}`, { href: address });
  link.addEventListener("click", () => show(ui, tag, operation.id));
  const item = element("li");
  item.append(link, ` ${operation.summary}`);
  return item;
};

// Called by Swagger once it has read the schema (SWAGGER_UI_SETTINGS).
window.listOperations = (ui) => {
  const place = document.getElementById("operation-list");
  if (!place || place.childElementCount) return;
  const box = element("input", "", { type: "search", id: "find-operation", autocomplete: "off" });
  const label = element("label", "Find an operation ", { htmlFor: box.id });
  const groups = operationsByTag(ui.specSelectors.specJson().toJS()).map(([tag, operations]) => {
    const group = element("section");
    const list = element("ul");
    list.append(...operations.map((operation) => row(ui, tag, operation)));
    group.append(element("h2", tag), list);
    return group;
  });
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const group of groups) {
      for (const item of group.querySelectorAll("li")) {
        const text = `${group.firstChild?.textContent} ${item.textContent}`.toLowerCase();
        item.hidden = !words.every((word) => text.includes(word));
      }
      group.hidden = !group.querySelector("li:not([hidden])");
    }
  });
  label.append(box);
  place.setAttribute("aria-label", "Operations");
  place.append(label, ...groups);
};
