/* The import form shows only the fields that the chosen kind of file takes; without this script it shows all. */
(() => {
  "use strict";
  const form = document.getElementById("import-form");
  const kind = form?.elements.kind;
  if (!kind) return;
  function fit() {
    form.querySelectorAll("[data-kinds]").forEach((input) => {
      const wanted = input.dataset.kinds.split(" ").includes(kind.value);
      input.closest(".field").classList.toggle("not-for-kind", !wanted);
      input.disabled = !wanted;
    });
  }
  kind.addEventListener("change", fit);
  fit();
})();
