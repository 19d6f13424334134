"""Files of pairs: all of a file, or nothing with every fault named."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from django.utils import timezone

from consilium.core.errors import ImportRefused
from rubrics.models import Benchmark
from tests.factories import BenchmarkFactory, CaseFactory
from validation.models import NearMissPair, PairGroup
from validation.pairs.importing import import_pairs

pytestmark = pytest.mark.django_db
ANSWER = "Take 500 mg every six hours, at most four times a day, and see a doctor if the fever lasts for three days."


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    own = BenchmarkFactory(slug="files")
    CaseFactory(benchmark=own, key="a", rubric=0, reference_answer=ANSWER)
    CaseFactory(benchmark=own, key="b", rubric=0)
    return own


def bring(benchmark: Benchmark, content: bytes, **options: str) -> dict[str, Any]:
    return import_pairs(
        benchmark=benchmark, file=BytesIO(content), options={"group": "G", **options}, by=None, at=timezone.now(),
        progress=lambda done: None,
    )  # fmt: skip


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_both_shapes_and_both_formats_make_the_same_pairs(benchmark: Benchmark) -> None:
    by_words = {"case": "a", "kind": "dose", "find": "500 mg", "replace": "5000 mg", "why": "Ten times too much."}
    whole = {
        "case": "a",
        "kind": "timing",
        "candidate": ANSWER.replace("three", "nine"),
        "pair": "days",
        "axis": "axis:accuracy",
    }
    assert bring(benchmark, lines(by_words, whole))["pairs"] == {"created": 2, "unchanged": 0}
    pairs = {pair.key: pair for pair in NearMissPair.objects.all()}
    assert set(pairs) == {"a-1", "days"}
    assert pairs["a-1"].candidate == ANSWER.replace("500", "5000")
    days = pairs["days"]
    assert (days.reference, days.axis, days.change) == (ANSWER, "accuracy", "“three” → “nine”")
    assert days.candidate[days.start : days.candidate_end] == "nine"
    assert (days.origin, days.state, days.warning) == ("import", "proposed", "")
    # The same again changes nothing; as CSV they are the same pairs.
    assert bring(benchmark, lines(by_words, whole))["pairs"] == {"created": 0, "unchanged": 2}
    table = f'case,kind,find,replace\na,dose,500 mg,5000 mg\na,negation,"{ANSWER[30:60]}",\n'.encode()
    assert bring(benchmark, table)["pairs"] == {"created": 1, "unchanged": 1}
    assert NearMissPair.objects.get(kind="negation").candidate == ANSWER[:30] + ANSWER[60:]
    assert PairGroup.objects.get().judgements_due == 1


def test_every_fault_is_named_and_nothing_comes_in(benchmark: Benchmark) -> None:
    rows = [
        {"case": "none", "kind": "dose", "candidate": "x"},
        {"case": "a", "kind": "typo", "candidate": "x"},
        {"case": "b", "kind": "dose", "candidate": "x"},
        {"case": "a", "kind": "dose"},
        {"case": "a", "kind": "dose", "candidate": ANSWER},
        {"case": "a", "kind": "dose", "find": "a", "replace": "b"},
        {"case": "a", "kind": "dose", "find": "500", "replace": "50", "pair": "p"},
        {"case": "a", "kind": "dose", "find": "500", "replace": "60", "pair": "p"},
    ]
    with pytest.raises(ImportRefused) as refused:
        bring(benchmark, lines(*rows))
    faults = [(error.line, error.field) for error in refused.value.errors]
    assert faults == [
        (1, "case"), (2, "kind"), (3, "reference"), (4, "candidate"), (5, "candidate"), (6, "find"), (8, "pair"),
    ]  # fmt: skip
    assert NearMissPair.objects.count() == 0
    with pytest.raises(ImportRefused, match="no pair"):
        bring(benchmark, b"case,kind,find,replace\n")


def test_texts_that_differ_in_many_words_bring_a_warning(benchmark: Benchmark) -> None:
    counts = bring(benchmark, lines({"case": "a", "kind": "drug", "candidate": "Do nothing at all.", "more": 1}))
    (wide, unread) = counts["warnings"]
    assert "15%" in wide and "line 1" in wide
    assert unread.endswith("more")
    assert "100%" in NearMissPair.objects.get().warning


def test_a_pair_of_the_same_name_with_other_texts_is_refused(benchmark: Benchmark) -> None:
    bring(benchmark, lines({"case": "a", "kind": "dose", "find": "500", "replace": "50", "pair": "p"}))
    with pytest.raises(ImportRefused, match="another pair"):
        bring(benchmark, lines({"case": "a", "kind": "dose", "find": "500", "replace": "60", "pair": "p"}))
