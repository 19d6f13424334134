"""The jackknife on the logit scale: values of the simulation report, the formula in plain Python, and its edge."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from consilium.statistics import jackknife as module
from consilium.statistics.case_figures import CaseFigures, case_ratio, case_table
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.cohen_kappa import COHEN_KAPPA
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.jackknife import jackknife, logit_ends
from consilium.statistics.macro_f1 import MACRO_F1
from tests.statistics import by_hand

RATIO = [(3, 10), (5, 10), (2, 8), (6, 12), (4, 10)]
OTHER = [(4, 10), (5, 10), (4, 8), (9, 12), (4, 10)]
TABLES = [(8, 1, 2, 19), (10, 2, 0, 18), (5, 3, 4, 18), (12, 0, 1, 17), (7, 2, 2, 19)]
MF1, KAPPA = MACRO_F1, COHEN_KAPPA


def ratio(cases: Sequence[tuple[float, float]]) -> CaseFigures:
    above, below = np.array(cases, dtype=float).T
    return case_ratio(above[:, None], below[:, None])


def table(coefficient: Coefficient, cases: Sequence[tuple[int, int, int, int]]) -> CaseFigures:
    tp, fp, fn, tn = np.array(cases, dtype=np.int64).T[:, :, None]
    return case_table(coefficient.values, ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn), bounds=coefficient.bounds)


def ends_of(figures: CaseFigures) -> tuple[float, float, float]:
    ends = logit_ends(jackknife(figures))
    return float(figures.unclipped()[0]), float(ends.low[0]), float(ends.high[0])


@pytest.mark.parametrize(
    ("figures", "value", "low", "high"),
    [
        (ratio(RATIO), 0.4, 0.272133, 0.543117),
        (ratio(OTHER), 0.52, 0.317074, 0.716535),
        (table(MF1, TABLES), 0.873128, 0.690967, 0.954919),
        (table(KAPPA, TABLES), 0.746269, 0.382212, 0.909792),
        (table(MF1, [(8, 0, 0, 22)] * 10), 1, 0.741134, 1),
        (table(KAPPA, [(8, 0, 0, 22)] * 10), 1, 0.482269, 1),
        (table(MF1, [(8, 1, 1, 20)] + [(8, 0, 0, 22)] * 9), 0.991544, 0.726946, 1.000000),
        (table(MF1, [(8, 1, 1, 20)] * 2 + [(8, 0, 0, 22)] * 8), 0.983218, 0.899041, 0.997412),
        (ratio([(1, 1)] * 3 + [(0, 1)] * 7), 0.3, 0.069936, 0.709525),
        (ratio([(0, 1)] * 10), 0, 0, 0.258866),
        (ratio([(1, 1)] + [(0, 1)] * 9), 0.1, 0.005001, 0.403476),
        (ratio([(1, 1)] * 12), 1, 0.779078, 1),
        (ratio([(0, 4), (0, 1), (0, 1), (0, 1), (0, 1)]), 0, 0, 0.607872),
    ],
)
def test_published_values(figures: CaseFigures, value: float, low: float, high: float) -> None:
    assert ends_of(figures) == pytest.approx((value, low, high), abs=5.1e-7)


def test_effective_cases() -> None:
    assert jackknife(ratio(RATIO)).effective[0] == pytest.approx(4.921260, abs=5e-7)


CASES = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)).map(lambda c: (min(c), c[1])), min_size=2, max_size=12)
COUNTS = st.lists(st.tuples(*[st.integers(0, 20)] * 4), min_size=2, max_size=12).filter(
    lambda cases: all(map(sum, cases))
)


@pytest.mark.slow
@given(CASES)
def test_formula_in_plain_python(cases: list[tuple[int, int]]) -> None:
    above, below = zip(*cases, strict=True)
    without = by_hand.ratio_without(above, below)
    share = sum(above) / sum(below)
    n = by_hand.effective_number(below)
    logits_apart = max(without) - min(without) > 1e-9
    if all(0 < each < 1 for each in [share, *without]) and logits_apart:
        expected = by_hand.ratio_ends(above, below)
    else:
        # A spread of rounding alone is at the edge as well.
        assume(not logits_apart or not all(0 < each < 1 for each in without))
        expected = by_hand.mid_p(share * n if 0 < share < 1 else share and n, n)
    assert ends_of(ratio(cases))[1:] == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
@given(COUNTS)
def test_symmetries_of_two_raters(cases: list[tuple[int, int, int, int]]) -> None:
    swapped_classes = [(tn, fn, fp, tp) for tp, fp, fn, tn in cases]
    swapped_raters = [(tp, fn, fp, tn) for tp, fp, fn, tn in cases]
    assert ends_of(table(MF1, cases)) == pytest.approx(ends_of(table(MF1, swapped_classes)), abs=1e-8, nan_ok=True)
    assert ends_of(table(KAPPA, cases)) == pytest.approx(ends_of(table(KAPPA, swapped_raters)), abs=1e-8, nan_ok=True)


@pytest.mark.slow
@given(CASES, st.randoms())
def test_invariances(cases: list[tuple[int, int]], order: random.Random) -> None:
    value, low, high = ends_of(ratio(cases))
    assert 0 <= low <= value + 1e-12
    assert value - 1e-12 <= high <= 1
    opposite = ends_of(ratio([(n - x, n) for x, n in cases]))
    assert opposite == pytest.approx((1 - value, 1 - high, 1 - low), abs=1e-8)
    shuffled = order.sample(cases, len(cases))
    for same in (shuffled, [*cases, (0, 0)], [(2 * x, 2 * n) for x, n in cases]):
        assert ends_of(ratio(same)) == pytest.approx((value, low, high), abs=1e-8)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    above, below = (np.tile(np.array(column, dtype=float)[:, None], 7) for column in zip(*RATIO, strict=True))
    above[0] = range(7)
    whole = logit_ends(jackknife(case_ratio(above, below)))
    monkeypatch.setattr(module, "BLOCK_CELLS", 20)
    blocks = logit_ends(jackknife(case_ratio(above, below)))
    assert np.array_equal(whole.low, blocks.low)
    assert np.array_equal(whole.high, blocks.high)
    assert len(set(whole.low.tolist())) == 7


def test_nothing_to_compute() -> None:
    assert logit_ends(jackknife(case_ratio(np.zeros((3, 0)), np.zeros((3, 0))))).low.shape == (0,)
    for cases in (0, 3):
        ends = logit_ends(jackknife(case_ratio(np.zeros((cases, 1)), np.zeros((cases, 1)))))
        assert np.isnan(ends.low[0])
        assert not ends.at_edge[0]


def test_one_case_is_at_the_edge() -> None:
    assert ends_of(ratio([(2, 4)])) == pytest.approx((0.5, *by_hand.mid_p(0.5, 1)), abs=1e-9)
