/* Keys of the rubric editor, and dragging a row by its number. What they do is in rubric_editor.js. */
(() => {
  "use strict";
  const rubric = window.consilium?.rubric;
  const rows = window.consilium?.rubricRows;
  if (!rubric) return;
  const { isBlank } = window.consilium.rubricModel;
  const { list, row, idOf, AXIS } = rows;
  const FEW = 5; // rows that a page key goes
  const {
    items,
    find,
    placeOf,
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
  } = rubric;

  // Safari ends the composition before the key that ended it.
  const composing = (event) => event.isComposing || event.keyCode === 229;
  // A tag that is being typed is the browser's own to undo.
  const elsewhere = (target) => target.dataset.field === "tag" && target.value;

  /* Keys */
  list.addEventListener("keydown", (event) => {
    const target = event.target;
    const name = target.dataset.field;
    const id = idOf(target);
    if (!name || !id || composing(event)) return; // Enter ends a Chinese word first
    const command = event.ctrlKey || event.metaKey;
    const handled = () => event.preventDefault();
    if (event.altKey && !command && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      handled();
      return move(id, placeOf(id) + (event.key === "ArrowUp" ? -1 : 1), name);
    }
    if (command && ["ArrowUp", "ArrowDown"].includes(event.key)) {
      handled();
      return focus(items()[placeOf(id) + (event.key === "ArrowUp" ? -1 : 1)]?.id, name === "points" ? name : "text");
    }
    if (command && event.key.toLowerCase() === "d") {
      handled();
      return duplicate(id);
    }
    const page = { PageUp: -FEW, PageDown: FEW }[event.key];
    if (page && !command && !event.altKey) {
      handled();
      return goTo(placeOf(id) + page, name);
    }
    if (command && ["Home", "End"].includes(event.key) && !event.shiftKey) {
      handled();
      return goTo(event.key === "Home" ? 0 : items().length, name);
    }
    if (name === "text") return textKey(event, id, command, handled);
    if (name === "points") return pointsKey(event, id, command, handled);
    if (event.key === "Enter" && !command) {
      handled();
      if (name === "tag" && target.value.trim()) return takeTag(target, find(id));
      if (name === "axis") complete(target);
      below(id);
    } else if (event.key === "Backspace" && name === "tag" && !target.value) {
      const others = find(id).tags.filter((tag) => !tag.startsWith(AXIS));
      if (others.length) dropTag(id, others.at(-1));
    }
  });
  function goTo(place, name) {
    const to = items()[Math.max(0, Math.min(items().length - 1, place))];
    focus(to.id, name === "points" ? name : "text", name === "points" ? null : to.text.length);
  }
  function textKey(event, id, command, handled) {
    const area = event.target;
    const at = area.selectionStart === area.selectionEnd ? area.selectionStart : -1;
    const gap =
      event.key === "Tab" &&
      !event.shiftKey &&
      find(id).bank &&
      /\[[^[\]]+\]/.exec(area.value.slice(area.selectionEnd));
    if (gap) {
      // From one place to fill in to the next.
      handled();
      area.setSelectionRange(area.selectionEnd + gap.index, area.selectionEnd + gap.index + gap[0].length);
    } else if (event.key === "Enter" && command && !event.shiftKey) {
      handled();
      split(id, Math.max(at, 0));
    } else if (event.key === "Enter" && !command && !event.shiftKey && !event.altKey) {
      handled();
      if (area.value.trim()) below(id);
    } else if (event.key === "Backspace" && at === 0 && !command) {
      const before = items()[placeOf(id) - 1];
      if (!area.value && items().length) {
        handled();
        act(() => items().splice(placeOf(id), 1));
        if (before) focus(before.id, "text", before.text.length);
        else if (items()[0]) focus(items()[0].id, "text", 0);
      } else if (before) {
        handled();
        merge(before.id, id);
      }
    } else if (event.key === "Delete" && at === area.value.length && !command && items()[placeOf(id) + 1]) {
      handled();
      merge(id, items()[placeOf(id) + 1].id);
    } else if (event.key === "ArrowUp" && at === 0 && placeOf(id) > 0 && !command && !event.shiftKey) {
      handled();
      focus(items()[placeOf(id) - 1].id, "text", 0);
    } else if (
      event.key === "ArrowDown" &&
      at === area.value.length &&
      placeOf(id) < items().length - 1 &&
      !command &&
      !event.shiftKey
    ) {
      handled();
      goTo(placeOf(id) + 1, "text");
    } else if (event.key === "/" && !area.value && !command) {
      handled();
      window.consilium.rubricInsert?.openBank();
    }
  }
  /* A new criterion below; an empty one that is there already will do. */
  function below(id) {
    const next = items()[placeOf(id) + 1];
    if (next && isBlank(next)) focus(next.id, "text", 0);
    else add(id);
  }
  let lessened = ""; // where the last key was a minus that took one point away
  function pointsKey(event, id, command, handled) {
    const input = event.target;
    const before = lessened;
    lessened = "";
    if (before === id && /^\d$/.test(event.key) && !command) {
      // The minus was the sign of a new number.
      handled();
      setPoints(id, -Number(event.key));
      input.setSelectionRange(input.value.length, input.value.length);
      return;
    }
    const all = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (event.key === "Enter" && !command) {
      handled();
      const next = items()[placeOf(id) + 1];
      if (next && !event.shiftKey) focus(next.id, "text", next.text.length);
      else below(id);
    } else if (["+", "=", "ArrowUp"].includes(event.key) && !command) {
      handled();
      step(id, 1);
    } else if (
      event.key === "ArrowDown" ||
      (event.key === "-" && input.value && (all || !input.value.startsWith("-")))
    ) {
      handled();
      step(id, -1);
      if (event.key === "-" && all) lessened = id;
    } else if (event.key.toLowerCase() === "n" && !command) {
      handled();
      if (find(id).points) setPoints(id, -find(id).points);
    } else if (event.key === "Backspace" && command) {
      handled();
      remove(id);
    }
  }
  list.addEventListener("focusout", () => (lessened = ""));
  document.addEventListener("keydown", (event) => {
    if (composing(event) || document.querySelector("dialog[open]")) return;
    const command = event.ctrlKey || event.metaKey;
    const inText = event.target.matches("input, textarea, select");
    const key = event.key.toLowerCase();
    if (command && key === "s") {
      event.preventDefault();
      if (event.target.dataset.field === "tag") takeTag(event.target, find(idOf(event.target)));
      rubric.save();
    } else if (command && event.shiftKey && event.key === "Enter") {
      event.preventDefault();
      document.getElementById("send").click();
    } else if (command && event.key === "/") {
      event.preventDefault();
      document.getElementById("keys").showModal();
    } else if (command && (key === "y" || (key === "z" && event.shiftKey)) && !elsewhere(event.target)) {
      event.preventDefault();
      redo();
    } else if (command && key === "z" && !event.shiftKey && !elsewhere(event.target)) {
      event.preventDefault();
      undo();
    } else if (!inText && !command && !event.altKey && event.key === "?") {
      event.preventDefault();
      document.getElementById("keys").showModal();
    } else if (!inText && !command && !event.altKey && event.key === "/") {
      event.preventDefault();
      window.consilium.rubricInsert?.openBank();
    }
  });

  /* Dragging by the number */
  let dragged = "";
  list.addEventListener("dragstart", (event) => {
    if (!event.target.closest?.("[data-handle]")) return;
    dragged = idOf(event.target);
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", find(dragged).text);
    event.dataTransfer.setDragImage(row(dragged), 20, 20);
    row(dragged).classList.add("dragged");
  });
  list.addEventListener("dragover", (event) => {
    const over = event.target.closest(".item");
    if (!dragged || !over) return;
    event.preventDefault();
    list.querySelectorAll(".over, .under-it").forEach((node) => {
      node.classList.remove("over", "under-it");
    });
    const box = over.getBoundingClientRect();
    over.classList.add(event.clientY < box.top + box.height / 2 ? "over" : "under-it");
  });
  list.addEventListener("drop", (event) => {
    const over = event.target.closest(".item");
    if (!dragged || !over) return;
    event.preventDefault();
    const below = over.classList.contains("under-it");
    let to = placeOf(over.dataset.id) + (below ? 1 : 0);
    if (placeOf(dragged) < to) to -= 1;
    move(dragged, to);
  });
  list.addEventListener("dragend", () => {
    dragged = "";
    list.querySelectorAll(".over, .under-it, .dragged").forEach((node) => {
      node.classList.remove("over", "under-it", "dragged");
    });
  });
})();
