"""How far physicians agree about cases: the figures of the page against published examples."""

from __future__ import annotations

import pytest

from annotation.labels.agreement import CORRELATIONS, label_agreement
from tests.statistics.by_hand import effective_number, logit_jackknife

# Shrout and Fleiss 1979, table 2, ten times as large.
CERTAINTIES = [
    [90, 20, 50, 80],
    [60, 10, 30, 20],
    [80, 40, 60, 80],
    [70, 10, 20, 60],
    [100, 50, 60, 90],
    [60, 20, 40, 70],
]


def test_certainties_have_the_correlations_of_shrout_and_fleiss_without_intervals_on_few_cases() -> None:
    given = [(case, physician, value) for case, row in enumerate(CERTAINTIES) for physician, value in enumerate(row)]
    figures = dict(label_agreement([(4, 0, 0, 0)] * 5 + [(0, 4, 0, 0)], given, ordered=True))
    assert [figures[name].value for name in CORRELATIONS] == pytest.approx(
        [0.17, 0.29, 0.71, 0.44, 0.62, 0.91], abs=5e-3
    )
    assert figures["icc1"].low is None
    assert figures["icc1"].note == "no interval: 6 of the 10 cases needed"
    assert figures["alpha"].value == figures["fleiss_kappa"].value == 1  # all four alike on each case
    many = dict(label_agreement([], [(10 * n + c, p, v) for n in range(2) for c, p, v in given], ordered=True))
    assert many["icc1"].low is not None


def test_a_choice_has_no_certainties() -> None:
    figures = dict(label_agreement([], [], ordered=False))
    assert {name: figure.note for name, figure in figures.items()} == {
        "alpha": "no unit with two ratings",
        "fleiss_kappa": "no items",
    }


def test_alpha_has_an_interval_over_cases() -> None:
    counts = [(4, 0), (3, 1), (0, 4), (1, 3), (4, 0), (0, 3), (2, 0), (3, 0), (1, 3), (0, 2)]

    def alpha(rows: list[tuple[int, int]]) -> float:
        value = dict(label_agreement(rows, [], ordered=False))["alpha"].value
        assert value is not None
        return value

    figure = dict(label_agreement(counts, [], ordered=False))["alpha"]
    without = [alpha([row for other, row in enumerate(counts) if other != i]) for i in range(len(counts))]
    ends = logit_jackknife(without, alpha(counts), [sum(row) for row in counts], -1.0, 1.0)
    assert (figure.low, figure.high) == pytest.approx(ends)
    assert figure.effective == pytest.approx(effective_number([4, 4, 4, 4, 4, 3, 2, 3, 4, 2]))
    nine = dict(label_agreement(counts[:-1], [], ordered=False))["alpha"]
    assert (nine.low, nine.note) == (None, "no interval: 9 of the 10 cases needed")
    tied = dict(label_agreement([*counts[:8], (2, 2), counts[9]], [], ordered=False))["alpha"]
    assert tied.low is None
    assert tied.note.startswith("no interval: 4 of the 5 cases needed where most ratings are outside")
