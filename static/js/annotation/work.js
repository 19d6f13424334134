/* My work: sends what a closed tab could not, and says where something still waits for its author. What the server will
   have none of can be forgotten. */
(() => {
  "use strict";
  const outbox = window.consilium?.outbox;
  const notice = document.getElementById("unsent");
  const gone = document.getElementById("refused-left");
  if (!outbox || !notice || !gone) return;
  const words = document.getElementById("outbox").dataset;
  const refusals = new Map();
  document.addEventListener("consilium:left", ({ detail }) => refusals.set(detail.assignment, detail.refused));

  function lineOf([assignment, entries]) {
    const { status, detail } = refusals.get(assignment);
    const line = document.createElement("p");
    line.append(`${words.textLeft} ${detail} `);
    if (status !== 404) {
      const link = document.createElement("a");
      link.href = outbox.page(assignment);
      link.textContent = words.textOpen;
      line.append(link, " ");
    }
    const button = document.createElement("button");
    button.type = "button";
    button.className = "small";
    button.textContent = words.textForget;
    button.addEventListener("click", () => {
      Object.entries(entries).forEach(([id, entry]) => {
        outbox.drop(assignment, id, entry.client_id);
      });
      show();
    });
    line.append(button);
    return line;
  }
  function show() {
    const left = outbox.left();
    const dead = left.filter(([assignment]) => refusals.get(assignment));
    gone.replaceChildren(...dead.map(lineOf));
    gone.hidden = !dead.length;
    const first = left.find(([assignment]) => !refusals.get(assignment));
    if (first) notice.querySelector("a").href = outbox.page(first[0]);
    notice.hidden = !first;
  }
  const look = () => outbox.sendLeft().then(show);
  window.addEventListener("online", look);
  document.addEventListener("consilium:signed-in", look);
  look();
})();
