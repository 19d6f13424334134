"""Many raters per item: pairs counted against pairs listed one by one, and against HealthBench's procedure."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Undefined
from consilium.statistics.meta_evaluation import judge_pairs, meta_evaluation, other_rater_pairs

items = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=15)


def flat(labels: list[list[bool]]) -> tuple[list[int], list[bool]]:
    return [i for i, row in enumerate(labels) for _ in row], [label for row in labels for label in row]


def one_table(counts: ConfusionCounts):
    """The figures of a single slice whose pairs all belong to one case."""
    pooled = counts.pooled()
    return meta_evaluation(ConfusionCounts.from_cells(pooled.cells().reshape(4, 1, 1)))[0]


def listed(pairs: list[tuple[bool, bool]]) -> list[int]:
    """(reference, rater) pairs as tp, fp, fn, tn."""
    return [pairs.count(cell) for cell in ((True, True), (False, True), (True, False), (False, False))]


@pytest.mark.slow
@given(items)
def test_other_raters_are_all_ordered_pairs(labels):
    item, label = flat(labels)
    pairs = [(other, own) for row in labels for own, other in permutations(row, 2)]
    assert [int(cell) for cell in other_rater_pairs(item, label).pooled().cells()] == listed(pairs)


@pytest.mark.slow
@given(items, st.data())
def test_judge_is_paired_with_every_label(labels, data):
    verdicts = data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    item, label = flat(labels)
    pairs = [(own, verdict) for row, verdict in zip(labels, verdicts, strict=True) for own in row]
    counts = judge_pairs(label, [verdicts[i] for i in item])
    assert [int(cell) for cell in counts.pooled().cells()] == listed(pairs)


def healthbench(pairs: list[tuple[bool, bool]]) -> dict[str, float]:
    """HealthBench's procedure, in other words: shares of agreement grouped by what the rater said (precision) and by
    what the reference said (recall); F1 only where both exist; balanced only where both F1 exist."""
    agreed: dict[tuple[str, bool], list[bool]] = defaultdict(list)
    for reference, rater in pairs:
        agreed["precision", rater].append(reference == rater)
        agreed["recall", reference].append(reference == rater)
    shares = {key: sum(hits) / len(hits) for key, hits in agreed.items()}
    f1 = {}
    for which in (True, False):
        if ("precision", which) in shares and ("recall", which) in shares:
            p, r = shares["precision", which], shares["recall", which]
            f1[which] = 2 * p * r / (p + r) if p + r else 0.0
    named = {f"{kind}_{'met' if which else 'not_met'}": value for (kind, which), value in shares.items()}
    if len(f1) == 2:
        named["f1_balanced"] = (f1[True] + f1[False]) / 2
    return named


@pytest.mark.slow
@given(items)
def test_figures_equal_healthbench_procedure(labels):
    item, label = flat(labels)
    expected = healthbench([(other, own) for row in labels for own, other in permutations(row, 2)])
    evaluation = one_table(other_rater_pairs(item, label))
    for name in ("precision_met", "recall_met", "precision_not_met", "recall_not_met", "f1_balanced"):
        figure = getattr(evaluation, name)
        if name in expected:
            assert figure.value == pytest.approx(expected[name], abs=1e-12), name
        else:
            assert isinstance(figure, Undefined), name


def test_published_counts():
    judge = one_table(ConfusionCounts.single(tp=137, fp=36, fn=30, tn=47))
    assert judge.f1_balanced.value == pytest.approx(0.696691, abs=5e-7)
    assert judge.precision_met.value == pytest.approx(137 / 173)
    assert judge.recall_met.value == pytest.approx(137 / 167)
    assert judge.precision_not_met.value == pytest.approx(47 / 77)
    assert judge.recall_not_met.value == pytest.approx(47 / 83)
    ceiling = one_table(ConfusionCounts.single(tp=148, fp=36, fn=36, tn=62))
    assert ceiling.f1_balanced.value == pytest.approx(0.718500, abs=5e-7)
    assert ceiling.agreement.kappa.value == pytest.approx(0.437001, abs=5e-7)


def test_balanced_f1_needs_both_classes_on_both_sides():
    # The rater never says not met: MF1 takes its F1 as 0, HealthBench has no balanced F1.
    evaluation = one_table(ConfusionCounts.single(tp=6, fp=2, fn=0, tn=0))
    assert evaluation.agreement.mf1.value == pytest.approx((12 / 14) / 2)
    assert isinstance(evaluation.f1_balanced, Undefined)
    assert "the rater never said not met" in evaluation.f1_balanced.reason
    assert isinstance(evaluation.precision_not_met, Undefined)
    assert evaluation.recall_not_met.value == 0


def test_each_physician_against_the_others():
    # Item 0: P met, Q not, R met. Item 1: P not, Q not. P against others: (not, met), (met, met), (not, not).
    item, who, label = [0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 0, 1, 0, 0]
    by_physician = other_rater_pairs(item, label).summed_by(who, 3)
    assert by_physician.cells().T.tolist() == [[1, 1, 0, 1], [0, 0, 2, 1], [1, 1, 0, 0]]


def test_no_labels_at_all():
    counts = other_rater_pairs([], [])
    assert counts.shape == (0,)
    evaluation = one_table(counts)
    assert evaluation.f1_balanced.value is None
    assert evaluation.agreement.mf1 == Undefined("no pairs")
    assert np.asarray(counts.n).sum() == 0
