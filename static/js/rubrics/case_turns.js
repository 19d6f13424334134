/* The turns of a case in its editor: added, removed and put back, moved by buttons, keys and dragging. `changed` is
   told of every change. */
(() => {
  "use strict";
  window.consilium.caseTurns = ({ turns, words, fill, changed }) => {
    function newTurn(role, content = "") {
      const item = document.getElementById("turn-pattern").content.firstElementChild.cloneNode(true);
      const choice = item.querySelector("select");
      choice.value = role;
      if (!choice.value) choice.value = "user";
      const text = item.querySelector("textarea");
      text.value = content;
      text.lang = document.querySelector("[name=reference_answer]")?.lang ?? "";
      return item;
    }
    function number() {
      [...turns.children].forEach((item, index) => {
        item.querySelector(".turn-number").textContent = index + 1;
        item.querySelectorAll("button").forEach((button) => {
          button.value = index;
        });
        item.querySelector("select").setAttribute("aria-label", fill(words.textWho, { n: index + 1 }));
        item.querySelector("textarea").setAttribute("aria-label", fill(words.textSays, { n: index + 1 }));
      });
    }
    function move(item, by) {
      const focused = document.activeElement;
      if (by < 0 && item.previousElementSibling) item.previousElementSibling.before(item);
      else if (by > 0 && item.nextElementSibling) item.nextElementSibling.after(item);
      else return;
      number();
      if (item.contains(focused)) focused.focus();
      item.scrollIntoView({ block: "nearest" });
      changed();
    }
    const undo = document.getElementById("turn-undo");
    let removed = null;
    function remove(item) {
      const place = [...turns.children].indexOf(item);
      removed = { item, place };
      const beside = item.nextElementSibling ?? item.previousElementSibling;
      item.remove();
      number();
      undo.firstElementChild.textContent = fill(words.textRemoved, { n: place + 1 });
      undo.hidden = false;
      (beside?.querySelector("textarea") ?? document.getElementById("add-turn")).focus();
      changed();
    }
    function putBack() {
      if (!removed) return;
      turns.insertBefore(removed.item, turns.children[removed.place] ?? null);
      number();
      removed.item.querySelector("textarea").focus();
      removed = null;
      undo.hidden = true;
      changed();
    }
    function add() {
      const last = turns.lastElementChild?.querySelector("select").value;
      const item = newTurn(last === "user" ? "assistant" : "user");
      turns.append(item);
      number();
      item.querySelector("textarea").focus();
      changed();
    }
    turns?.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      event.preventDefault();
      const item = button.closest("li");
      if (button.name === "turn-up") move(item, -1);
      else if (button.name === "turn-down") move(item, 1);
      else remove(item);
    });
    turns?.addEventListener("keydown", (event) => {
      if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      move(event.target.closest("li"), event.key === "ArrowUp" ? -1 : 1);
    });
    document.getElementById("add-turn")?.addEventListener("click", (event) => {
      event.preventDefault();
      add();
    });
    undo?.querySelector("button").addEventListener("click", putBack);
    /* Dragging by the handle */
    let dragged = null;
    turns?.addEventListener("dragstart", (event) => {
      dragged = event.target.closest?.(".turn-handle")?.closest("li") ?? null;
      if (!dragged) return;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
      event.dataTransfer.setDragImage(dragged, 20, 20);
      dragged.classList.add("dragged");
    });
    turns?.addEventListener("dragover", (event) => {
      if (!dragged) return;
      event.preventDefault();
      const over = event.target.closest("li");
      if (!over || over === dragged) return;
      const box = over.getBoundingClientRect();
      if (event.clientY < box.top + box.height / 2) over.before(dragged);
      else over.after(dragged);
    });
    turns?.addEventListener("drop", (event) => event.preventDefault());
    turns?.addEventListener("dragend", () => {
      if (!dragged) return;
      dragged.classList.remove("dragged");
      dragged = null;
      number();
      changed();
    });
    return { newTurn, number };
  };
})();
