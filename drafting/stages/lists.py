"""The numbered lists and texts of requests, by the names of their places and fences. Pure.

An item of PASSAGES has three parts, each begun by a line break: what the passage is of (title, publisher, version and
page), its headings and the header of its table, and its text, which alone may be quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from consilium.llm.staged import NumberedItem, numbered

RED_FLAG_MARK = "[red flag] "
_BETWEEN = " › "
Row = Mapping[str, Any]


def reference_of(passage: Row) -> str:
    """What a passage is of, in one line."""
    parts = (passage["title"], passage["publisher"], passage["version"], passage["page"])
    return _one_line(", ".join(filter(None, parts)))


def passage_item(passage: Row) -> str:
    """A passage as an item of PASSAGES; its text begins behind the second line break."""
    above = [*passage["headings"], *filter(None, [passage["table_header"]])]
    return f"{reference_of(passage)}\n{_one_line(_BETWEEN.join(above))}\n{passage['text']}"


def passage_list(passages: Iterable[Row]) -> str:
    """The list PASSAGES."""
    return numbered(NumberedItem(passage_item(passage)) for passage in passages)


def statement_list(statements: Iterable[Row]) -> str:
    """The list STATEMENTS: ``text | passage K | quote``, red flags marked."""
    return _texts(
        f"{RED_FLAG_MARK if each['kind'] == 'red_flag' else ''}{each['text']} | passage {each['passage']} "
        f"| {each['quote']}"
        for each in statements
    )


def kind_list(rows: Iterable[Row]) -> str:
    """The lists FACTS and NEEDS where their kinds count: ``kind: text``."""
    return _texts(f"{row['kind']}: {row['text']}" for row in rows)


def text_list(rows: Iterable[Row], name: str = "text") -> str:
    """A list of plain texts."""
    return _texts(row[name] for row in rows)


def criterion_list(criteria: Iterable[Row]) -> str:
    """The list CRITERIA, with points and axes."""
    return numbered(NumberedItem(each["text"], each["points"], each["axis"]) for each in criteria)


def link_list(criteria: Iterable[Row], facts: Sequence[int], needs: Sequence[int]) -> str:
    """The list LINKS: ``facts 1, 2; needs 3`` for each criterion, by places in ``facts`` and ``needs``."""
    return _texts(
        "; ".join(
            f"{name} {', '.join(map(str, numbers))}"
            for name, numbers in (
                ("facts", [facts.index(number) + 1 for number in each["facts"] if number in facts]),
                ("needs", [needs.index(number) + 1 for number in each["needs"] if number in needs]),
            )
            if numbers
        )
        for each in criteria
    )


def axis_list(axes: Iterable[str]) -> str:
    """The list AXES."""
    return _texts(axes)


def words_list(texts: Iterable[str]) -> str:
    """A list of sentences of our own, such as FINDINGS."""
    return _texts(texts)


def _texts(texts: Iterable[str]) -> str:
    return numbered(map(NumberedItem, texts))


def _one_line(text: str) -> str:
    return " ".join(text.split())
