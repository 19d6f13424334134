"""AUROC from counts by case: worked by hand, and the same as the AUROC of single units (scikit-learn's definition)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.reasons import Reason
from consilium.statistics.auroc import auroc
from consilium.statistics.graded_auroc import graded_auroc
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.ratios import estimated


def test_by_hand() -> None:
    """Events at grades 3, 3, 0; others at 0, 0, 1, 3.

    Of 12 pairs each event at 3 beats three and ties with one (3.5), and the event at 0 ties with two (1): 8 of 12.
    """
    events = np.array([[[1, 0, 0, 2]]])
    others = np.array([[[2, 1, 0, 1]]])
    assert graded_auroc(events, others).whole()[0] == pytest.approx(8 / 12, abs=1e-12)


def test_undefined_without_events_or_without_others() -> None:
    counts = np.array([[[1, 2]], [[0, 3]]])
    none = np.zeros_like(counts)
    for first, second in ((counts, none), (none, counts)):
        figures = graded_auroc(first, second)
        (figure,) = estimated(figures, n=[6], rule=DEFAULT_RULE, empty=Reason.ALL_OR_NONE_REJECTED())
        assert figure.value is None and figure.note == "all suggestions were rejected, or none"


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="same shape"):
        graded_auroc(np.zeros((2, 1, 3)), np.zeros((2, 1, 4)))


units = st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.integers(0, 3)), min_size=1, max_size=40)


@given(units)
def test_the_auroc_of_the_single_units(rows: list[tuple[int, bool, int]]) -> None:
    counts = np.zeros((2, 5, 1, 4))
    for case, event, grade in rows:
        counts[0 if event else 1, case, 0, grade] += 1
    value = graded_auroc(*counts).whole()[0]
    single = auroc([event for _case, event, _grade in rows], [grade for _case, _event, grade in rows])
    if single.value is None:
        assert np.isnan(value)
    else:
        assert value == pytest.approx(single.value, abs=1e-12)
