"""How confidence tells right answers from wrong ones, against scikit-learn and by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.reasons import Reason
from consilium.statistics.auroc import auroc
from consilium.statistics.equal_mass_calibration import equal_mass_bins, equal_mass_error

ANSWERS = st.lists(st.tuples(st.booleans(), st.integers(0, 20)), min_size=2, max_size=40)


@pytest.mark.slow
@given(ANSWERS)
def test_the_area_of_scikit_learn(answers: list[tuple[bool, int]]) -> None:
    from sklearn.metrics import roc_auc_score

    right, score = (np.array(column) for column in zip(*answers, strict=True))
    ours = auroc(right, score / 20)
    if right.all() or not right.any():
        assert ours.note == Reason.ALL_RIGHT_OR_ALL_WRONG()
    else:
        assert (ours.value, ours.n) == (pytest.approx(roc_auc_score(right, score)), len(answers))


def test_the_area_by_hand() -> None:
    # Right 0.9 and 0.5, wrong 0.5 and 0.1: of four pairs three are in order and one is level.
    assert auroc([True, False, True, False], [0.9, 0.5, 0.5, 0.1]).value == pytest.approx(3.5 / 4)
    assert auroc([], []).note == Reason.NO_ANSWERS()


def test_equal_confidences_are_never_parted() -> None:
    # 4 answers of 20 below 0.5, 12 of 0.5, 4 above: ranks 0 to 3, 4, and 16 to 19.
    confidence = [0.1, 0.2, 0.3, 0.4, *[0.5] * 12, 0.6, 0.7, 0.8, 0.9]
    assert equal_mass_bins(confidence).tolist() == [0, 0, 1, 1, *[2] * 12, 8, 8, 9, 9]


def test_the_error_by_hand() -> None:
    # Ten answers, one a bin: the mean of |right - confidence|.
    confidence = np.arange(10) / 10
    right = np.array([0, 1, 0, 0, 1, 1, 0, 1, 1, 1])
    assert equal_mass_error(right, confidence).value == pytest.approx(np.abs(right - confidence).mean())
    # All of one confidence are one bin: 6 of 10 right at 0.8.
    assert equal_mass_error([1] * 6 + [0] * 4, [0.8] * 10).value == pytest.approx(0.2)
    assert equal_mass_error([], []).note == Reason.NO_ANSWERS()


@given(ANSWERS)
def test_bins_keep_the_order(answers: list[tuple[bool, int]]) -> None:
    confidence = np.array([score for _right, score in answers]) / 20
    place = equal_mass_bins(confidence)
    order = np.argsort(confidence, kind="stable")
    assert (np.diff(place[order]) >= 0).all() and place.min() == 0 and place.max() <= 9
