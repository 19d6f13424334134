"""The lint of words finds them in names, in text, and nowhere else."""

from __future__ import annotations

import pytest

from tests.design.withdrawn_words import withdrawn_words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("DOORS = 1\n", "DOORS"),
        ("def hear_bell():\n    pass\n", "hear_bell"),
        ("class RingingTask:\n    pass\n", "RingingTask"),
        ("for one in rows:\n    pass\n", "one"),
        ("rows = [found for found in ids]\n", "found"),
        ("def save(*, asked):\n    pass\n", "asked"),
        ("_LONGEST_NOTE = 5\n", "_LONGEST_NOTE"),
        ("MOST_ROWS = 5\n", "MOST_ROWS"),
    ],
)
def test_a_name_with_a_withdrawn_word_is_found(text: str, word: str) -> None:
    assert word in [found_word for _line, found_word, _advice in withdrawn_words("a.py", text)]


@pytest.mark.parametrize(
    "text",
    [
        "one_way = 1\n",
        "x.found = 1\n",
        "f(one=1)\n",
        "almost_there = 1\n",
        "outdoor = 1\n",
        "ALMOST_ROWS = 1\n",
        "# one was found\n",
    ],
)
def test_names_that_only_resemble_them_pass(text: str) -> None:
    assert list(withdrawn_words("a.py", text)) == []


def test_a_word_in_text_is_found_with_its_line_and_advice() -> None:
    assert list(withdrawn_words("docs/a.md", "All is well.\nEvery door is closed.\n")) == [
        (2, "door", "endpoint, page")
    ]
