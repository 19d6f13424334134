/* What two people changed in the same criterion: both are shown, and the author chooses. */
(() => {
  "use strict";
  const words = document.getElementById("words")?.dataset;
  if (!words || !window.consilium) return;

  /* Takes questions as `rubricModel.merge` asks them; promises id → "mine" or "theirs". */
  window.consilium.rubricConflict = (questions, person) => {
    const dialog = document.getElementById("conflict");
    dialog.querySelector("[data-who]").textContent = words.both.replace("PERSON", person);
    const box = document.getElementById("conflict-list");
    box.replaceChildren(
      ...questions.map((question, place) => {
        const set = document.createElement("fieldset");
        for (const side of ["mine", "theirs"]) {
          const label = document.createElement("label");
          const input = document.createElement("input");
          input.type = "radio";
          input.name = `question-${place}`;
          input.value = side;
          input.checked = side === "mine";
          const text = document.createElement("span");
          const who = document.createElement("b");
          who.textContent = side === "mine" ? words.mine : words.their.replace("PERSON", person);
          const item = question[side];
          const said = document.createElement("span");
          said.textContent = item ? `${item.text} (${item.points}) ${item.tags.join("; ")}` : words.absent;
          text.append(who, said);
          label.append(input, text);
          set.append(label);
        }
        return set;
      }),
    );
    return new Promise((resolve) => {
      const choose = (side) =>
        box.querySelectorAll(`input[value="${side}"]`).forEach((input) => {
          input.checked = true;
        });
      dialog.querySelectorAll("[data-all]").forEach((button) => {
        button.onclick = () => choose(button.dataset.all);
      });
      document.getElementById("conflict-done").onclick = () => dialog.close();
      dialog.addEventListener(
        "close",
        () =>
          resolve(
            Object.fromEntries(
              questions.map((question, place) => [
                question.id,
                box.querySelector(`input[name="question-${place}"]:checked`).value,
              ]),
            ),
          ),
        { once: true },
      );
      dialog.showModal();
    });
  };
})();
