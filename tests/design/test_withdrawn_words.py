"""The lint of words finds them in names, in text, and nowhere else; pages contain no phrase that was given up."""

from __future__ import annotations

import pytest

from tests.design.withdrawn_phrases import (
    CHINESE,
    literals_of_script,
    phrases_of_pages,
    shown_in_template,
    withdrawn_phrases,
)
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


# Phrases of pages -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_message_template_or_script_has_a_withdrawn_phrase() -> None:
    assert list(phrases_of_pages()) == []


# Words of pages before they were rewritten.
FORMER_WORDS = [
    "Go on grading", "Saves itself", "Handed in", "Hand in", "Look at it again", "criterion before", "Cannot",
    "Check the next", "Take", "Taken by you", "Put back",
    "How you hear of your work", "By mail at once", "Work held back", "What is asked of you", "Look into your mail",
    "Decisions leave the house under a pseudonym", "No account? The admin of your benchmark makes one for you",
    "What waits for you", "hidden: shown to nobody who grades", "Who asks", "It may stay", "+55 to gain, −13 to lose",
    "Paste many", "Instead of what stands", "What can be done with it", "Before it can be sent", "too little yet",
    "MF1 0.457 … the mark is 0.70", "Share of met, less that of peers", "There is nothing here for you",
    "Let somebody in", "What is left empty leaves nothing out", "At least so many criteria",
    "Most tokens of an answer", "Of several answers: what most of them say", "Mend the file",
    "Put a judge's scores right by physicians", "May X stand in for a physician?", "at the slow days' pace, no end",
    "Larger groups for reports", "Settle the differences of two groups", "What it is over", "What it is asked",
]  # fmt: skip


@pytest.mark.parametrize("words", FORMER_WORDS)
def test_the_former_words_of_pages_are_found(words: str) -> None:
    assert list(withdrawn_phrases(words)) != []


@pytest.mark.parametrize(
    "words",
    [
        "Continue grading", "Submit", "Set up a mail server", "Each case before and after refinement",
        "There is no case with this short name", "This case is no longer assigned to you", "Release task",
        "Understand this criterion", "by leaving out one case at a time", "The next annotator who asks a question",
        "at fault", "1 faulty criterion", "household",
    ],
)  # fmt: skip
def test_the_words_of_today_pass(words: str) -> None:
    assert list(withdrawn_phrases(words)) == []


def test_only_what_a_template_or_script_shows_is_read() -> None:
    template = '{# go on #}<p class="hold">Fix {{ held }}{% if stands %} these lines{% endif %}</p><!-- mend -->'
    assert "Fix these lines" in shown_in_template(template).replace("  ", " ")
    assert list(withdrawn_phrases(shown_in_template(template))) == []
    assert list(withdrawn_phrases(shown_in_template("<p>Mend the file</p>"))) == [("mend", "fix, correct")]
    assert literals_of_script("// 'go on'\nshow('Hand it in'); x = 'one'") == ["Hand it in"]


def test_chinese_has_a_list_of_its_own() -> None:
    assert [phrase for phrase, _advice in withdrawn_phrases("请你登陆账户，查看病例", CHINESE)] == ["你", "登陆"]
    assert list(withdrawn_phrases("请您登录账户，查看病例", CHINESE)) == []
