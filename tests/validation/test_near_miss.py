"""Near misses: one place of a reference is changed, and all else stays byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validation.near_miss import (
    MAX_FIND_LENGTH,
    UnusableEdit,
    changed_share,
    changed_span,
    import_warning,
    n_words,
    near_miss,
)

REFERENCE = "Give 15 mg/kg of paracetamol every 6 hours.\nDo not exceed four doses in 24 hours. 成人每日不超过4克。"


@pytest.mark.parametrize(
    ("find", "replace", "candidate"),
    [
        ("15 mg/kg", "50 mg/kg", REFERENCE.replace("15", "50")),
        (" in 24 hours", "", REFERENCE.replace(" in 24 hours", "")),
        ("不超过4克", "不超过40克", REFERENCE.replace("4克", "40克")),
    ],
)  # fmt: skip
def test_the_words_are_replaced_and_nothing_else(find: str, replace: str, candidate: str) -> None:
    miss = near_miss(REFERENCE, find, replace)
    assert miss.candidate == candidate
    assert REFERENCE[miss.span.start : miss.span.reference_end] == find
    assert candidate[miss.span.start : miss.span.candidate_end] == replace


@pytest.mark.parametrize(
    ("find", "replace", "kind"),
    [
        ("", "x", "empty_find"), ("hours", "days", "repeated"), ("15 g", "50 g", "absent"), ("15", "15", "same"),
        ("15 MG/KG", "x", "absent"), ("x" * (MAX_FIND_LENGTH + 1), "y", "long_find"),
        ("15", "5" * 1001, "long_replace"),
    ],
)  # fmt: skip
def test_what_makes_no_near_miss_is_refused_with_a_reason(find: str, replace: str, kind: str) -> None:
    with pytest.raises(UnusableEdit) as refused:
        near_miss(REFERENCE, find, replace)
    assert refused.value.kind == kind
    assert str(refused.value) == refused.value.phrase


def test_words_that_overlap_themselves_occur_twice() -> None:
    with pytest.raises(UnusableEdit, match="more than once"):
        near_miss("1000", "00", "0")


def test_nothing_may_be_left_of_a_reference() -> None:
    with pytest.raises(UnusableEdit, match="would leave nothing"):
        near_miss("Rest.", "Rest.", " ")


@given(st.text(), st.text(min_size=1, max_size=20), st.text(max_size=20), st.text())
def test_everything_outside_the_place_is_the_same(before: str, find: str, replace: str, behind: str) -> None:
    reference = before + find + behind
    try:
        miss = near_miss(reference, find, replace)
    except UnusableEdit:
        assert (
            find == replace
            or reference.find(find, reference.find(find) + 1) >= 0
            or not (before + replace + behind).strip()
        )
        return
    assert miss.candidate == before + replace + behind
    # What is found in two texts lies within the place that was changed, or grows from it to whole words.
    span = changed_span(reference, miss.candidate)
    assert span is not None
    assert reference[: span.start] == miss.candidate[: span.start]
    assert reference[span.reference_end :] == miss.candidate[span.candidate_end :]


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_are_the_same_outside_of_the_changed_span(reference: str, candidate: str) -> None:
    span = changed_span(reference, candidate)
    if span is None:
        assert reference == candidate
        return
    assert reference[: span.start] == candidate[: span.start]
    assert reference[span.reference_end :] == candidate[span.candidate_end :]
    assert span.start <= min(span.reference_end, span.candidate_end)
    assert reference[span.start : span.reference_end] != candidate[span.start : span.candidate_end]


@pytest.mark.parametrize(
    ("reference", "candidate", "changed"),
    [
        ("Take 60 mg daily.", "Take 600 mg daily.", ("60", "600")),
        ("Take it twice daily.", "Take it thrice daily.", ("twice", "thrice")),
        ("建议24小时内就医。", "建议48小时内就医。", ("24", "48")),
        ("Do not drive.", "Do drive.", ("not ", "")),
    ],
)
def test_the_span_of_two_texts_has_whole_words(reference: str, candidate: str, changed: tuple[str, str]) -> None:
    span = changed_span(reference, candidate)
    assert span is not None
    spans = reference[span.start : span.reference_end], candidate[span.start : span.candidate_end]
    assert spans == changed


def test_more_than_fifteen_of_a_hundred_words_bring_a_warning() -> None:
    """By hand: 3 of 20 words are 15%, 4 are 20%."""
    words = [f"w{number}" for number in range(20)]
    reference = " ".join(words)
    for n, warns in ((3, False), (4, True)):
        candidate = " ".join([*(f"x{number}" for number in range(n)), *words[n:]])
        span = changed_span(reference, candidate)
        assert span is not None
        assert changed_share(reference, candidate, span) == pytest.approx(n / 20)
        assert bool(import_warning(reference, candidate, span)) is warns
    assert n_words("成人每日不超过4克 in 24 hours") == 12
