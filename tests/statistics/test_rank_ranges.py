"""Ranges of ranks against a naive loop over resamples and numbers worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.rank_ranges import places, rank_ranges


def test_places_of_tied_candidates() -> None:
    best, worst = places([0.4, 0.9, 0.4 + 1e-12, 0.1])
    assert best.tolist() == [2, 1, 2, 4]  # 1, 2, 2, 4
    assert worst.tolist() == [3, 1, 3, 4]


def test_ends_are_ranks_that_occurred_and_a_tie_may_take_any_of_its_places() -> None:
    # 100 resamples: "a" leads in 90, is tied in 5, and is behind in 5.
    a = np.array([2.0] * 90 + [1.0] * 5 + [0.0] * 5)
    b = np.ones(100)
    ranks = rank_ranges([2.0, 1.0], np.stack([a, b]), [50, 50])
    # By hand, for a: best places 1 in 95, 2 in 5; worst places 1 in 90, 2 in 10: both ends of 95% reach 1 and 2.
    assert [(rank.value, rank.low, rank.high, rank.n) for rank in ranks] == [(1, 1, 2, 2), (2, 1, 2, 2)]
    # Of 40 resamples the ends lie between two of them (2.5% of 39 is 0.975): outwards, to the one that differs.
    once = np.array([2.0] * 39 + [0.0])
    assert [(rank.low, rank.high) for rank in rank_ranges([2.0, 1.0], np.stack([once, b[:40]]), [50, 50])] == [
        (1, 2)
    ] * 2
    always = rank_ranges([2.0, 1.0], np.stack([b + 1, b]), [50, 50])
    assert [(rank.low, rank.high) for rank in always] == [(1, 1), (2, 2)]
    tied = rank_ranges([1.0, 1.0, 1.0], np.ones((3, 100)), [50] * 3)
    assert [(rank.value, rank.low, rank.high) for rank in tied] == [(1, 1, 3)] * 3


def test_ranges_of_means_are_those_of_a_naive_loop() -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=(40, 5)) + np.arange(5) * 0.15
    bootstrap = CaseBootstrap(40, seed=5, resamples=200)
    figures = rank_ranges(scores.mean(axis=0).tolist(), bootstrap.totals(scores) / 40, [40] * 5)
    weights = np.concatenate(list(bootstrap.weight_blocks()))
    for i, figure in enumerate(figures):
        ranks = []
        for drawn in weights:
            means = drawn @ scores / 40
            ranks.append(1 + sum(other > means[i] for other in means))
        ranks.sort()
        assert (figure.low, figure.high) == (ranks[int(0.025 * 199)], ranks[int(0.975 * 199) + 1])
        assert figure.low <= figure.value <= figure.high


def test_what_is_undefined_says_why() -> None:
    drawn = np.ones((3, 20))
    few, none, alone = rank_ranges([1.0, None, 2.0], drawn, [9, 50, 50])
    assert few.note == "no rank: 9 of the 10 cases needed"
    assert none.note == "no figure by which to rank"
    assert alone.note == "no rank: no other candidate to be ranked with"
    assert [rank.value for rank in (few, none, alone)] == [None] * 3
    assert rank_ranges([], np.ones((0, 20)), []) == []
    drawn[2, :2] = np.nan  # a tenth of the resamples: more than one in twenty
    first, _, last = rank_ranges([1.0, None, 2.0], drawn, [50, 50, 50])
    assert (first.value, first.low, last.value) == (2, None, 1)
    assert first.note == "no interval: undefined in 2 of 20 resamples"


@pytest.mark.parametrize("seed", range(20))
def test_the_order_of_candidates_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, drawn = rng.integers(0, 4, 6) / 4, rng.integers(0, 4, (6, 50)) / 4
    order = rng.permutation(6)
    ranks = rank_ranges(values.tolist(), drawn, [50] * 6)
    assert rank_ranges(values[order].tolist(), drawn[order], [50] * 6) == [ranks[i] for i in order]


def test_resamples_do_not_compare_candidates_with_fewer_than_ten_shared_cases():
    """Each of three keeps its place in every resample; the third shares 9 cases with the first, none else."""
    drawn = np.tile(np.array([[0.9], [0.5], [0.1]]), (1, 100)) + np.linspace(0, 0.01, 100)
    shared = np.array([[20, 10, 9], [10, 20, 0], [9, 0, 20]])
    ranges = rank_ranges([0.9, 0.5, 0.1], drawn, [20, 20, 20], shared)
    assert [(figure.value, figure.low, figure.high) for figure in ranges] == [(1, 1, 2), (2, 2, 3), (3, 1, 3)]
    assert [figure.note for figure in ranges] == [
        "range not narrowed by 1 candidate with which it shares too few cases (10 needed)",
        "range not narrowed by 1 candidate with which it has no shared case",
        "range not narrowed by 1 candidate with which it has no shared case; "
        "range not narrowed by 1 candidate with which it shares too few cases (10 needed)",
    ]
