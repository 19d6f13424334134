"""Quotations and numbers of facts, red flags that may not get lost, and needs."""

from __future__ import annotations

from typing import Any

import pytest

from drafting.stages.facts import (
    check_conflicts,
    check_quotes,
    checked_facts,
    drops_of,
    numbered_facts,
    reason_against,
    with_prohibitions,
    with_red_flags,
)
from drafting.stages.needs import is_usable, needs_of
from tests.drafting.stages.rows import ALARM, LOPERAMIDE, ORS, POOL, passage, stated


def checked(*facts: dict[str, Any], pool: list[dict[str, Any]] = POOL) -> list[dict[str, Any]]:
    """These facts, checked; nobody was asked whether the quotations entail them."""
    numbered = numbered_facts(facts)
    return checked_facts(numbered, check_quotes(numbered, pool[:2], pool), {}, {}, pool)


@pytest.mark.parametrize(
    ("text", "of", "quote", "state", "words", "reason"),
    [
        ("Pause for 20 minutes.", 1, "pause for 20 minutes", "exact", "pause for 20 minutes", ""),
        ("Pause for 20 minutes.", 1, "pause  for 20 minutes", "normalised", "pause for 20 minutes", ""),
        ("No loperamide for children.", 1, LOPERAMIDE, "moved", LOPERAMIDE, ""),
        ("Give ibuprofen.", 1, "Give ibuprofen every 8 hours.", "absent", "", "quote_absent"),
        ("Pause for a while.", 1, "Give an oral … 20 minutes", "absent", "", "quote_absent"),
        ("Pause.", 1, "pause for", "too_short", "", "quote_too_short"),
        ("Pause.", 1, "  ", "none", "", "no_quote"),
        ("Pause for 30 minutes.", 1, "pause for 20 minutes", "exact", "pause for 20 minutes", "numbers_differ"),
        ("Give 5 L every 5 minutes.", 1, "5 mL every 5 minutes", "exact", "5 mL every 5 minutes", "numbers_differ"),
    ],
)  # fmt: skip
def test_a_quotation_is_found_or_it_is_none(
    text: str, of: int, quote: str, state: str, words: str, reason: str
) -> None:
    [fact] = checked(stated("statement", text, of, quote))
    assert (fact["quote_state"], fact["words"]) == (state, words)
    assert reason_against(fact) == reason
    assert fact["is_usable"] == (reason == "")
    if words:
        source = next(each for each in POOL if each["passage"] == fact["passage"])
        assert source["text"][fact["start"] : fact["end"]] == words
        assert fact["source"] == f"Vomiting, College, 2025, {source['page']}"
    else:
        assert (fact["passage"], fact["start"], fact["end"], fact["source"]) == (None, None, None, "")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("statement", LOPERAMIDE, "prohibition"),
        ("statement", "Codeine is contraindicated below twelve years.", "prohibition"),
        ("statement", "儿童禁用阿司匹林。", "prohibition"),
        ("statement", "孕妇不宜服用布洛芬。", "prohibition"),
        ("statement", "Pause for 20 minutes.", "statement"),
        ("statement", "口服补液盐每5分钟5毫升。", "statement"),
        ("red_flag", "Do not wait: call an ambulance.", "red_flag"),
    ],
)
def test_words_tell_a_prohibition_where_no_model_gives_kinds(kind: str, text: str, expected: str) -> None:
    rows = with_prohibitions([stated(kind, text, 1, text)])
    assert rows == [stated(expected, text, 1, text)]
    ignored = drops_of({"drop": [{"fact": 1, "why": "beside the case"}]}, numbered_facts(rows))[1]
    assert len(ignored) == (expected != "statement")


def test_a_passage_that_was_not_ranked_is_searched_too() -> None:
    [fact] = checked(stated("prohibition", "No loperamide.", 2, LOPERAMIDE))
    assert (fact["quote_state"], fact["passage"]) == ("moved", "p3")


def test_what_another_model_says_of_the_quotation() -> None:
    facts = numbered_facts([stated("statement", ORS, 1, ORS)] * 3)
    quotes = check_quotes(facts, POOL, POOL)
    answers = {n: {"support": support, "why": "So."} for n, support in enumerate(("entails", "partly", "does_not"), 1)}
    rows = checked_facts(facts, quotes, {}, answers, POOL)
    assert [reason_against(row) for row in rows] == ["", "supported_partly", "not_supported"]
    assert [row["is_usable"] for row in rows] == [True, False, False]


FLAGS = [
    stated("red_flag", "No urine for 12 hours is an emergency.", 2, "no urine for 12 hours"),
    stated("red_flag", "Blood in the stool is an emergency.", 2, "there is blood in the stool"),
]


def test_a_red_flag_that_the_facts_keep_is_not_repeated() -> None:
    facts = with_red_flags(FLAGS, FLAGS, POOL)
    assert [(fact["text"], fact["restored"]) for fact in facts] == [(flag["text"], False) for flag in FLAGS]


