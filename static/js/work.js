/* My work: says where decisions wait that a closed tab could not send. */
(() => {
  "use strict";
  const notice = document.getElementById("unsent");
  const link = notice?.querySelector("a");
  if (!link) return;
  let waiting;
  try {
    waiting = Object.keys(localStorage).find((key) => key.startsWith("consilium.outbox."));
  } catch {
    return;
  }
  if (!waiting) return;
  link.href = link.dataset.pattern.replace("ASSIGNMENT", encodeURIComponent(waiting.slice("consilium.outbox.".length)));
  notice.hidden = false;
})();
