"""Ranges of ranks by paired comparisons, against SciPy's paired t-test, plain loops and numbers worked out by hand."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.rank_ranges import holm_ranges, paired_rank_ranges
from tests.statistics.by_hand import rank_ranges


def of_means(scores) -> CaseFigures:
    """One candidate a column, one case a row; the figure is the mean score."""
    scores = np.asarray(scores, dtype=float)
    return case_ratio(scores, np.ones(scores.shape))


def ends_of(ranges) -> list[tuple[float, float, float]]:
    return [(figure.value, figure.low, figure.high) for figure in ranges]


def test_holms_correction_by_hand():
    # p of the pairs 0-1, 0-2, 0-3, 1-2, 1-3, 2-3; candidate 0 is the highest, 3 the lowest.
    p = dict(zip(combinations(range(4), 2), (0.030, 0.020, 0.001, 0.60, 0.024, 0.012), strict=True))

    def compare(level: float) -> np.ndarray:
        signs = np.zeros((4, 4), dtype=int)
        for (i, j), value in p.items():
            if value < 1 - level:
                signs[i, j], signs[j, i] = 1, -1
        return signs

    # Of 0: 0.001 < 0.05/3, 0.020 < 0.05/2, 0.030 < 0.05: above all. Of 1: 0.024 and 0.030 are above 0.05/3: nobody.
    # Of 2: 0.012 < 0.05/3, 0.020 < 0.05/2, then 0.60: above 3, below 0. Of 3: 0.001, then 0.012, then 0.024.
    low, high = holm_ranges(compare, 4)
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 1), (1, 4), (2, 3), (4, 4)]
    tied = np.zeros((4, 4), dtype=bool)
    tied[2, 3] = tied[3, 2] = True
    low, high = holm_ranges(compare, 4, tied)
    # Of 2, 0.020 is now the least and above 0.05/3: the tie counts as a comparison. Of 3: 0.001, then 0.024 < 0.05/2.
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 1), (1, 4), (1, 4), (3, 4)]


@pytest.mark.parametrize("seed", range(30))
def test_steps_by_intervals_are_holms_steps_by_p(seed):
    """With paired t intervals the ranges follow from SciPy's p values, sorted and held against 0.05/m."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(12, 5)) + rng.normal(size=(12, 1)) + np.linspace(0, 2.5, 5)
    means, n = scores.mean(axis=0), len(scores)

    def compare(level: float) -> np.ndarray:
        apart = scores[:, :, None] - scores[:, None, :]
        half = stats.t.ppf((1 + level) / 2, n - 1) * apart.std(axis=0, ddof=1) / sqrt(n)
        return np.where(np.abs(apart.mean(axis=0)) > half, np.sign(apart.mean(axis=0)), 0).astype(int)

    low, high = holm_ranges(compare, 5)
    for i in range(5):
        others = [j for j in range(5) if j != i]
        p = sorted((stats.ttest_rel(scores[:, i], scores[:, j]).pvalue, j) for j in others)
        apart = []
        for place, (value, j) in enumerate(p):
            if value >= 0.05 / (4 - place):
                break
            apart.append(j)
        assert low[i] == 1 + sum(means[j] > means[i] for j in apart)
        assert high[i] == 5 - sum(means[j] < means[i] for j in apart)


@pytest.mark.parametrize("seed", range(12))
def test_ranges_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(8, 31, 14)
    shares = 1 / (1 + np.exp(-(rng.normal(size=(14, 1)) + np.linspace(-1.2, 1.2, 6))))
    hits = rng.binomial(sizes[:, None], shares)
    figures = case_ratio(hits, np.broadcast_to(sizes[:, None], hits.shape), scale=100.0)
    expected = rank_ranges(hits.tolist(), sizes.tolist())
    assert ends_of(paired_rank_ranges(figures)) == expected
    assert any((low, high) != (1, 6) for _, low, high in expected)  # somebody is told apart


def test_ties_may_take_any_of_their_places_and_are_never_separated():
    rng = np.random.default_rng(2)
    scores = rng.random((40, 3)) / 2
    scores[:, 1] = scores[::-1, 0]  # the same mean, from other cases
    scores[:, 2] += 0.5
    assert ends_of(paired_rank_ranges(of_means(scores))) == [(2, 2, 3), (2, 2, 3), (1, 1, 1)]
    # Two candidates without variation, one with: their intervals are those of the number of cases.
    level = np.full((40, 2), 0.25)
    assert ends_of(paired_rank_ranges(of_means(level))) == [(1, 1, 2)] * 2


def test_candidates_level_once_clipped_are_tied():
    rng = np.random.default_rng(3)
    scores = rng.random((30, 3)) / 10 + np.array([-0.3, -0.6, 0.4])
    figures = case_ratio(scores, np.ones(scores.shape), bounds=(-1.0, 1.0), clip=(0.0, 1.0))
    assert ends_of(paired_rank_ranges(figures)) == [(2, 2, 3), (2, 2, 3), (1, 1, 1)]


def test_both_at_their_bounds_need_cases_to_be_separated():
    def ranges(cases: int) -> list[tuple[float, float, float]]:
        return ends_of(paired_rank_ranges(of_means(np.tile([1.0, 0.0], (cases, 1)))))

    # All of 5 against none of 5: mid-p leaves out no more than 0.549 to 1 and 0 to 0.451, 0.05^(1/5) = 0.549. MOVER:
    # 1 - √(0.451² + 0.451²) = 0.362 > 0, so that they are told apart.
    assert ranges(5) == [(1, 1, 1), (2, 2, 2)]


