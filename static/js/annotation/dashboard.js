/* Pieces chosen for handing over, and the dialog that says what would move. Without this script the same is a page. */
(() => {
  "use strict";
  const dialog = document.getElementById("handover-dialog");
  const bar = document.getElementById("pick-bar");
  const boxes = () => Array.from(document.querySelectorAll("input[name=piece]"));

  function showChosen() {
    if (!bar) return;
    const chosen = boxes().filter((box) => box.checked).length;
    bar.querySelector("[data-chosen]").textContent = bar.dataset[chosen === 1 ? "textOne" : "textMany"].replace(
      "0",
      String(chosen),
    );
    bar.querySelector("button").disabled = chosen === 0;
    const all = document.getElementById("pick-all");
    if (!all) return;
    all.checked = chosen > 0 && chosen === boxes().length;
    all.indeterminate = chosen > 0 && !all.checked;
  }
  document.addEventListener("change", (event) => {
    if (event.target.id === "pick-all")
      boxes().forEach((box) => {
        box.checked = event.target.checked;
      });
    if (event.target.id === "pick-all" || event.target.name === "piece") showChosen();
  });
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target === dialog && !dialog.open) dialog.showModal();
  });
  showChosen();
})();
