"""Fleiss' kappa against the example of his paper and the value that statsmodels documents."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.estimate import Undefined
from consilium.statistics.fleiss_kappa import fleiss_kappa

# Fleiss 1971, table 1: 30 patients, 6 psychiatrists each; depression, personality disorder, schizophrenia, neurosis,
# other.
DIAGNOSES = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
               00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""
# The example of the articles that statsmodels' own tests take: 10 subjects, 14 raters, kappa 0.210 (0.20993 unrounded).
SUBJECTS = [
    *([0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1]),
    *([7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7]),
]


def test_fleiss_1971() -> None:
    table = np.array([[int(n) for n in row] for row in DIAGNOSES.split()])
    assert table.sum(axis=0).tolist() == [26, 26, 30, 55, 43]  # as printed under the table
    figure = fleiss_kappa(table)
    assert figure.value == pytest.approx(0.430, abs=5e-4)
    assert figure.n == 30


def test_the_value_that_statsmodels_documents() -> None:
    assert fleiss_kappa(SUBJECTS).value == pytest.approx(0.20993, abs=5e-6)


def test_two_raters_are_scotts_pi() -> None:
    # 3 times both yes, 2 times both no, once apart: P = 5/6, p = 7/12, Pe = (49 + 25)/144.
    expected = (5 / 6 - 74 / 144) / (1 - 74 / 144)
    assert fleiss_kappa([[2, 0]] * 3 + [[0, 2]] * 2 + [[1, 1]]).value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (np.zeros((0, 3)), "no items"),
        ([[2, 1], [1, 1]], "unequal numbers of ratings: 2 to 3 an item"),
        ([[1, 0], [0, 1]], "no item with two ratings"),
        ([[0, 0], [0, 0]], "no item with two ratings"),
        ([[3, 0], [3, 0]], "constant ratings: kappa has no expected disagreement"),
    ],
)
def test_reasons_when_undefined(table: object, reason: str) -> None:
    figure = fleiss_kappa(table)
    assert isinstance(figure, Undefined)
    assert figure.reason == reason
