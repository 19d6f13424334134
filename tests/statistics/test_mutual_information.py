"""Information about where disagreement sits: scikit-learn, arithmetic by hand, and permutations that can be counted."""

from __future__ import annotations

from math import log, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.estimate import Undefined
from consilium.statistics.mutual_information import Chance, Units, by_chance, mutual_information


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=8))
def test_equals_scikit_learn(rows: list[tuple[int, int]]) -> None:
    from sklearn.metrics import mutual_info_score

    table = np.array(rows)
    information = mutual_information(table)
    if isinstance(information.bits, Undefined):
        assert min(table.sum(axis=0)) == 0 or np.count_nonzero(table.sum(axis=1)) < 2
        return
    value, event = (np.repeat(index.ravel(), table.ravel()) for index in np.indices(table.shape))
    assert information.bits.value == pytest.approx(mutual_info_score(value, event) / log(2), abs=1e-9)
    assert information.bits.n == table.sum()


def test_by_hand() -> None:
    # 10 pairs of each value; of one 5 differ, of the other none. H(event) at 1/4, given the value 1/2·1.
    information = mutual_information([[5, 5], [10, 0]])
    entropy = -(0.25 * log2(0.25) + 0.75 * log2(0.75))
    assert information.bits.value == pytest.approx(entropy - 0.5)
    # Miller and Madow: an entropy gains (cells − 1)/2n. 2 values, 2 events, 3 cells that occur: 1 + 1 − 2 is nothing.
    assert information.corrected.value == pytest.approx(entropy - 0.5)
    alike = mutual_information([[5, 5], [5, 5]])
    assert alike.bits.value == 0
    assert alike.corrected.value == pytest.approx(-1 / (2 * 20 * log(2)))  # 4 cells: one more than 2 + 2 − 1
    dealt = mutual_information([[5, 5], [10, 0]], Chance(0.1, 0.04))
    assert dealt.excess.value == pytest.approx(entropy - 0.6)
    assert dealt.share.value == pytest.approx((entropy - 0.6) / entropy)
    assert (dealt.by_chance.value, dealt.p.value) == (0.1, 0.04)
    assert information.p == Undefined("no permutations", 20)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((2, 2)), "no pairs"),
        ([[3, 4], [0, 0]], "the attribute has one value only"),
        ([[3, 0], [4, 0]], "the raters never differ"),
        ([[0, 3], [0, 4]], "the raters always differ"),
    ],
)
def test_reasons_when_undefined(table: object, reason: str) -> None:
    information = mutual_information(table)
    assert {
        figure.note
        for figure in (
            information.bits,
            information.corrected,
            information.by_chance,
            information.excess,
            information.p,
        )
    } == {reason}


def test_the_p_value_is_the_share_of_deals_that_tell_as_much() -> None:
    # Four cases, two of each value, all difference in one value: of the 6 deals 2 are as telling (which value it is in
    # does not matter), so p tends to 1/3.
    units = Units(np.array([[0, 5], [0, 5], [5, 0], [5, 0]]))
    (chance,) = by_chance(units, [np.array([0, 0, 1, 1])], seed=1, permutations=20_000)
    assert chance.p == pytest.approx(1 / 3, abs=0.015)
    assert chance.mean == pytest.approx(1 / 3, abs=0.015)  # 1 bit in these 2 deals, none in the other 4
    again = [by_chance(units, [np.array([0, 0, 1, 1])], seed=1, permutations=99) for _ in range(2)]
    assert again[0] == again[1]


def test_within_cases_only_what_a_case_does_not_tell_counts() -> None:
    # Two cases, one all apart. An attribute that is the case itself tells nothing beyond it, however telling it is.
    counts = np.array([[0, 5], [0, 5], [5, 0], [5, 0]])
    case = np.array([0, 0, 1, 1])
    (chance,) = by_chance(Units(counts, case), [case], seed=0, permutations=200)
    assert (chance.p, chance.mean) == (1, 1)
    # Cases of different sizes: a deal never leaves its case.
    sizes = np.array([0, 1, 1, 2, 2, 2, 0])
    for order in Units(np.zeros((7, 2), dtype=np.int64), sizes).dealt(3, 50):
        assert (sizes[order] == sizes).all()
        assert (np.sort(order, axis=1) == np.arange(7)).all()


@pytest.mark.slow
def test_the_p_value_is_uniform_where_nothing_is_there() -> None:
    rng = np.random.default_rng(5)
    drawn = []
    for seed in range(600):
        apart = rng.binomial(8, 0.3, size=30)
        units = Units(np.stack([8 - apart, apart], axis=1))
        drawn += [chance.p for chance in by_chance(units, [rng.integers(0, 3, size=30)], seed=seed, permutations=99)]
    # 600 draws: the share of p ≤ 0.05 has a standard error of 0.009, their mean one of 0.012.
    assert np.mean(np.array(drawn) <= 0.05) < 0.08
    assert abs(np.mean(drawn) - 0.5) < 0.04
