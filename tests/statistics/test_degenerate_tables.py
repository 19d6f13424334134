"""Thirty tables with next to nothing in them: each figure is right by hand or has the reason why it is missing."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.krippendorff_alpha import krippendorff_alpha, value_counts
from consilium.statistics.meta_evaluation import meta_evaluation, other_rater_pairs
from consilium.statistics.two_raters import two_rater_agreement

U = None  # undefined
# tp, fp, fn, tn: mf1, raw, kappa, ac1, alpha. By hand: F1 = 2tp/(2tp+fp+fn), kappa = 2(tp·tn - fp·fn)/(A1·B0 + A0·B1),
# AC1 with pe = 2q(1-q), alpha = 1 - (2N-1)(fp+fn)/(m1·m0).
TABLES = [
    ((0, 0, 0, 0), (U, U, U, U, U)),  # empty
    ((1, 0, 0, 0), (1, 1, U, 1, U)),  # one pair, met
    ((0, 0, 0, 1), (1, 1, U, 1, U)),  # one pair, not met
    ((0, 1, 0, 0), (0, 0, U, -1, 0)),  # one pair, apart: q = 1/2, AC1 = (0 - 1/2)/(1/2); alpha = 1 - 1·1/(1·1)
    ((0, 0, 1, 0), (0, 0, U, -1, 0)),
    ((9, 0, 0, 0), (1, 1, U, 1, U)),  # one class only
    ((0, 0, 0, 9), (1, 1, U, 1, U)),
    ((0, 5, 0, 0), (0, 0, U, -1, -0.8)),  # constant and opposite: alpha = 1 - 9·5/25
    ((0, 0, 5, 0), (0, 0, U, -1, -0.8)),
    ((0, 2, 2, 0), (0, 0, -1, -1, -0.75)),  # exactly apart: alpha = 1 - 7·4/16
    ((2, 0, 0, 2), (1, 1, 1, 1, 1)),  # exactly together
    ((1, 0, 0, 1), (1, 1, 1, 1, 1)),
    ((1, 1, 1, 1), (0.5, 0.5, 0, 0, 0.125)),  # independent: alpha = 1 - 7·2/16
    ((3, 1, 0, 0), (3 / 7, 0.75, U, 0.68, 0)),  # A constant: q = 7/8, pe = 7/32, AC1 = (24-7)/25; alpha = 1 - 7/7
    ((3, 0, 1, 0), (3 / 7, 0.75, U, 0.68, 0)),  # B constant
    ((0, 1, 0, 3), (3 / 7, 0.75, U, 0.68, 0)),
    ((0, 0, 1, 3), (3 / 7, 0.75, U, 0.68, 0)),
    ((1, 0, 1, 0), (1 / 3, 0.5, U, 0.2, 0)),  # q = 3/4, pe = 3/8, AC1 = (1/8)/(5/8); alpha = 1 - 3·1/(3·1)
    ((99, 0, 0, 1), (1, 1, 1, 1, 1)),  # a class seen once, together
    ((98, 1, 1, 0), (98 / 198, 0.98, -1 / 99, 0.9602 / 0.9802, -2 / 396)),  # pe = 2 · 0.99 · 0.01
]


@pytest.mark.parametrize(("cells", "expected"), TABLES, ids=[str(cells) for cells, _ in TABLES])
def test_two_raters(cells, expected):
    counts = ConfusionCounts(*(np.array([[cell]]) for cell in cells))
    agreement = two_rater_agreement(counts, rule=PercentileBootstrap(1))[0]
    for name, value in zip(("mf1", "raw", "kappa", "ac1", "alpha"), expected, strict=True):
        figure = getattr(agreement, name)
        if value is U:
            assert isinstance(figure, Undefined), name
            assert figure.reason in ("no pairs",) if not sum(cells) else "constant" in figure.reason, name
        else:
            assert figure.value == pytest.approx(value, abs=1e-12), name
            assert figure.n == sum(cells)
            assert "1 of the 10 cases" in figure.note, name
        assert (figure.low, figure.high) == (None, None)
    only_one_class = sum(cells) > 0 and 0 in (cells[0] + cells[1] + cells[2], cells[3] + cells[1] + cells[2])
    assert ("alone" in agreement.mf1.note) is only_one_class
    assert ("one class only" in agreement.ac1.note) is only_one_class


def test_no_cases_and_no_slices():
    empty = np.zeros((0, 2), dtype=int)
    agreements = two_rater_agreement(ConfusionCounts(empty, empty, empty, empty), rule=PercentileBootstrap(1))
    assert [agreement.mf1 for agreement in agreements] == [Undefined("no pairs")] * 2
    none = np.zeros((5, 0), dtype=int)
    assert two_rater_agreement(ConfusionCounts(none, none, none, none), rule=PercentileBootstrap(1)) == []


def test_no_rows():
    assert confusion_counts([], []).cells().tolist() == [0, 0, 0, 0]
    assert confusion_counts([], [], case=[], n_cases=3).shape == (3, 1)
    assert other_rater_pairs([], []).shape == (0,)


def test_all_verdicts_invalid():
    # Three verdicts, all broken: in MF1 each stands as the opposite of its reference, elsewhere there is nothing.
    valid = confusion_counts([], [], case=[], n_cases=1)
    counted = confusion_counts([1, 0, 1], [0, 1, 0], case=[0, 0, 0], n_cases=1)
    agreement = two_rater_agreement(valid, counted=counted)[0]
    assert agreement.mf1 == Estimate(0.0, 3)
    assert agreement.mf1_valid == Undefined("no pairs")
    assert agreement.kappa == Undefined("no pairs")
    assert (agreement.n_pairs, agreement.n_valid, agreement.n_invalid) == (3, 0, 3)


def test_no_overlap_of_slices():
    # Two slices, all pairs in the first: the second has nothing and says so.
    counts = confusion_counts([1, 0], [1, 1], case=[0, 1], n_cases=2, slice_of=[0, 0], n_slices=2)
    assert two_rater_agreement(counts)[1].raw == Undefined("no pairs")


@pytest.mark.parametrize(
    ("units", "value"),
    [
        ([], U),  # no unit
        ([[1]], U),  # one rater
        ([[1], [0], [1]], U),
        ([[1, 1]], U),  # one unit, one class
        ([[1, 0]], 0.0),  # one unit, two raters apart: Do = De = 1
        ([[1, 1], [0, 0]], 1.0),
        ([[1, 1, 1], [1, 1]], U),  # constant
        ([[1, 1], [0]], U),  # the other class only where nothing pairs with it
        ([[1, 1, 0]], 0.0),  # one unit: Do = 4·(1/2)/3 = 2/3, De = 2·2·1/(3·2) = 2/3
    ],
)
def test_many_raters(units, value):
    rows = [(unit, label) for unit, labels in enumerate(units) for label in labels]
    figure = krippendorff_alpha(value_counts([u for u, _ in rows], [v for _, v in rows], len(units), 2))
    if value is U:
        assert isinstance(figure, Undefined)
    else:
        assert figure.value == pytest.approx(value, abs=1e-12)


def test_one_rater_has_no_ceiling():
    counts = other_rater_pairs([0, 1, 2], [1, 0, 1])
    evaluation = meta_evaluation(counts.summed_by([0, 1, 2], 3)[:, None])[0]
    for figure in (
        evaluation.f1_balanced,
        evaluation.precision_met,
        evaluation.recall_not_met,
        evaluation.agreement.kappa,
        evaluation.agreement.raw,
    ):
        assert isinstance(figure, Undefined)
        assert figure.n == 0
