"""The request of a judge that codes, and what its answer may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.llm.coding import CodeOption, coding_messages, coding_prompt_hash, parse_codes
from consilium.llm.errors import ContentError

OPTIONS = [
    CodeOption("wrong-dose", "Wrong dose", "A dose is wrong.", "A number is given.", "None is given.", ("10 g",)),
    CodeOption("overconfidence", "Overconfidence", "It is too sure."),
]
KEYS = [option.key for option in OPTIONS]
REPLY = "Take ten  tablets. Café is fine."


def answer(*codes: dict[str, Any]) -> str:
    return json.dumps({"codes": list(codes)})


def code(key: str = "wrong-dose", quotes: list[str] | None = None, **more: Any) -> dict[str, Any]:
    return {"code": key, "why": "So.", "quotes": quotes or [], **more}


def test_a_code_stands_in_the_prompt_with_all_that_the_book_says_of_it() -> None:
    system, user = coding_messages([{"role": "user", "content": "Hi"}], REPLY, OPTIONS, nonce="n" * 24)
    assert (
        "- wrong-dose (Wrong dose): A dose is wrong.\n  Applies: A number is given.\n"
        "  Does not apply: None is given.\n  Example: 10 g\n- overconfidence (Overconfidence): It is too sure."
    ) in system["content"]
    assert f"<<<REPLY {'n' * 24}\n{REPLY}\n>>>REPLY {'n' * 24}" in user["content"]
    assert "CRITERIA" not in user["content"] and "criterion" not in system["content"]


def test_criteria_are_numbered_in_a_fence() -> None:
    system, user = coding_messages([], REPLY, OPTIONS, nonce="n" * 24, criteria=["Asks for age.", "{{nonce}}"])
    assert f"<<<CRITERIA {'n' * 24}\n1. Asks for age.\n2. {{{{nonce}}}}\n>>>CRITERIA" in user["content"]
    assert '"criterion": <the number' in system["content"]
    assert coding_prompt_hash(OPTIONS) != coding_prompt_hash(OPTIONS, with_criteria=True)


def test_codes_come_in_the_order_of_the_book_with_the_places_of_their_quotes() -> None:
    text = answer(code("overconfidence", ["Cafe\u0301 is fine."]), code("wrong-dose", ["ten tablets", "ten tablets"]))
    first, second = parse_codes(text, KEYS, REPLY)
    assert (first.code, second.code) == ("wrong-dose", "overconfidence")
    # By hand: “Take ” has five characters, and “ten  tablets” twelve.
    assert [(words.quote, words.start, words.end) for words in first.evidence] == [("ten  tablets", 5, 17)]
    assert [(words.quote, words.start, words.end) for words in second.evidence] == [("Café is fine.", 19, 32)]
    assert parse_codes(answer(), KEYS, REPLY) == []


def test_the_number_of_a_criterion() -> None:
    text = answer(code(criterion=2), code("overconfidence", criterion=0))
    assert [parsed.criterion for parsed in parse_codes(text, KEYS, REPLY, n_criteria=2)] == [1, None]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Careless.", "not_json"),
        (answer(code("unknown")), "unknown_code"),
        (answer(code(), code()), "repeated_code"),
        (answer(code(quotes=["elsewhere"])), "no_quote"),
        (answer(code(quotes=["elsewhere"]), code("unknown")), "unknown_code"),  # never hidden by a quote
        (answer({"code": "wrong-dose", "why": "So."}), "missing_field"),
        (answer(code(severity=1)), "extra_field"),
        (answer(code(quotes=["ten"], criterion=1)), "extra_field"),
        ('{"codes": {}}', "wrong_type"),
        ('{"codes": []} and more', "trailing_text"),
    ],
)
def test_every_other_answer_is_refused_by_its_fault(text: str, kind: str) -> None:
    with pytest.raises(ContentError) as refused:
        parse_codes(text, KEYS, REPLY)
    assert refused.value.kind == kind
    assert refused.value.raw == text


@pytest.mark.parametrize("number", [-1, 3])
def test_a_number_that_no_criterion_has_is_refused(number: int) -> None:
    with pytest.raises(ContentError, match="1 to 2"):
        parse_codes(answer(code(criterion=number)), KEYS, REPLY, n_criteria=2)


def test_an_absent_quote_can_be_returned_apart() -> None:
    (parsed,) = parse_codes(answer(code(quotes=["elsewhere", "ten"])), KEYS, REPLY, must_quote=False)
    assert parsed.absent == ("elsewhere",)
    assert [words.quote for words in parsed.evidence] == ["ten"]


@given(st.text(max_size=200), st.integers(0, 3))
def test_no_answer_raises_anything_but_a_content_error(text: str, n_criteria: int) -> None:
    for candidate in (text, answer(code(quotes=[text], criterion=1)), answer(code(quotes=[text]))):
        try:
            parsed = parse_codes(candidate, KEYS, REPLY, n_criteria=n_criteria)
        except ContentError:
            continue
        assert all(REPLY[words.start : words.end] == words.quote for own in parsed for words in own.evidence)
