"""Intent alignment against arithmetic by hand, and where it does not exist."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intent_alignment import Extent, f1, intent_alignment, precision
from consilium.statistics.intervals import DEFAULT_RULE

F, P, N, INVALID, MISSING = Extent


def test_by_hand() -> None:
    # Two cases: f p n i and f m. 2 of 6 in full; 1/4 and 1/2 by case; 2 of 4 valid; points 3 + 5 of 20.
    (own,) = intent_alignment(
        [F, P, N, INVALID, F, MISSING],
        case=[0, 0, 0, 0, 1, 1],
        n_cases=2,
        points=[3, 4, -2, 1, -5, 5],
        member=np.ones((6, 1), dtype=bool),
        rule=DEFAULT_RULE,
    )
    assert (own.n_points, own.n_cases, own.n_invalid, own.n_missing) == (6, 2, 1, 1)
    figures = (own.cia, own.partly, own.mean_of_cases, own.weighted, own.valid)
    assert [figure.value for figure in figures] == pytest.approx([1 / 3, 1 / 2, 3 / 8, 8 / 20, 1 / 2])
    assert [figure.n for figure in figures] == [6, 6, 2, 6, 4]


def test_eight_gold_points_and_ten_criteria() -> None:
    # Five gold points in full, by five of ten criteria; two more are sound and needed.
    (own,) = intent_alignment(
        [F] * 5 + [P, N, N],
        case=[0] * 8,
        n_cases=1,
        points=[10, 5, 7, -8, 3, 6, -4, 2],
        member=np.ones((8, 1), dtype=bool),
        rule=DEFAULT_RULE,
    )
    assert own.weighted.value == pytest.approx(33 / 45, abs=1e-12)
    assert precision(5, 10) == Estimate(1 / 2, 10)
    assert precision(7, 10) == Estimate(7 / 10, 10)
    harmonic = f1(precision(5, 10), own.cia)
    assert harmonic.value == pytest.approx(5 / 9, abs=1e-12) and harmonic.n == 8


def test_no_gold_point_and_no_criterion() -> None:
    (own,) = intent_alignment([], case=[], n_cases=0, points=[], member=np.ones((0, 1), dtype=bool), rule=DEFAULT_RULE)
    for figure in (own.cia, own.partly, own.mean_of_cases, own.weighted, own.valid):
        assert figure == Undefined("no gold point")
    assert precision(0, 0) == Undefined("no criterion")
    assert f1(precision(0, 0), Estimate(0.5, 4)) == Undefined("no criterion")
    assert f1(precision(1, 2), own.cia) == Undefined("no gold point")
    assert f1(precision(0, 3), Estimate(0.0, 4)) == Estimate(0.0, 4)
