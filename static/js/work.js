/* My work: sends what a closed tab could not, and says where something still waits for its author. */
(() => {
  "use strict";
  const outbox = window.consilium?.outbox;
  const notice = document.getElementById("unsent");
  if (!outbox || !notice) return;
  async function look() {
    await outbox.sendLeft();
    const [first] = outbox.left();
    if (first) notice.querySelector("a").href = outbox.page(first[0]);
    notice.hidden = !first;
  }
  window.addEventListener("online", look);
  document.addEventListener("consilium:signed-in", look);
  look();
})();
