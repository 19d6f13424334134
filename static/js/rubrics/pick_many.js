/* A list with ticks: tick all that can be, say how many are, and open or close what changed in each. */
(() => {
  "use strict";
  const form = document.querySelector("form[data-pick]");
  if (!form) return;
  const boxes = () => Array.from(form.querySelectorAll(".pick input[type=checkbox]:not(:disabled)"));
  const all = form.querySelector("[data-pick-all]");
  const count = form.querySelector("[data-pick-count]");
  const submit = form.querySelector("[data-pick-submit]");
  function show() {
    const ticked = boxes().filter((box) => box.checked).length;
    if (count) count.textContent = ticked || "";
    if (submit) submit.disabled = !ticked;
    if (all) {
      all.checked = ticked > 0 && ticked === boxes().length;
      all.indeterminate = ticked > 0 && ticked < boxes().length;
    }
  }
  all?.addEventListener("change", () => {
    boxes().forEach((box) => {
      box.checked = all.checked;
    });
    show();
  });
  form.addEventListener("change", (event) => {
    if (event.target !== all) show();
  });
  const opener = form.querySelector("[data-open-all]");
  opener?.addEventListener("click", () => {
    const closed = Array.from(form.querySelectorAll(".pick details:not([open])"));
    form.querySelectorAll(".pick details").forEach((box) => {
      box.open = closed.length > 0;
    });
    [opener.textContent, opener.dataset.textClose] = [opener.dataset.textClose, opener.textContent];
  });
  show();
})();
