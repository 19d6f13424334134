"""p-values that belong to intervals of differences, against the interval rule written out again with scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import t as student

from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.holm import holm_of_defined
from consilium.statistics.intervals import CaseJackknife, PercentileBootstrap
from consilium.statistics.macro_f1 import MACRO_F1
from consilium.statistics.noninferiority import non_inferiority_p
from consilium.statistics.paired_difference import difference_p, mf1_differences

# Two judges with tables (tp, fp, fn, tn) by case.
FIRST = np.array([(8, 1, 2, 9), (9, 2, 0, 8), (5, 3, 4, 8), (7, 0, 1, 12), (7, 2, 2, 9), (6, 4, 1, 9)])
SECOND = np.array([(7, 2, 3, 8), (8, 2, 1, 8), (5, 4, 4, 7), (6, 1, 2, 11), (7, 3, 2, 8), (5, 4, 2, 9)])


def counts(table: np.ndarray) -> ConfusionCounts:
    return ConfusionCounts(*(table[:, column, None] for column in range(4)))


def mf1(table: np.ndarray) -> float:
    tp, fp, fn, tn = table
    return (2 * tp / (2 * tp + fp + fn) + 2 * tn / (2 * tn + fp + fn)) / 2


def lower_end(first: np.ndarray, second: np.ndarray, tail: float) -> float:
    """The lower end of first less second with ``tail`` below it: jackknife on the logit scale, joined by MOVER."""
    ends, deviations = [], []
    for table in (first, second):
        value = mf1(table.sum(axis=0))
        without = np.array([mf1(table.sum(axis=0) - row) for row in table])
        y, n = np.log(without / (1 - without)), len(table)
        sizes = table.sum(axis=1)
        effective = sizes.sum() ** 2 / (sizes**2).sum()
        half = student.ppf(1 - tail, effective - 1) * np.sqrt((n - 1) / n * ((y - y.mean()) ** 2).sum())
        centre = np.log(value / (1 - value))
        ends.append((value, *(1 / (1 + np.exp(-centre - sign * half)) for sign in (-1, 1))))
        deviations.append(without - without.mean())
    r = np.corrcoef(*deviations)[0, 1]
    (value, low, _high), (other, _low, other_high) = ends
    down, up = value - low, other_high - other
    return value - other - np.sqrt(down**2 - 2 * r * down * up + up**2)


@pytest.mark.parametrize("margin", [0.01, 0.05, 0.1])
def test_p_of_non_inferiority_is_where_the_lower_end_meets_the_margin(margin: float) -> None:
    # The second judge less the first is below 0 and above each margin but the smallest.
    figures = [MACRO_F1.of_cases(counts(table)) for table in (SECOND, FIRST)]
    (p,) = non_inferiority_p(*figures, margin=margin, rule=CaseJackknife())
    difference = mf1(SECOND.sum(axis=0)) - mf1(FIRST.sum(axis=0))
    if difference > -margin:
        by_hand = brentq(lambda tail: lower_end(SECOND, FIRST, tail) + margin, 1e-9, 0.5)
    else:
        by_hand = 1 - brentq(lambda tail: lower_end(FIRST, SECOND, tail) - margin, 1e-9, 0.5)
    assert p == pytest.approx(by_hand, rel=1e-6)


def test_p_of_a_difference_is_twice_the_smaller_side_and_agrees_with_the_interval() -> None:
    figures = [MACRO_F1.of_cases(counts(table)) for table in (FIRST, SECOND)]
    by_hand = 2 * brentq(lambda tail: lower_end(FIRST, SECOND, tail), 1e-9, 0.5)
    for first, second in (figures, figures[::-1]):
        (p,) = difference_p(first, second, rule=CaseJackknife())
        assert p == pytest.approx(by_hand, rel=1e-6)
    (figure,) = mf1_differences(counts(FIRST), counts(SECOND), rule=CaseJackknife())
    assert (by_hand <= 0.05) == (figure.low > 0)


def test_alike_judges_and_few_cases_have_no_p() -> None:
    figures = MACRO_F1.of_cases(counts(FIRST))
    assert np.isnan(difference_p(figures, figures, rule=CaseJackknife())).all()
    few = [MACRO_F1.of_cases(counts(table[:3])) for table in (FIRST, SECOND)]
    assert np.isnan(non_inferiority_p(*few, margin=0.05, rule=CaseJackknife())).all()


def test_p_of_the_bootstrap_is_the_share_of_resamples_and_never_0() -> None:
    twice = [MACRO_F1.of_cases(counts(np.concatenate([table, table]))) for table in (FIRST, SECOND)]
    rule = PercentileBootstrap(3)
    (p,) = non_inferiority_p(*twice, margin=0.5, rule=rule)
    assert p == 1 / 1001  # no resample is so far apart
    above, below = (rule.p_above(*order, limit=0.0)[0] for order in (twice, twice[::-1]))
    assert above + below == pytest.approx(1002 / 1001, abs=2 / 1001)  # each has the seen data added
    assert difference_p(*twice, rule=rule)[0] == pytest.approx(2 * min(above, below))


def test_holm_leaves_out_what_has_no_p() -> None:
    # Three tests: 0.01 · 3, 0.02 · 2, 0.04 · 1.
    assert holm_of_defined([0.04, None, 0.01, 0.02]) == pytest.approx([0.04, None, 0.03, 0.04])
    assert holm_of_defined([None]) == [None]
