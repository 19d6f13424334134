/* The drawer of comments: D or its button opens it, and its thread is fetched then. */
(() => {
  "use strict";
  const drawer = document.getElementById("comments");
  const button = () => document.querySelector("[data-comments]");
  const thread = () => document.getElementById("comments-thread");

  function open() {
    const address = button()?.dataset.comments;
    if (!drawer || !address || drawer.open) return;
    // Words half written for this response stay; those for another one must not be sent with it.
    const kept = drawer.dataset.shown === address ? drawer.querySelector("[data-comment]")?.value : "";
    drawer.dataset.shown = address;
    thread().replaceChildren();
    drawer.showModal();
    window.htmx.ajax("GET", address, { target: "#comments-thread", swap: "innerHTML" }).then(() => {
      const field = drawer.querySelector("[data-comment]");
      if (!field) return;
      if (kept) field.value = kept;
      field.focus();
    });
  }
  document.addEventListener("click", (event) => event.target.closest("[data-comments]") && open());
  window.consilium?.reading?.on?.(["d"], open);

  document.addEventListener("keydown", (event) => {
    if (!event.target.matches?.("[data-comment]") || event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.stopPropagation();
      event.target.form.requestSubmit();
    }
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id !== "comments-thread") return;
    const count = thread().querySelectorAll(".thread > li").length;
    const shown = button()?.querySelector(".count");
    if (shown) shown.textContent = count || "";
    drawer?.querySelector("[data-comment]")?.focus();
  });
})();
