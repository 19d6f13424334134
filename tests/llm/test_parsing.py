"""A judge's answer is one strict object or it is no verdict."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from consilium.llm.errors import ContentError
from consilium.llm.parsing import ParsedVerdict, parse_verdict, storable

GOOD = '{"explanation": "It names the dose.", "criteria_met": true}'


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"\n  {GOOD}\r\n",
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```",
        f"```json\n{GOOD}```\n",
        '{"criteria_met": true, "explanation": "It names the dose."}',
    ],
)
def test_one_object_is_a_verdict(text: str) -> None:
    assert parse_verdict(text) == ParsedVerdict("It names the dose.", True)


def test_a_fence_inside_the_explanation_is_text() -> None:
    explanation = "It says ```json\n{}\n``` and stops"
    text = json.dumps({"explanation": explanation, "criteria_met": False})
    assert parse_verdict(text) == ParsedVerdict(explanation, False)
    assert parse_verdict(f"```json\n{text}\n```") == ParsedVerdict(explanation, False)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("```json\n```", "not_json"),
        ("true", "not_an_object"),
        ("null", "not_an_object"),
        (f"[{GOOD}]", "not_an_object"),
        ("Yes, it is met.", "not_json"),
        (f"Here you are: {GOOD}", "not_json"),
        (f"<think>hm</think>{GOOD}", "not_json"),
        (GOOD[:-1], "not_json"),
        (GOOD[:-5], "not_json"),
        (f"{GOOD} I hope this helps.", "trailing_text"),
        ("```json\n" + " " * 199_000 + "x", "not_json"),  # a pattern that goes back and forth takes half a minute
        (f"{GOOD}{GOOD}", "trailing_text"),
        (f"{GOOD}\n{GOOD}", "trailing_text"),
        (f"{GOOD}\u00a0", "trailing_text"),
        (f"```json\n{GOOD}\n```\n```json\n{GOOD}\n```", "trailing_text"),
        (f"```json\n{GOOD}\n```\ndone", "not_json"),
        ('{"explanation": "x", "criteria_met": "true"}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": "false"}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": 1}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": 0}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": null}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": [true]}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": {"value": true}}', "wrong_type"),
        ('{"explanation": null, "criteria_met": true}', "wrong_type"),
        ('{"explanation": ["x"], "criteria_met": true}', "wrong_type"),
        ('{"explanation": "x", "criteria_met": NaN}', "not_json"),
        ('{"explanation": "x", "criteria_met": True}', "not_json"),
        ("{'explanation': 'x', 'criteria_met': true}", "not_json"),
        ('{"explanation": "x", "criteria_met": false, "criteria_met": true}', "duplicate_key"),
        ('{"explanation": "x", "explanation": "x", "criteria_met": true}', "duplicate_key"),
        ('{"explanation": {"a": 1, "a": 2}, "criteria_met": true}', "duplicate_key"),
        ('{"criteria_met": true}', "missing_field"),
        ('{"explanation": "x"}', "missing_field"),
        ('{"explanation": "x", "Criteria_met": true}', "missing_field"),
        ('{"explanation": "x", "criteria_met": true, "confidence": 1}', "extra_field"),
        ('{"explanation": "a\\u0000b", "criteria_met": true}', "nul"),
        (f"{GOOD}\x00", "nul"),
        ('{"explanation": ' + "[" * 100_000, "not_json"),
        ('{"explanation": "x", "criteria_met": ' + "9" * 5000 + "}", "not_json"),
        (json.dumps({"explanation": "x" * 300_000, "criteria_met": True}), "too_large"),
    ],
)
def test_everything_else_is_not(text: str, kind: str) -> None:
    with pytest.raises(ContentError) as refused:
        parse_verdict(text)
    assert refused.value.kind == kind
    assert refused.value.raw == text


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=6,
)
_near = st.builds(
    lambda explanation, met, more: json.dumps({"explanation": explanation, "criteria_met": met, **more}),
    _json,
    _json,
    st.dictionaries(st.text(max_size=5), _json, max_size=1),
)
_mangled = st.builds(
    lambda text, at, inserted, cut: text[:at] + inserted + text[at + cut :],
    _near | st.just(GOOD),
    st.integers(0, 60),
    st.text(max_size=3),
    st.integers(0, 3),
)


@pytest.mark.slow
@settings(max_examples=200)  # test_fuzz.py has ten thousand
@given(st.text(max_size=200) | _json.map(json.dumps) | _near | _mangled)
@example(GOOD)
def test_fuzzed_answers_neither_crash_nor_are_coerced(text: str) -> None:
    try:
        verdict = parse_verdict(text)
    except ContentError:
        return
    # An independent reading: where a verdict came out, plain JSON says the very same, with a real boolean.
    stripped = text.strip(" \t\r\n")
    inside = stripped[stripped.index("\n") : -3] if stripped.startswith("```") else stripped
    value = json.loads(inside)
    assert set(value) == {"explanation", "criteria_met"}
    assert type(value["criteria_met"]) is bool
    assert (verdict.explanation, verdict.criteria_met) == (value["explanation"], value["criteria_met"])


@pytest.mark.slow
@given(st.text(alphabet=st.characters(), max_size=50))
def test_what_is_kept_can_be_stored(text: str) -> None:
    kept = storable(text + "\x00\ud800")
    assert "\x00" not in kept
    kept.encode("utf-8")


def test_what_is_kept_is_cut_with_a_mark() -> None:
    assert storable("abcdef", limit=3) == "abc… [cut]"
    assert storable("abc", limit=3) == "abc"
