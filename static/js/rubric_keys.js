/* Keys of the rubric editor, and dragging a row by its number. What they do is in rubric_editor.js. */
(() => {
  "use strict";
  const rubric = window.consilium?.rubric;
  const rows = window.consilium?.rubricRows;
  if (!rubric) return;
  const { list, row, idOf, AXIS } = rows;
  const { items, find, placeOf, act, add, split, merge, duplicate, move, remove, undo, redo, focus, step, setPoints, setAxis, takeTag, dropTag } = rubric;

  /* Keys ------------------------------------------------------------------------------------------------------------------- */
  list.addEventListener("keydown", (event) => {
    const target = event.target;
    const name = target.dataset.field;
    const id = idOf(target);
    if (!name || !id || event.isComposing) return; // Enter ends a Chinese word first
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
    if (name === "text") return textKey(event, id, command, handled);
    if (name === "points") return pointsKey(event, id, command, handled);
    if (event.key === "Enter" && !command) {
      handled();
      if (name === "tag") takeTag(target, find(id));
      else if (name === "axis") {
        complete(target, find(id));
        add(id);
      }
    } else if (event.key === "Backspace" && name === "tag" && !target.value) {
      const others = find(id).tags.filter((tag) => !tag.startsWith(AXIS));
      if (others.length) dropTag(id, others.at(-1));
    }
  });
  function textKey(event, id, command, handled) {
    const area = event.target;
    const at = area.selectionStart === area.selectionEnd ? area.selectionStart : -1;
    if (event.key === "Enter" && command) {
      handled();
      split(id, Math.max(at, 0));
    } else if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      handled();
      if (area.value.trim()) add(id);
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
    } else if (event.key === "/" && !area.value && !command) {
      handled();
      window.consilium.rubricInsert?.openBank();
    }
  }
  function pointsKey(event, id, command, handled) {
    const input = event.target;
    const all = input.selectionStart === 0 && input.selectionEnd === input.value.length;
    if (event.key === "Enter" && !command) {
      handled();
      const next = items()[placeOf(id) + 1];
      if (next && !event.shiftKey && next.text) focus(next.id, "text", next.text.length);
      else add(id);
    } else if (["+", "=", "ArrowUp"].includes(event.key) && !command) {
      handled();
      step(id, 1);
    } else if (event.key === "ArrowDown" || (event.key === "-" && input.value && all)) {
      handled();
      step(id, -1);
    } else if (event.key === "-" && input.value && !input.value.startsWith("-")) {
      handled();
      step(id, -1);
    } else if (event.key.toLowerCase() === "n" && !command) {
      handled();
      if (find(id).points) setPoints(id, -find(id).points);
    } else if (event.key === "Backspace" && command) {
      handled();
      remove(id);
    }
  }
  function complete(input, item) {
    const begun = input.value.trim().toLowerCase();
    const option = begun && [...document.getElementById("axes").options].find((one) => one.value.toLowerCase().startsWith(begun));
    if (!option) return;
    input.value = option.value;
    setAxis(item, option.value);
  }
  document.addEventListener("keydown", (event) => {
    if (event.isComposing || document.querySelector("dialog[open]")) return;
    const command = event.ctrlKey || event.metaKey;
    const inText = event.target.matches("input, textarea, select");
    const key = event.key.toLowerCase();
    if (command && key === "s") {
      event.preventDefault();
      rubric.save();
    } else if (command && (key === "y" || (key === "z" && event.shiftKey)) && !(inText && rubric.typed())) {
      event.preventDefault();
      redo();
    } else if (command && key === "z" && !event.shiftKey && !(inText && rubric.typed())) {
      // In a text the browser undoes what was typed there, unless the last thing done was to the list.
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


  /* Dragging by the number ------------------------------------------------------------------------------------------------- */
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
    list.querySelectorAll(".over, .under-it").forEach((node) => node.classList.remove("over", "under-it"));
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
    list.querySelectorAll(".over, .under-it, .dragged").forEach((node) => node.classList.remove("over", "under-it", "dragged"));
  });
})();
