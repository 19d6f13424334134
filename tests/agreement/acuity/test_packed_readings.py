"""Readings in a few bytes each are those that they were packed from."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement.acuity import inputs, packed_readings
from agreement.acuity.inputs import read_inputs
from agreement.acuity.packed_readings import N_REASONS, PackedNumbers, PackedReadings
from annotation.models import ReferenceSet
from rubrics.models import AcuityScale, Candidate
from tests.agreement.acuity.test_acuity_of_runs import reading, run_of
from tests.factories import CandidateFactory

N_CASES, N_SERIES, N_LEVELS = 4, 3, 4
Reading = tuple[int, int, int, int, float]
READINGS = st.dictionaries(
    st.tuples(st.integers(0, N_CASES - 1), st.integers(0, N_SERIES - 1), st.sampled_from((0, 1, 7, 300, 70_000))),
    st.tuples(st.integers(-4, N_LEVELS - 1), st.sampled_from((float("nan"), 0.0, 0.25, 1 / 3, 1.0))),
    max_size=40,
)


def packed(rows: list[Reading], n_cases: int = N_CASES) -> PackedReadings:
    case, series, sample, answer = (np.array([row[place] for row in rows], dtype=np.int64) for place in range(4))
    confidence = np.array([row[4] for row in rows], dtype=np.float64)
    return PackedReadings.of(
        (n_cases, N_SERIES), case=case, series=series, sample=sample, answer=answer, confidence=confidence,
        share=confidence / 3, descending=sample % 2,
    )  # fmt: skip


def unpacked(readings: PackedReadings) -> list[Reading]:
    """Case, series, sample, answer and confidence of each, from its blocks."""
    rows: list[Reading] = []
    for block in readings.blocks():
        answer = np.where(block.place >= 0, block.place, -block.state)
        confidence = readings.confidence[block.start : block.end]
        columns = (block.cell // N_SERIES, block.cell % N_SERIES, block.sample, answer, confidence)
        rows += zip(*(column.tolist() for column in columns), strict=True)
    return rows


def same(rows: list[Any]) -> list[str]:
    """NaN is the same as NaN."""
    return list(map(repr, rows))


@pytest.mark.slow
@given(readings=READINGS, order=st.randoms())
def test_packing_only_sorts(readings: dict[Any, Any], order: Any) -> None:
    rows = [(*key, *value) for key, value in readings.items()]
    shuffled = list(rows)
    order.shuffle(shuffled)
    own = packed(shuffled)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_readings, "BLOCK", 3)
        assert same(unpacked(own)) == same(sorted(rows, key=lambda row: row[:3]))
        counts = own.counts(N_LEVELS)
    expected = Counter(row[:2] + row[3:4] for row in rows)
    for case, series, code in np.ndindex(counts.shape):
        assert counts[case, series, code] == expected[case, series, code - N_REASONS]
    assert own.sample_numbers().tolist() == sorted({row[2] for row in rows})
    for series in range(N_SERIES):
        of_series = sorted(row for row in rows if row[1] == series)
        own_series = own.of_series(series)
        assert own_series.case.tolist() == [row[0] for row in of_series]
        assert own_series.place.tolist() == [max(row[3], -1) for row in of_series]
        assert same(own_series.confidence.tolist()) == same([row[4] for row in of_series])
        assert own_series.share is not None and same(own_series.share.tolist()) == same(
            [row[4] / 3 for row in of_series]
        )
        assert own_series.descending is not None and own_series.descending.tolist() == [row[2] % 2 for row in of_series]


@pytest.mark.slow
@given(readings=READINGS, split=st.integers(0, N_CASES), data=st.data())
def test_parts_are_joined_and_arranged(readings: dict[Any, Any], split: int, data: st.DataObject) -> None:
    rows = [(*key, *value) for key, value in readings.items()]
    first = packed([row for row in rows if row[0] < split], split)
    second = packed([(row[0] - split, *row[1:]) for row in rows if row[0] >= split], N_CASES - split)
    joined = PackedReadings.joined([first, second])
    assert same(unpacked(joined)) == same(unpacked(packed(rows)))
    cases = data.draw(st.permutations([*range(N_CASES), -1]))
    series = data.draw(st.permutations(range(N_SERIES)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_readings, "BLOCK", 3)
        arranged = joined.arranged(np.array(cases), np.array(series))
        moved = [(cases.index(row[0]), series.index(row[1]), *row[2:]) for row in rows]
        assert same(unpacked(arranged)) == same(sorted(moved, key=lambda row: row[:3]))


def test_many_different_numbers_stay_as_they_are() -> None:
    """From 65,537 values on a code is no shorter."""
    numbers = np.random.default_rng(0).random(70_000)
    numbers[5] = np.nan
    few = np.array([0.5, np.nan, 0.5])
    whole = PackedNumbers.of(numbers)
    assert whole.values is None
    for own in (whole, PackedNumbers.joined([whole, PackedNumbers.of(few)])):
        assert np.array_equal(own[: len(numbers)], numbers, equal_nan=True)
    assert np.array_equal(PackedNumbers.joined([whole, PackedNumbers.of(few)])[70_000:], few, equal_nan=True)
    assert PackedNumbers.of(few).codes.dtype == np.uint8


@pytest.mark.slow
@pytest.mark.django_db
def test_windows_of_any_size_give_the_same_inputs(scale: AcuityScale, monkeypatch: pytest.MonkeyPatch) -> None:
    """Imported readings and those of a run; a step without an answer is planned."""
    candidate = CandidateFactory(benchmark=scale.benchmark, name="A new one")
    answers: dict[tuple[str, int], Any] = {
        (f"c{i:02}", sample): reading(i % 3, confidence=i / 20) for i in range(12) for sample in range(3)
    }
    answers["c03", 1] = None
    run_of(scale, candidate, answers)
    names = list(Candidate.objects.filter(benchmark=scale.benchmark).values_list("name", flat=True))
    reference_set = ReferenceSet.objects.get()
    whole = read_inputs(reference_set, names)
    monkeypatch.setattr(inputs, "MAX_ROWS", 5)
    monkeypatch.setattr(packed_readings, "BLOCK", 2)
    parts = read_inputs(reference_set, names)
    assert parts.digest == whole.digest
    assert parts.data.planned is not None and whole.data.planned is not None
    assert parts.data.planned.tolist() == whole.data.planned.tolist()
    run = whole.data.series_names.index(("A new one", "qa"))
    assert whole.data.planned[:, run].sum() == 36
    assert whole.data.readings.numbers[:, run].sum() == 35
