/* The tags of a case in its editor, as chips by field. `changed` is told of every change. */
(() => {
  "use strict";
  const KINDS = { themes: "theme:", tasks: "task:", specialties: "specialty:", others: "" };

  window.consilium.caseTags = ({ form, changed }) => {
    const inOrder = (tags) => {
      // As `read` gathers them: by field. Order says nothing, so two orders are no difference.
      const own = Object.values(KINDS).filter(Boolean);
      return [
        ...new Set([
          ...own.flatMap((before) => tags.filter((tag) => tag.startsWith(before))),
          ...tags.filter((tag) => !own.some((before) => tag.startsWith(before))),
        ]),
      ];
    };
    const read = () =>
      Object.entries(KINDS).flatMap(([name, before]) =>
        [...form.querySelectorAll(`[data-tags="${name}"] .chip:not(.new) input`)]
          .map((input) => input.value.trim())
          .filter(Boolean)
          .map((tag) => before + tag),
      );
    function show(tags) {
      for (const field of form.querySelectorAll("[data-tags]")) {
        const before = KINDS[field.dataset.tags];
        const mine = tags.filter((tag) =>
          before ? tag.startsWith(before) : !Object.values(KINDS).some((other) => other && tag.startsWith(other)),
        );
        field.querySelectorAll(".chip:not(.new)").forEach((chip) => {
          chip.remove();
        });
        mine.forEach((tag) => {
          addChip(field, tag.slice(before.length));
        });
      }
    }
    function addChip(field, value) {
      const blank = field.querySelector(".chip.new");
      const chip = blank.cloneNode(true);
      chip.classList.remove("new");
      chip.querySelector("input").value = value;
      chip.querySelector("input").removeAttribute("placeholder");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "plain";
      button.dataset.chipRemove = "";
      button.textContent = "×";
      button.setAttribute("aria-label", `× ${value}`);
      chip.append(button);
      blank.before(chip);
    }
    function finish(input) {
      if (!input.closest(".chip.new") || !input.value.trim()) return;
      const field = input.closest("[data-tags]");
      // A tag that is known may hold a comma; in new ones a comma ends a tag.
      const known = [...input.list.options].some((option) => option.value === input.value.trim());
      input.value
        .split(known ? /[;；\n]/ : /[;；,，、\n]/)
        .map((tag) => tag.trim())
        .filter(Boolean)
        .forEach((tag) => {
          addChip(field, tag);
        });
      input.value = "";
      changed();
    }
    form.addEventListener("click", (event) => {
      const button = event.target.closest("[data-chip-remove]");
      if (!button) return;
      const field = button.closest("[data-tags]");
      button.closest(".chip").remove();
      field.querySelector(".chip.new input").focus();
      changed();
    });
    form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.target.closest("[data-tags]") && !event.isComposing) {
        event.preventDefault();
        finish(event.target);
      }
    });
    form.addEventListener("focusout", (event) => event.target.closest?.(".chip.new") && finish(event.target));
    // A suggestion that was picked is complete at once.
    form.addEventListener("input", (event) => {
      if (
        event.target.closest(".chip.new") &&
        (event.inputType === "insertReplacementText" ||
          !(event instanceof InputEvent) ||
          (!event.isComposing && /[;；,，、]$/.test(event.target.value)))
      )
        finish(event.target);
    });
    // A tag that is still being typed.
    const finishAll = () => form.querySelectorAll(".chip.new input").forEach(finish);
    return { read, show, inOrder, finishAll };
  };
})();
