/* What can be undone in the rubric editor: each action on the list, and what was typed, a word at a time, so that one
   key takes both back in the order in which they came. Undoing takes nothing back that somebody else did since. */
(() => {
  "use strict";
  const model = window.consilium?.rubricModel;
  if (!model) return;
  const MOST_STEPS = 300;
  const GAP = /[\s,.;:!?，。；：、！？]/;

  /* consilium.rubricHistory({items(), take(items), caret(), go(caret)}) */
  window.consilium.rubricHistory = ({ items, take, caret, go }) => {
    const done = [];
    let undone = [];
    let stands = model.copy(items()); // the list as the last step left it
    let lastAt = null; // the caret then
    let run = ""; // which text is being typed in: "id field kind"; what follows there belongs to the same step
    let begun = null; // {at, end, before}: the caret where the next input goes

    /* The list has changed, with the cursor at `from` before: a step of its own, or part of the one before. */
    function note(from, name = "", goesOn = false) {
      if (model.sameList(stands, items())) return;
      const now = model.copy(items());
      if (name && goesOn && name === run && done.length) done.at(-1).reached = now;
      else done.push({ target: stands, reached: now, from, to: null });
      if (done.length > MOST_STEPS) done.shift();
      undone = [];
      stands = now;
      run = name;
      if (model.sameList(done.at(-1).target, now)) {
        done.pop(); // it was taken back by hand
        run = "";
        return;
      }
      // An action puts the cursor where it wants it right after this.
      const step = done.at(-1);
      queueMicrotask(() => (step.to = lastAt = caret()));
    }
    /* Where the next input goes; asked before it happens. */
    function begin(input) {
      begun = {
        at: input.selectionStart,
        end: input.selectionEnd,
        before: input.value.charAt(input.selectionStart - 1),
        caret: caret(),
      };
    }
    function typed(id, field, kind, data) {
      // Points and axis: all of it is one step.
      const free = !["text", "source", "element", "expectation"].includes(field);
      const removes = kind.startsWith("delete");
      const onward =
        begun && lastAt?.id === id && lastAt.name === field && begun.at === begun.end && begun.at === lastAt.at;
      const newWord = !removes && GAP.test(begun?.before ?? "") && !GAP.test((data ?? "").charAt(0));
      note(
        begun?.caret ?? lastAt,
        `${id} ${field} ${free ? "" : removes ? "delete" : "insert"}`,
        free || (onward && !newWord),
      );
      lastAt = caret();
      begun = null;
    }
    /* Somebody else's changes came in: they are not undone here. */
    function others() {
      stands = model.copy(items());
      run = "";
    }
    function walk(from, to, at) {
      const step = from.pop();
      if (!step) return false;
      const now = model.copy(items());
      take(model.back(step.target, step.reached, items()));
      stands = model.copy(items());
      run = "";
      to.push({ target: now, reached: model.copy(items()), from: step.from, to: step.to });
      go(step[at]);
      return true;
    }
    return { note, begin, typed, others, undo: () => walk(done, undone, "from"), redo: () => walk(undone, done, "to") };
  };
})();