def test_a_dropped_red_flag_comes_back() -> None:
    facts = with_red_flags(FLAGS[:1], FLAGS, POOL)
    assert [(fact["text"], fact["restored"]) for fact in facts] == [
        (FLAGS[0]["text"], False), (FLAGS[1]["text"], True),
    ]  # fmt: skip


def test_a_red_flag_that_became_a_mere_statement_comes_back() -> None:
    facts = with_red_flags([{**FLAGS[0], "kind": "statement"}, FLAGS[1]], FLAGS, POOL)
    assert [(fact["kind"], fact["restored"]) for fact in facts] == [
        ("statement", False), ("red_flag", False), ("red_flag", True),
    ]  # fmt: skip


def test_two_red_flags_joined_in_one_fact_come_apart_again() -> None:
    joined = stated("red_flag", "No urine for 12 hours or blood in the stool is an emergency.", 2, ALARM)
    facts = with_red_flags([joined], FLAGS, POOL)
    assert [fact["restored"] for fact in facts] == [False, True]
    assert facts[1]["text"] in {flag["text"] for flag in FLAGS}


def test_a_red_flag_that_stands_twice_is_kept_by_one_fact() -> None:
    assert len(with_red_flags(FLAGS[:1], [FLAGS[0], FLAGS[0]], POOL)) == 1


def test_no_model_drops_a_red_flag_or_a_prohibition() -> None:
    kinds = ("statement", "red_flag", "prohibition", "number")
    facts = numbered_facts(stated(kind, "x", 1, "") for kind in kinds)
    drops, ignored = drops_of({"drop": [{"fact": n, "why": "Not asked."} for n in range(1, 5)]}, facts)
    assert drops == {1: "Not asked.", 4: "Not asked."}
    assert [(each["fact"], each["kind"]) for each in ignored] == [(2, "red_flag"), (3, "prohibition")]


def test_a_drop_without_a_reason_is_a_drop() -> None:
    facts = numbered_facts([stated("statement", ORS, 1, ORS)])
    drops, _ignored = drops_of({"drop": [{"fact": 1, "why": " "}]}, facts)
    [row] = checked_facts(facts, check_quotes(facts, POOL, POOL), drops, {}, POOL)
    assert not row["is_usable"] and reason_against(row) == "dropped"


def test_a_side_of_a_conflict_that_no_passage_has_shows_no_words() -> None:
    conflict = {
        "about": "how long to pause",
        "sides": [
            {"passage": 1, "quote": "pause for 20 minutes", "says": "20 minutes"},
            {"passage": 2, "quote": "pause for 10 minutes", "says": "10 minutes"},
        ],
    }
    [checked_one] = check_conflicts([conflict], POOL, POOL)
    assert [(side["words"], side["passage"]) for side in checked_one["sides"]] == [
        ("pause for 20 minutes", "p1"), ("", None),
    ]  # fmt: skip


def test_chinese_quotations_and_numbers() -> None:
    pool = [passage(1, "成人每日不超过４克，两次用药之间至少间隔4小时。")]
    facts = [
        stated("number", "成人每日不超过4克。", 1, "成人每日不超过4克"),
        stated("number", "成人每日不超过3克。", 1, "成人每日不超过４克"),
    ]
    rows = checked(*facts, pool=pool)
    assert [(row["quote_state"], row["words"]) for row in rows] == [
        ("normalised", "成人每日不超过４克"), ("exact", "成人每日不超过４克"),
    ]  # fmt: skip
    assert [reason_against(row) for row in rows] == ["", "numbers_differ"]


def test_needs_are_quoted_from_what_the_asker_wrote() -> None:
    conversation = [
        {"role": "user", "content": "My son vomits. What may he drink?"},
        {"role": "assistant", "content": "Please answer in one short sentence."},
        {"role": "user", "content": "Why?"},
    ]
    answer = {
        "asks": [
            {"text": "Drinks", "quote": "What may he drink?"},
            {"text": "The reason", "quote": "Why?"},
            {"text": "A medicine", "quote": "Which medicine helps him?"},
            {"text": "A cause", "quote": "My son"},
        ],
        "missing": [{"question": "How old is he?", "why": "The amounts depend on it."}],
        "tone": ["calm"],
        "form": [{"text": "Short", "quote": "Please answer in one short sentence."}],
    }
    rows = needs_of(answer, conversation)
    assert [(row["number"], row["kind"], row["quote_state"], is_usable(row)) for row in rows] == [
        (1, "asks", "exact", True),
        (2, "asks", "exact", True),  # short, but all of a message
        (3, "asks", "absent", False),
        (4, "asks", "too_short", False),
        (5, "missing", "none", True),
        (6, "tone", "none", True),
        (7, "form", "absent", False),  # the assistant wrote it
    ]
