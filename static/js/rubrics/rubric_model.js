/* A rubric as a list of items, and what can be done with two of them: compared, merged with what somebody else saved,
   taken back to what they were. Nothing here knows the page. */
(() => {
  "use strict";
  const FIELDS = ["text", "points", "tags", "source", "element", "expectation", "bank", "criterion"];

  function newId() {
    const bytes = crypto.getRandomValues(new Uint8Array(8));
    return `n${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  }
  function newItem(fields = {}) {
    return {
      id: newId(),
      text: "",
      points: 0,
      tags: [],
      source: "",
      element: "",
      expectation: "",
      bank: "",
      criterion: null,
      ...fields,
    };
  }
  const copy = (items) => items.map((item) => ({ ...item, tags: [...item.tags] }));
  const value = (item, field) => (field === "tags" ? item.tags.join("\n") : item[field]);
  const same = (one, other) => FIELDS.every((field) => value(one, field) === value(other, field));
  const sameList = (one, other) =>
    one.length === other.length && one.every((item, place) => item.id === other[place].id && same(item, other[place]));
  const isBlank = (item) =>
    ![item.text, item.source, item.element, item.expectation].some((text) => text.trim()) &&
    !item.points &&
    !item.tags.length;
  const byId = (items) => new Map(items.map((item) => [item.id, item]));

  /* Put `item` of `from` into `into` behind the nearest item before it that is there. */
  function insertLike(item, from, into) {
    const place = from.findIndex((one) => one.id === item.id);
    for (let before = place - 1; before >= 0; before -= 1) {
      const at = into.findIndex((one) => one.id === from[before].id);
      if (at >= 0) return void into.splice(at + 1, 0, item);
    }
    into.unshift(item);
  }

  /* Three-way merge: what only one side changed is taken from it. Where both changed the same field, or one deleted
     what the other changed, it is a question: `mine` or `theirs` is null where it was deleted. Until it is answered,
     mine stays, or theirs where mine is deleted: nothing is lost. */
  function merge(base, mine, theirs) {
    const [b, m, t] = [byId(base), byId(mine), byId(theirs)];
    const items = [];
    const questions = [];
    for (const item of mine) {
      const was = b.get(item.id);
      const their = t.get(item.id);
      if (!their) {
        if (!was) items.push(item);
        else if (!same(was, item)) {
          items.push(item);
          questions.push({ id: item.id, mine: item, theirs: null });
        }
        continue;
      }
      const made = { ...item };
      let clash = false;
      for (const field of FIELDS) {
        const [old, own, other] = [was ? value(was, field) : undefined, value(item, field), value(their, field)];
        if (own === other || other === old) continue;
        if (own === old) made[field] = their[field];
        else clash = true;
      }
      items.push(made);
      if (clash) questions.push({ id: item.id, mine: item, theirs: their });
    }
    for (const item of theirs) {
      if (m.has(item.id)) continue;
      const was = b.get(item.id);
      if (was && same(was, item)) continue; // deleted here, left alone there
      insertLike(item, theirs, items);
      if (was) questions.push({ id: item.id, mine: null, theirs: item });
    }
    // A new order of theirs stands where mine is the old one.
    const order = (list) =>
      list
        .filter((item) => b.has(item.id))
        .map((item) => item.id)
        .join();
    if (
      !questions.length &&
      order(mine) === order(base.filter((item) => m.has(item.id))) &&
      order(theirs) !== order(base.filter((item) => t.has(item.id)))
    ) {
      const made = byId(items);
      const sorted = theirs.filter((item) => made.has(item.id)).map((item) => made.get(item.id));
      for (const item of items) if (!t.has(item.id)) insertLike(item, items, sorted);
      return { items: sorted, questions };
    }
    return { items, questions };
  }

  /* From `reached`, which an action made, back to `target`: what the action left alone stays as it is now. */
  function back(target, reached, current) {
    const [now, then] = [byId(current), byId(reached)];
    const items = [];
    for (const item of target) {
      const live = now.get(item.id);
      const made = then.get(item.id);
      if (made && !live) continue; // deleted since by somebody else
      if (!live || !made) items.push(item);
      else {
        const changed = FIELDS.filter((name) => value(made, name) !== value(item, name));
        items.push({ ...live, ...Object.fromEntries(changed.map((name) => [name, item[name]])) });
      }
    }
    const known = new Set([...target, ...reached].map((item) => item.id));
    for (const item of current) if (!known.has(item.id)) insertLike(item, current, items);
    return copy(items);
  }

  /* Two texts of one, cut at a place of it: joints such as “, and” fall away. */
  function cut(text, at) {
    // The Chinese ones: bing qie, yi ji, bing; and at the beginning he and ji, unless a longer word begins with them.
    const english = "and also|and then|as well as|and";
    const [bingQie, yiJi, bing] = [
      "\\u5e76\\u4e14",
      "\\u4ee5\\u53ca",
      "\\u5e76(?![\\u53d1\\u975e\\u4e0d\\u65e0\\u5b58])",
    ];
    const [ji, he] = ["\\u53ca(?![\\u65f6\\u65e9\\u5176])", "\\u548c(?![\\u7f13\\u8c10\\u89e3])"];
    const ending = new RegExp(
      `[\\s,;，；、]*(?:(?:^|\\s)(?:${english})|${bingQie}|${yiJi}|\\u5e76)?[\\s,;，；、]*$`,
      "i",
    );
    const beginning = new RegExp(
      `^[\\s,;.，；。、]*(?:(?:${english})(?![a-z])|${bingQie}|${yiJi}|${bing}|${ji}|${he})?[\\s,;，；、]*`,
      "i",
    );
    const left = text.slice(0, at).replace(ending, "");
    const right = text.slice(at).replace(beginning, "");
    return [left, right.charAt(0).toUpperCase() + right.slice(1)];
  }
  function joined(one, other) {
    const both = (a, b) => (a && b && a !== b ? `${a}; ${b}` : a || b);
    const axis = (tag) => tag.startsWith("axis:");
    const others = one.tags.some(axis) ? other.tags.filter((tag) => !axis(tag)) : other.tags; // one axis each
    const chinese = /[\u4e00-\u9fff]/.test(one.text + other.text);
    return {
      ...one,
      text: one.text && other.text ? `${one.text}${chinese ? "" : " "}${other.text}` : one.text || other.text,
      points: one.points || other.points,
      tags: [...new Set([...one.tags, ...others])],
      source: both(one.source, other.source),
      element: both(one.element, other.element),
      expectation: both(one.expectation, other.expectation),
      bank: one.bank || other.bank,
      criterion: one.text ? one.criterion : other.criterion,
    };
  }

  window.consilium = Object.assign(window.consilium ?? {}, {
    rubricModel: { newId, newItem, copy, same, sameList, isBlank, byId, merge, back, cut, joined },
  });
})();
