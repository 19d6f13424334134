"""Two raters compared on arrays: equal to scikit-learn, and honest about what is left out or undefined."""

from __future__ import annotations

import csv
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score

from agreement.counting.compare import COLUMNS, compare
from agreement.counting.frame import CaseLabels, Frame
from agreement.counting.pairs import Pairs, PairStatus, pair
from consilium.core.ratings import Ratings
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.outcomes import Outcome

CRITERIA = 4
CANDIDATES = ("alpha", "beta")


def frame(cases: int) -> Frame:
    """``cases`` cases of four criteria, two candidates that answered each; ids are not their places."""
    n_responses = cases * len(CANDIDATES)
    even = np.arange(cases) % 2 == 0
    return Frame(
        response_ids=np.arange(n_responses) * 3 + 100,
        response_case=np.arange(n_responses) // len(CANDIDATES),
        response_candidate=np.arange(n_responses) % len(CANDIDATES),
        response_sample=np.zeros(n_responses, np.int32),
        other_settings={},
        criterion_ids=np.arange(cases * CRITERIA) + 5000,
        criterion_case=np.arange(cases * CRITERIA) // CRITERIA,
        case_ids=np.arange(cases),
        cases=[
            CaseLabels(f"case-{n}", "low" if even[n] else "high", "lay", ("theme:even",) if even[n] else ())
            for n in range(cases)
        ],
        candidate_ids=np.arange(len(CANDIDATES)),
        candidates=list(CANDIDATES),
        criterion_tags={
            "axis:first": np.arange(cases) * CRITERIA,
            # A tag of cases that a few criteria of the other cases have too: one slice.
            "theme:even": np.array([CRITERIA], dtype=np.int64) if cases > 1 else np.array([], dtype=np.int64),
        },
    )


