/* Drafts of responses that an earlier visit left in this browser. What can still be saved is saved; of the rest, this
   says why it waits, shows it, and offers to forget it. */
(() => {
  "use strict";
  const box = document.getElementById("drafts-left");
  const who = document.getElementById("outbox")?.dataset.who;
  if (!box || !who) return;
  const words = (key) => box.dataset[`text${key[0].toUpperCase()}${key.slice(1)}`];
  const prefix = `consilium.writing:${who}:`;

  function kept() {
    const found = [];
    try {
      for (const key of Object.keys(localStorage)) {
        const entry = key.startsWith(prefix) ? JSON.parse(localStorage.getItem(key)) : null;
        if (entry) found.push({ key, task: key.slice(prefix.length), entry });
      }
    } catch {
      // Forbidden or no entry of ours: nothing is kept.
    }
    return found;
  }
  function send({ task, entry }) {
    const { text, reference, version, client_id } = entry;
    const url = box.dataset.save.replace("TASK", encodeURIComponent(task));
    return window.consilium.server.ask("POST", url, { who, draft: { text, reference, version, client_id } });
  }
  function tell(one, { status, body }) {
    const notice = document.createElement("div");
    notice.className = "notice warning";
    const line = notice.appendChild(document.createElement("p"));
    line.append(`${words("left")} ${status === 404 ? words("gone") : (body?.detail ?? "")} `);
    if (status !== 404) {
      const link = line.appendChild(document.createElement("a"));
      link.href = box.dataset.page.replace("TASK", encodeURIComponent(one.task));
      link.textContent = words("open");
    }
    const details = notice.appendChild(document.createElement("details"));
    details.appendChild(document.createElement("summary")).textContent = words("show");
    const text = details.appendChild(document.createElement("p"));
    text.className = "kept-text";
    text.textContent = one.entry.text;
    const button = notice.appendChild(document.createElement("button"));
    button.type = "button";
    button.className = "small";
    button.textContent = words("forget");
    button.addEventListener("click", () => {
      localStorage.removeItem(one.key);
      notice.remove();
      box.hidden = !box.children.length;
      window.consilium.toast(words("forgotten"));
    });
    box.append(notice);
    box.hidden = false;
  }
  async function look() {
    box.replaceChildren();
    box.hidden = true;
    for (const one of kept()) {
      const told = await send(one);
      if (told.status === 200) localStorage.removeItem(one.key);
      else if (
        told.status === 404 ||
        told.status === 422 ||
        (told.status === 409 && told.body?.reason !== "somebody-else")
      )
        tell(one, told);
    }
  }
  window.addEventListener("online", look);
  document.addEventListener("consilium:signed-in", look);
  look();
})();
