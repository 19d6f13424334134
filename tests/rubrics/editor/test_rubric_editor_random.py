"""What the rubric editor holds after any keys, against a list that is kept here: on the page and in the database."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from rubrics.models import AuthoringRole, RubricDraft
from tests import factories
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

STEPS = 36
SEED = 7
WORDS = [
    "dose",
    " ",
    "Warns",
    " of",
    "胸痛",
    "，",
    "。",
    '"4 g"',
    "😀",
    "e\u0301",
    "\u2028",
    "<b>",
    "=1+1",
    " -",
    "\u3000",
]
AXES = {"acc": "accuracy", "SAF": "safety", "compl": "completeness"}
GAP = re.compile(r"[\s,.;:!?，。；：、！？]")
ENDING, BEGINNING = re.compile(r"[\s,;，；、]*$"), re.compile(r"^[\s,;.，；。、]*")
SEEN = """async () => {
  const { state } = await import("/static/js/rubrics/editor/rubric_state.js");
  return state.items.map((item) => {
    const node = document.getElementById(`item-${item.id}`);
    const value = (name) => node.querySelector(`[data-field="${name}"]`).value;
    const shown = ["text", "points", "axis", "source"].map(value);
    return [[item.text, item.points, item.tags, item.source], shown];
  });
}"""
FOCUS = """async ([place, name, start, end]) => {
  const { state } = await import("/static/js/rubrics/editor/rubric_state.js");
  const { focus } = await import("/static/js/rubrics/editor/rubric_list.js");
  focus(state.items[place].id, name);
  if (start !== null) document.activeElement.setSelectionRange(start, end);
}"""
# The server saves, and its answer to the page is lost.
LOSE_ANSWERS = """(lost) => {
  window.plainFetch ??= window.fetch;
  const answerless = (...asked) => window.plainFetch(...asked).then(() => Promise.reject(new Error("lost")));
  window.fetch = lost ? answerless : window.plainFetch;
}"""
CARET = """async () => {
  const { placeOf } = await import("/static/js/rubrics/editor/rubric_state.js");
  const input = document.activeElement;
  const place = placeOf(input.closest(".item")?.dataset.id);
  return [place, input.dataset.field, input.selectionStart];
}"""


def units(text: str) -> int:
    """The length of a text as the browser counts it."""
    return len(text.encode("utf-16-le")) // 2


class Author:
    """Presses keys on the page, and does the same to a list of rows; ``done`` are the lists that undo goes back to."""

    def __init__(self, page: Page, chance: random.Random) -> None:
        self.page, self.keys, self.chance = page, page.keyboard, chance
        self.rows: list[dict[str, Any]] = []
        self.serial = 0
        self.done: list[list[dict[str, Any]]] = []
        self.undone: list[list[dict[str, Any]]] = []
        self.run: tuple[Any, ...] = ()
        self.input = page.context.new_cdp_session(page)

    def note(self, before: list[dict[str, Any]], run: tuple[Any, ...] = (), *, goes_on: bool = False) -> None:
        if before == self.rows:
            return
        if not (run and goes_on and run[:3] == self.run[:3] and self.done):
            self.done.append(before)
        self.undone = []
        self.run = run
        if self.done[-1] == self.rows:  # taken back by hand
            self.done.pop()
            self.run = ()

    def new(self, **fields: Any) -> dict[str, Any]:
        self.serial += 1
        return {"key": self.serial, "text": "", "points": 0, "tags": [], "source": "", **fields}

    def put(self, place: int, name: str = "text", start: int | None = None, end: int | None = None) -> None:
        text = self.rows[place].get(name, "")
        at = None if start is None else units(text[:start])
        self.page.evaluate(FOCUS, [place, name, at, at if end is None else units(text[:end])])

    def typed(self, place: int, name: str, start: int, end: int, data: str) -> None:
        """One input of the browser: ``data`` in place of what stood from ``start`` to ``end``."""
        before = deepcopy(self.rows)
        row = self.rows[place]
        text = row[name]
        row[name] = text[:start] + data + text[end:]
        run = (row["key"], name, "insert", start + len(data))
        new_word = bool(start and GAP.match(text[start - 1]) and not GAP.match(data[:1]))
        self.note(before, run, goes_on=start == end and self.run[3:] == (start,) and not new_word)

    # Ways to write ----------------------------------------------------------------------------------------------------

    def somewhere(self) -> tuple[int, int]:
        place = self.chance.randrange(len(self.rows))
        return place, self.cut(self.rows[place]["text"])

    def cut(self, text: str) -> int:
        at = self.chance.choice([0, len(text), self.chance.randint(0, len(text))])
        # The cursor of a browser stands between letters, not inside one.
        return at + 1 if at < len(text) and text[at] == "\u0301" else at

    def type(self) -> None:
        place, at = self.somewhere()
        text = "".join(self.chance.choice(["ab", "c ", "d", ", e", "7"]) for _ in range(3))
        self.put(place, "text", at)
        if not self.rows[place]["text"] and text.startswith("/"):
            return
        self.keys.type(text)
        for letter in text:
            self.typed(place, "text", at, at, letter)
            at += 1

    def burst(self) -> None:
        place, start = self.somewhere()
        end = max(start, self.cut(self.rows[place]["text"]))
        text = "".join(self.chance.choices(WORDS, k=4))
        self.put(place, "text", start, end)
        self.keys.insert_text(text)
        self.typed(place, "text", start, end, text)

    def compose(self) -> None:
        """A Chinese word: half of it stands while it is composed, and Enter does not begin a criterion."""
        place, at = self.somewhere()
        self.put(place, "text", at)
        for half in ("f", "fa", "fa re"):
            self.input.send(
                "Input.imeSetComposition", {"text": half, "selectionStart": len(half), "selectionEnd": len(half)}
            )
        self.input.send(
            "Input.dispatchKeyEvent",
            {"type": "rawKeyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229},
        )
        self.input.send("Input.insertText", {"text": "发热"})
        self.typed(place, "text", at, at, "发热")

    def source(self) -> None:
        place = self.chance.randrange(len(self.rows))
        text = self.rows[place]["source"]
        self.put(place, "source", len(text))
        self.keys.insert_text("NICE; 指南")
        self.typed(place, "source", len(text), len(text), "NICE; 指南")

    def points(self) -> None:
        place = self.chance.randrange(len(self.rows))
        row = self.rows[place]
        before = deepcopy(self.rows)
        self.put(place)
        self.keys.press("Tab")
        value = self.chance.choice([1, 5, 10, -1, -8, -10])
        way = self.chance.choice(["digits", "wide", "steps", "sign"])
        if way == "digits":
            self.keys.type(str(value))
        elif way == "wide" and row["points"] == 0:
            self.keys.insert_text(str(value).translate(str.maketrans("-0158", "－０１５８")))
        elif way == "sign" and row["points"]:
            value = -row["points"]
            self.keys.press("n")
        else:
            value = min(10, row["points"] + 1 or 1)
            self.keys.press("+")
        row["points"] = value
        self.note(before, (row["key"], "points", ""), goes_on=True)

    def axis(self) -> None:
        place = self.chance.randrange(len(self.rows))
        row = self.rows[place]
        begun, axis = self.chance.choice(list(AXES.items()))
        before = deepcopy(self.rows)
        self.put(place)
        self.keys.press("Tab")
        self.keys.press("Tab")
        self.keys.type(begun)
        self.keys.press("Tab")
        tags = [f"axis:{axis}" if tag.startswith("axis:") else tag for tag in row["tags"]]
        row["tags"] = tags if f"axis:{axis}" in tags else [f"axis:{axis}", *tags]
        self.note(before, (row["key"], "axis", ""), goes_on=True)

    def tag(self) -> None:
        place = self.chance.randrange(len(self.rows))
        row = self.rows[place]
        before = deepcopy(self.rows)
        self.put(place, "tag")
        text = self.chance.choice(["triage", "急诊；用药", " x y ;triage"])
        self.keys.insert_text(text)
        self.keys.press("Enter")
        row["tags"] = list(dict.fromkeys([*row["tags"], *(tag.strip() for tag in re.split("[;；]", text))]))
        self.note(before)

    # What is done to the list -----------------------------------------------------------------------------------------

    def below(self) -> None:
        place, at = self.somewhere()
        self.put(place, "text", at)
        self.keys.press("Enter")
        following = self.rows[place + 1 : place + 2]
        blank = following and not any(following[0][name] for name in ("text", "points", "tags", "source"))
        if self.rows[place]["text"].strip() and not blank:
            before = deepcopy(self.rows)
            self.rows.insert(place + 1, self.new())
            self.note(before)

    def split(self) -> None:
        place, at = self.somewhere()
        row = self.rows[place]
        left, right = ENDING.sub("", row["text"][:at]), BEGINNING.sub("", row["text"][at:])
        if not left or not right:
            return
        self.put(place, "text", at)
        self.keys.press("Control+Enter")
        before = deepcopy(self.rows)
        row["text"] = left
        sign, smaller = (-1 if row["points"] < 0 else 1), abs(row["points"]) // 2
        fields = {"key": None, "text": right[0].upper() + right[1:], "points": sign * smaller}
        other = self.new(**{**deepcopy(row), **fields})
        row["points"] -= sign * smaller
        self.rows.insert(place + 1, {**other, "key": self.serial})
        self.note(before)

    def merge(self) -> None:
        if len(self.rows) < 2:
            return
        place = self.chance.randrange(1, len(self.rows))
        previous, other = self.rows[place - 1], self.rows[place]
        before = deepcopy(self.rows)
        if other["text"] and self.chance.random() < 0.5:
            self.put(place - 1, "text", len(previous["text"]))
            self.keys.press("Delete")
        else:
            self.put(place, "text", 0)
            self.keys.press("Backspace")
        del self.rows[place]
        if other["text"]:
            joint = (
                "" if re.search("[\u4e00-\u9fff]", previous["text"] + other["text"]) or not previous["text"] else " "
            )
            own = any(tag.startswith("axis:") for tag in previous["tags"])
            tags = [tag for tag in other["tags"] if not (own and tag.startswith("axis:"))]
            previous["text"] += joint + other["text"]
            previous["points"] = previous["points"] or other["points"]
            previous["tags"] = list(dict.fromkeys([*previous["tags"], *tags]))
            sources = [text for text in dict.fromkeys([previous["source"], other["source"]]) if text]
            previous["source"] = "; ".join(sources)
        self.note(before)

    def duplicate(self) -> None:
        place, at = self.somewhere()
        self.put(place, "text", at)
        self.keys.press("Control+d")
        before = deepcopy(self.rows)
        self.serial += 1
        self.rows.insert(place + 1, {**deepcopy(self.rows[place]), "key": self.serial})
        self.note(before)

    def move(self) -> None:
        place, at = self.somewhere()
        to = place + self.chance.choice([-1, 1])
        self.put(place, "text", at)
        self.keys.press("Alt+ArrowUp" if to < place else "Alt+ArrowDown")
        if 0 <= to < len(self.rows):
            before = deepcopy(self.rows)
            self.rows.insert(to, self.rows.pop(place))
            self.note(before)
        else:
            to = place
        text = self.rows[to]["text"]
        assert self.page.evaluate(CARET) == [to, "text", units(text[:at])], "the cursor went elsewhere"

    def remove(self) -> None:
        if len(self.rows) < 4:
            return
        place = self.chance.randrange(len(self.rows))
        self.put(place, "points")
        self.keys.press("Control+Backspace")
        before = deepcopy(self.rows)
        del self.rows[place]
        self.note(before)

    def back(self) -> None:
        self.put(self.chance.randrange(len(self.rows)), self.chance.choice(["text", "points", "source"]))
        forth = 0
        for _ in range(self.chance.randint(1, 6)):
            if len(self.done) > 1 and len(self.done[-1]):
                self.keys.press("Control+z")
                self.undone.append(self.rows)
                self.rows = deepcopy(self.done.pop())
                forth += 1
        for _ in range(self.chance.randint(0, forth)):
            self.keys.press(self.chance.choice(["Control+y", "Control+Shift+Z"]))
            self.done.append(self.rows)
            self.rows = deepcopy(self.undone.pop())
        self.run = ()

    def act(self) -> str:
        writing = [self.type, self.burst, self.compose, self.source, self.points, self.axis, self.tag]
        acting = [self.below, self.split, self.merge, self.duplicate, self.move, self.remove, self.back, self.back]
        if len(self.rows) > 12:
            acting += [self.remove] * 6
        what = self.chance.choice([*writing, *acting])
        what()
        return what.__name__

    def expected(self) -> list[list[Any]]:
        return [[row["text"], row["points"], row["tags"], row["source"]] for row in self.rows]

    def on_page(self) -> list[list[Any]]:
        return [item for item, _shown in self.page.evaluate(SEEN)]

    def check(self, action: str) -> None:
        seen = self.page.evaluate(SEEN)
        assert [row[0] for row in seen] == self.expected(), action
        shown = [
            [
                row["text"],
                str(row["points"] or ""),
                next((t[5:] for t in row["tags"] if t[:5] == "axis:"), ""),
                row["source"],
            ]
            for row in self.rows
        ]
        assert [row[1] for row in seen] == shown, f"{action}: the page shows something else than it saves"


def test_any_keys_leave_what_was_typed(new_page: Callable[..., Page], watch: Any) -> None:
    author = factories.UserFactory()
    benchmark = factories.BenchmarkFactory()
    AuthoringRole.objects.create(benchmark=benchmark, user=author, role="author")
    case = factories.CaseFactory(benchmark=benchmark, rubric=0)
    page = new_page(author)
    watch.allow("ERR_INTERNET_DISCONNECTED", "ERR_FAILED", "409")
    page.goto(f"/b/{benchmark.slug}/write/{case.public_id}/rubric/")
    expect(page.locator("#editor[data-ready]")).to_be_visible()
    chance = random.Random(SEED)
    model = Author(page, chance)
    page.keyboard.press("Enter")
    model.rows = [model.new()]
    model.done = [[]]
    for step in range(STEPS):
        if step % 20 == 10:
            page.context.set_offline(True)
        elif step % 20 == 14:
            page.context.set_offline(False)
            page.evaluate(LOSE_ANSWERS, True)
        elif step % 20 == 18:
            page.evaluate(LOSE_ANSWERS, False)
        what = model.act()
        model.check(f"step {step}, {what}")
        if step == STEPS // 2:
            # A page that is loaded anew before it has saved shows all; what it could undo is gone.
            page.reload()
            expect(page.locator("#editor[data-ready]")).to_be_visible()
            # Where the page was rendered before the last save arrived, it asks for what was saved.
            wait_until(lambda: model.on_page() == model.expected(), message=f"step {step}, loaded anew")
            model.done, model.undone, model.run = [[]], [], ()
            model.check(f"step {step}, loaded anew")
    page.context.set_offline(False)
    page.evaluate(LOSE_ANSWERS, False)
    page.keyboard.press("Control+s")
    expect(page.locator("#saved")).to_have_attribute("data-state", "saved")
    stands = [
        [row["text"], row["points"], row["tags"], row["source"]] for row in RubricDraft.objects.get().content["items"]
    ]
    assert stands == [[row["text"], row["points"], row["tags"], row["source"]] for row in model.rows]