def everything(frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Ids of every (response, criterion) pair of the frame, sorted."""
    response = np.repeat(np.arange(len(frame.response_ids)), CRITERIA)
    criterion = frame.response_case[response] * CRITERIA + np.tile(np.arange(CRITERIA), len(frame.response_ids))
    return frame.response_ids[response], frame.criterion_ids[criterion]


def ratings(frame: Frame, outcomes: Any) -> Ratings:
    return Ratings.of(*everything(frame), outcomes)


def rows_by_slice(frame: Frame, pairs: Pairs, **options: Any) -> dict[str, dict[str, Any]]:
    return {row["slice"]: row for row in compare(frame, pairs, **options).rows}


binary = st.integers(2, 14).flatmap(
    lambda cases: st.tuples(
        st.just(cases),
        *(st.lists(st.integers(0, 1), min_size=cases * 8, max_size=cases * 8) for _ in range(2)),
    )
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(binary)
def test_every_slice_has_the_mf1_and_kappa_of_scikit_learn(drawn: tuple[int, list[int], list[int]]) -> None:
    cases, a, b = drawn
    study_frame = frame(cases)
    rows = rows_by_slice(study_frame, pair(ratings(study_frame, a), ratings(study_frame, b)))
    response, criterion = everything(study_frame)
    place = (response - 100) // 3
    case, first = place // 2, (criterion - 5000) % CRITERIA == 0
    members = {
        "all": np.ones(len(a), bool),
        "candidate:alpha": place % 2 == 0,
        "candidate:beta": place % 2 == 1,
        "response:beta/case-1/0": place == 3,
        "difficulty:low": case % 2 == 0,
        "difficulty:high": case % 2 == 1,
        "register:lay": np.ones(len(a), bool),
        "axis:first": first,
        "theme:even": (case % 2 == 0) | (criterion == 5000 + CRITERIA),
    }
    assert members.keys() <= rows.keys()
    assert len(rows) == 1 + 2 + 2 * cases + 2 + 1 + 2
    for name, mask in members.items():
        x, y = np.array(a)[mask], np.array(b)[mask]
        row = rows[name]
        labels = sorted({*x.tolist(), *y.tolist()})
        assert row["n_pairs"] == mask.sum()
        assert row["mf1"] == pytest.approx(f1_score(x, y, average="macro", labels=labels, zero_division=0), abs=1e-12)
        assert row["raw"] == pytest.approx((x == y).mean(), abs=1e-12)
        assert row["n_cases"] == len(np.unique(case[mask]))
        assert row["n_responses"] == len(np.unique(place[mask]))
        if row["kappa"] is None:
            assert "kappa" in row["note"]
        else:
            assert row["kappa"] == pytest.approx(cohen_kappa_score(x, y), abs=1e-12)


MET, NOT_MET, CANNOT, INVALID = Outcome.MET, Outcome.NOT_MET, Outcome.CANNOT_ASSESS, Outcome.INVALID
UNDECIDED, FAULTY, MISSING = Outcome.UNDECIDED, Outcome.FAULTY, Outcome.MISSING


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (MET, MET, PairStatus.TP),
        (NOT_MET, MET, PairStatus.FP),
        (MET, NOT_MET, PairStatus.FN),
        (NOT_MET, NOT_MET, PairStatus.TN),
        (MET, INVALID, PairStatus.INVALID_ON_MET),
        (NOT_MET, INVALID, PairStatus.INVALID_ON_NOT_MET),
        (MET, MISSING, PairStatus.MISSING_ON_MET),
        (NOT_MET, MISSING, PairStatus.MISSING_ON_NOT_MET),
        (INVALID, MET, PairStatus.REFERENCE_INVALID),
        (INVALID, INVALID, PairStatus.REFERENCE_INVALID),
        (CANNOT, MET, PairStatus.CANNOT),
        (NOT_MET, CANNOT, PairStatus.CANNOT),
        (CANNOT, INVALID, PairStatus.CANNOT),
        (CANNOT, MISSING, PairStatus.CANNOT),
        (INVALID, CANNOT, PairStatus.CANNOT),
        (UNDECIDED, CANNOT, PairStatus.UNDECIDED),
        (MET, UNDECIDED, PairStatus.UNDECIDED),
        (FAULTY, UNDECIDED, PairStatus.FAULTY),
        (MET, FAULTY, PairStatus.FAULTY),
    ],
)
def test_counting_rules(a: int, b: int, expected: PairStatus) -> None:
    study_frame = frame(1)
    assert set(pair(ratings(study_frame, [a] * 8), ratings(study_frame, [b] * 8)).status.tolist()) == {expected}


def test_what_is_left_out_is_counted() -> None:
    study_frame = frame(1)
    a = [1, 1, 0, 0, Outcome.CANNOT_ASSESS, 1, Outcome.UNDECIDED, 1]
    b = [1, 0, 0, Outcome.INVALID, 1, Outcome.CANNOT_ASSESS, 1, 1]
    response, criterion = everything(study_frame)
    faulty = Ratings.of(response[-1:], criterion[-1:], [Outcome.FAULTY])
    row = rows_by_slice(study_frame, pair(ratings(study_frame, a), ratings(study_frame, b), faulty=faulty))["all"]
    # Left: (1,1) (1,0) (0,0) and (0,invalid), which counts as a met of B. F1 met 2/4, F1 not met 2/4.
    assert (row["n_pairs"], row["n_invalid"], row["n_cannot"]) == (4, 1, 2)
    assert row["mf1"] == pytest.approx(0.5)
    # Without it: F1 met 2/3, F1 not met 2/3; raw agreement of the three valid pairs 2/3.
    assert row["raw"] == pytest.approx(2 / 3)
    assert row["mf1_valid"] == pytest.approx(2 / 3)
    assert "mf1 on the 3 pairs with a valid verdict: 0.666667" in row["note"]
    assert (row["n_undecided"], row["n_faulty"]) == (1, 1)
    assert "1 pair excluded: undecided" in row["note"]
    assert "1 pair excluded: criterion faulty" in row["note"]


def test_a_due_verdict_that_never_came_counts_as_the_opposite_and_one_never_due_does_not() -> None:
    study_frame = frame(1)
    response, criterion = everything(study_frame)
    a = ratings(study_frame, [1] * 8)
    b = Ratings.of(response[:4], criterion[:4], [1] * 4)
    due = Ratings.of(response[:6], criterion[:6], [Outcome.UNDECIDED] * 6)
    row = rows_by_slice(study_frame, pair(a, b, due_of_b=due))["all"]
    assert (row["n_pairs"], row["n_invalid"]) == (6, 2)
    # F1 met: 8 / (8 + 2); F1 not met: 0.
    assert row["mf1"] == pytest.approx((0.8 + 0) / 2)
    assert rows_by_slice(study_frame, pair(a, b))["all"]["n_pairs"] == 4


def test_no_shared_pair_gives_a_reason_and_no_number() -> None:
    study_frame = frame(12)
    response, criterion = everything(study_frame)
    a, b = Ratings.of(response[:8], criterion[:8], [1] * 8), Ratings.of(response[8:], criterion[8:], [1] * 88)
    comparison = compare(study_frame, pair(a, b))
    assert [row["slice"] for row in comparison.rows] == ["all"]
    assert {
        comparison.overall[name] for name in COLUMNS if name.startswith(("mf1", "f1", "raw", "kappa", "a", "prev"))
    } == {None}
    assert comparison.overall["n_pairs"] == 0
    assert "share no pair" in comparison.overall["note"]
    assert rows_by_slice(study_frame, pair(Ratings.of([], [], []), b))["all"]["mf1"] is None
    assert rows_by_slice(study_frame, pair(a, Ratings.of([], [], [])))["all"]["mf1"] is None


def test_constant_raters_have_no_kappa_and_no_alpha() -> None:
    study_frame = frame(12)
    row = rows_by_slice(study_frame, pair(ratings(study_frame, [1] * 96), ratings(study_frame, [1] * 96)))["all"]
    assert (row["kappa"], row["alpha"]) == (None, None)
    assert (row["mf1"], row["f1_met"], row["f1_not_met"]) == (1.0, 1.0, None)
    assert "kappa" in row["note"]
    assert "neither rater said not met" in row["note"]


@pytest.mark.parametrize(("cases", "has_interval"), [(4, False), (5, True)])
def test_an_interval_needs_five_effective_cases(cases: int, has_interval: bool) -> None:
    study_frame = frame(cases)
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, cases * 8))
    row = rows_by_slice(study_frame, pair(ratings(study_frame, a), ratings(study_frame, b)))["all"]
    assert (row["mf1_low"] is not None) == has_interval
    assert ("of the 5 effective cases needed" in row["note"]) != has_interval
    if has_interval:
        assert row["mf1_low"] < row["mf1"] < row["mf1_high"]


@pytest.mark.slow
def test_a_percentile_interval_is_that_of_a_plain_bootstrap_over_cases() -> None:
    """1,000 resamples drawn one by one with scikit-learn, by another generator: the ends agree to chance."""
    cases = 40
    study_frame = frame(cases)
    rng = np.random.default_rng(11)
    truth = rng.random(cases * 8) < np.repeat(rng.random(cases), 8)
    a, b = (np.where(rng.random(cases * 8) < 0.15, ~truth, truth).astype(int) for _ in range(2))
    paired = pair(ratings(study_frame, a), ratings(study_frame, b))
    row = rows_by_slice(study_frame, paired, rule=PercentileBootstrap(0))["all"]
    x, y = a.reshape(cases, 8), b.reshape(cases, 8)
    drawn = []
    for _ in range(1000):
        chosen = rng.integers(cases, size=cases)
        drawn.append(f1_score(x[chosen].ravel(), y[chosen].ravel(), average="macro"))
    low, high = np.quantile(drawn, [0.025, 0.975])
    width = high - low
    assert row["mf1_low"] == pytest.approx(low, abs=0.15 * width)
    assert row["mf1_high"] == pytest.approx(high, abs=0.15 * width)


def test_order_of_the_decisions_changes_nothing_and_swapping_raters_only_what_must_swap() -> None:
    study_frame = frame(11)
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 3, (2, 88))
    response, criterion = everything(study_frame)
    plain = list(compare(study_frame, pair(ratings(study_frame, a), ratings(study_frame, b))).rows)
    for _ in range(5):
        first, second = rng.permutation(88), rng.permutation(88)
        mixed = pair(
            Ratings.of(response[first], criterion[first], a[first]),
            Ratings.of(response[second], criterion[second], b[second]),
        )
        assert list(compare(study_frame, mixed).rows) == plain
    for row, other in zip(
        plain, compare(study_frame, pair(ratings(study_frame, b), ratings(study_frame, a))).rows, strict=True
    ):
        assert (other["prevalence_a"], other["prevalence_b"]) == (row["prevalence_b"], row["prevalence_a"])
        for name in ("slice", "n_pairs", "mf1", "mf1_low", "mf1_high", "raw", "kappa", "ac1", "alpha", "n_cannot"):
            assert other[name] == row[name]


def test_columns_are_the_contract() -> None:
    """The header of agreement.csv, word for word as the contract has it."""
    contract = (
        "slice,n_pairs,n_responses,n_cases,mf1,mf1_low,mf1_high,f1_met,f1_not_met,raw,kappa,ac1,alpha,prevalence_a,"
        "prevalence_b,n_invalid,n_cannot,note"
    )
    assert list(COLUMNS) == next(csv.reader([contract]))