@pytest.mark.parametrize(
    ("shared", "note"), [(0, "it has no shared case"), (4, "it shares too few cases (5 needed)"), (5, "")]
)
def test_only_candidates_with_five_shared_cases_are_compared(shared: int, note: str):
    """One candidate is right on all of its 9 cases, the other on none of its 9: the cases of both tell them apart."""
    present = np.zeros((18 - shared, 2))
    present[:9, 0] = present[9 - shared :, 1] = 1
    ranges = paired_rank_ranges(case_ratio(present * [1.0, 0.0], present))
    assert ends_of(ranges) == ([(1, 1, 2), (2, 1, 2)] if note else [(1, 1, 1), (2, 2, 2)])
    words = f"range not narrowed by 1 candidate with which {note}" if note else ""
    assert [figure.note for figure in ranges] == [words] * 2


def test_a_candidate_without_shared_cases_leaves_the_comparison_of_the_others():
    # Two are right on all and on none of the same 9 cases; the third has other cases, and may be above or below both.
    present = np.zeros((18, 3))
    present[:9, :2] = present[9:, 2] = 1
    assert ends_of(paired_rank_ranges(case_ratio(present * [1.0, 0.0, 0.5], present))) == [
        (1, 1, 2),
        (3, 2, 3),
        (2, 1, 3),
    ]


def test_what_is_undefined_says_why():
    scores = np.random.default_rng(4).random((12, 4))
    present = np.ones((12, 4))
    present[4:, 0] = 0  # four cases
    present[:, 1] = 0  # none
    few, none, first, second = paired_rank_ranges(case_ratio(scores * present, present))
    assert few.note == "no rank: 4.0 of the 5 effective cases needed"
    assert none.note == "no figure by which to rank"
    assert {first.value, second.value} == {1, 2}
    assert [figure.n for figure in (few, none, first, second)] == [2] * 4
    alone = paired_rank_ranges(case_ratio(scores[:, :1], present[:, 2:3]))[0]
    assert alone.note == "no rank: no other candidate to be ranked with"
    assert paired_rank_ranges(case_ratio(scores[:, :0], present[:, :0])) == []
    five = paired_rank_ranges(of_means(scores[:5]))
    assert all(figure.defined for figure in five)


def test_cases_of_unequal_size_count_by_their_effective_number():
    # Sizes 20, 1, 1, 1, 1, 1: G* = 25² / 405 = 1.54.
    sizes = np.array([[20.0, 20], [1, 1], [1, 1], [1, 1], [1, 1], [1, 1]])
    ranges = paired_rank_ranges(case_ratio(sizes / 2, sizes))
    assert ranges[0].note == "no rank: 1.5 of the 5 effective cases needed"


def test_candidates_with_the_same_difference_in_every_case_keep_a_common_range():
    # One criterion of ten more in each of eight cases: their cases do not show how the difference spreads.
    met = np.array([2, 5, 4, 7, 3, 8, 6, 1])
    ranges = paired_rank_ranges(of_means(np.stack([met, met + 1], axis=1) / 10))
    assert [(figure.value, figure.low, figure.high) for figure in ranges] == [(2, 1, 2), (1, 1, 2)]


cases = st.integers(5, 12)


@st.composite
def tables(draw):
    n, candidates = draw(cases), draw(st.integers(2, 6))
    counts = st.lists(st.lists(st.integers(0, 6), min_size=candidates, max_size=candidates), min_size=n, max_size=n)
    return np.array(draw(counts)) / 6


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_ranges_hold_the_rank_and_depend_on_no_order(scores, random):
    size = scores.shape[1]
    ranges = paired_rank_ranges(of_means(scores))
    means = np.round(scores.mean(axis=0), 9)
    for i, figure in enumerate(ranges):
        assert figure.value == 1 + (means > means[i]).sum()
        assert 1 <= figure.low <= figure.value <= figure.high <= size
        assert figure.high >= (means >= means[i]).sum()  # the last place of a tie
    columns, rows = list(range(size)), list(range(len(scores)))
    random.shuffle(columns)
    random.shuffle(rows)
    assert paired_rank_ranges(of_means(scores[rows][:, columns])) == [ranges[i] for i in columns]
    # What is missing instead of what is met turns the order round.
    turned = paired_rank_ranges(of_means(1 - scores))
    assert [(figure.low, figure.high) for figure in turned] == [
        (size + 1 - figure.high, size + 1 - figure.low) for figure in ranges
    ]


@pytest.mark.slow
@pytest.mark.parametrize("half", [0.02, 0.8])
def test_the_true_rank_of_each_candidate_is_held(half):
    """Eleven candidates, ten cases, 400 repetitions; `bench/rank_coverage.py` has the whole table."""
    rng = np.random.default_rng(18)
    logits = np.linspace(half, -half, 11)
    held = []
    for _ in range(400):
        effects = sqrt(0.7) * rng.normal(size=(10, 1)) + sqrt(0.3) * rng.normal(size=(10, 11))
        scores = rng.binomial(30, 1 / (1 + np.exp(-(logits + effects)))) / 30
        held.append(
            [figure.low <= rank <= figure.high for rank, figure in enumerate(paired_rank_ranges(of_means(scores)), 1)]
        )
    assert np.mean(held, axis=0).min() >= 0.95
