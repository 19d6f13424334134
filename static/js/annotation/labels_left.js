/* Answers about cases that another page left in this browser. What can still be saved is saved; of the rest, this says
   why it waits, and offers to forget it. Notes that wait for their answer in an open case are no such rest. */
(() => {
  "use strict";
  const box = () => document.getElementById("labels-left");
  const text = (key) => box().dataset[`text${key[0].toUpperCase()}${key.slice(1)}`];
  let rest = []; // [{task, entries, status, reason}]

  function parsed(stored) {
    try {
      return JSON.parse(stored);
    } catch {
      return null;
    }
  }
  /* Task → key → entry, of this author; without the case that the page itself takes care of. */
  function kept() {
    const found = new Map();
    const page = document.getElementById("work");
    const own = page?.dataset.writable ? page.dataset.task : "";
    const prefix = `consilium.labels:${box().dataset.who}:`;
    try {
      for (const key of Object.keys(localStorage)) {
        const [task] = key.startsWith(prefix) ? key.slice(prefix.length).split(":") : [""];
        const entry = task && task !== own ? parsed(localStorage.getItem(key)) : null;
        if (entry) found.set(task, (found.get(task) ?? new Map()).set(key, entry));
      }
    } catch {
      // Forbidden: nothing is kept.
    }
    return found;
  }
  /* Only what was meant: another tab may have put something newer there. */
  function drop(key, entry) {
    try {
      if (parsed(localStorage.getItem(key))?.client_id === entry.client_id) localStorage.removeItem(key);
    } catch {
      // Nothing was stored.
    }
  }
  function send(task, key, entry) {
    const answer = { ...entry, question: key.split(":").pop() };
    const url = box().dataset.answers.replace("TASK", encodeURIComponent(task));
    return window.consilium.server.ask("POST", url, { who: box().dataset.who, answer });
  }
  /* What became of a task's entries: nothing to say, a reason why they stay, or `null` where nobody can tell now. */
  async function settle(task, entries) {
    let why;
    for (const [key, entry] of [...entries].sort(([, one], [, other]) => Boolean(other.value) - Boolean(one.value))) {
      const { status, body } = await send(task, key, entry);
      if (status === 200) {
        drop(key, entry);
        entries.delete(key);
      } else if (status === 404) return { status, reason: text("gone") };
      else if (body?.reason === "somebody-else" || ![409, 422].includes(status)) return null;
      else if (status === 409 && body.reason !== "stale") return { status, reason: body.detail };
      else if (entry.value) why = { status, reason: body.detail };
      else break; // the case is open: its notes wait for their answers
    }
    return why;
  }
  let looking = null;
  function look() {
    if (!box()?.dataset.who) return;
    looking ??= lookNow().finally(() => (looking = null));
  }
  async function lookNow() {
    const found = [];
    for (const [task, entries] of kept()) {
      const why = await settle(task, entries);
      if (why === null) return;
      if (why) found.push({ task, entries, ...why });
    }
    rest = found;
    show();
  }
  const inWords = (entry) =>
    [entry.value, entry.certainty === null ? "" : `${text("certain")} ${entry.certainty}`, entry.note]
      .filter(Boolean)
      .join(" · ");
  function show() {
    const place = box();
    if (!place) return;
    place.hidden = !rest.length;
    place.replaceChildren(
      ...rest.map((left) => {
        const notice = document.createElement("div");
        notice.className = "notice warning";
        const words = document.createElement("p");
        words.append(`${text("left")} ${left.reason} `);
        if (left.status !== 404) {
          const link = document.createElement("a");
          link.href = place.dataset.page.replace("TASK", encodeURIComponent(left.task));
          link.textContent = text("open");
          words.append(link);
        }
        const list = document.createElement("ul");
        for (const entry of left.entries.values())
          list.appendChild(document.createElement("li")).textContent = inWords(entry);
        const button = document.createElement("button");
        button.type = "button";
        button.className = "small";
        button.textContent = text("forget");
        button.addEventListener("click", () => {
          left.entries.forEach((entry, key) => {
            drop(key, entry);
          });
          rest = rest.filter((other) => other !== left);
          show();
          window.consilium.toast(text("forgotten"));
        });
        notice.append(words, list, button);
        return notice;
      }),
    );
  }
  window.addEventListener("online", look);
  document.addEventListener("consilium:signed-in", look);
  document.addEventListener("consilium:sheet", show);
  look();
})();
