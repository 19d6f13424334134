"""Many raters per item, as HealthBench's meta-evaluation compares them: all (rater, other rater) pairs.

A pair is one rater's label of an item beside another's. The judge is paired with every physician of the item; each
physician with every other physician of the item; the physicians' ceiling pools the latter over all physicians, so each
couple enters twice, once each way. With the others as the reference (A) and the rater in question as B:

    precision(met) = tp / (tp + fp)     recall(met) = tp / (tp + fn)     F1(met) = 2tp / (2tp + fp + fn)
    not met: the same with the classes exchanged     balanced F1 = mean of the F1 of both classes

Source: Arora et al. 2025 (HealthBench) and its published code. As there, balanced F1 needs precision and recall of both
classes, so it is Undefined where a rater or its reference never used a class; MF1 beside it follows the rule of
`macro_f1` (a class used by one side only has F1 = 0). Precision is undefined where B never used the class, recall
where A never did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, Undefined, figures
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.two_raters import TwoRaterAgreement, two_rater_agreement


def judge_pairs(label: ArrayLike, verdict: ArrayLike) -> ConfusionCounts:
    """Each label of a physician (A) beside the judge's verdict on the same item (B): one pair per label, shape
    (labels,).

    `verdict` is the judge's, repeated for every label of its item; only MET and NOT_MET.
    """
    a, b = np.asarray(label).astype(bool), np.asarray(verdict).astype(bool)
    return ConfusionCounts(*(cell.astype(np.int64) for cell in (a & b, ~a & b, a & ~b, ~a & ~b)))


def other_rater_pairs(item: ArrayLike, label: ArrayLike) -> ConfusionCounts:
    """Each label (B) beside every other label of the same item (A): counts per label, shape (labels,).

    Summing by rater gives "each physician against the others", summing all gives the pooled ceiling. The pairs are
    counted, never listed: an item with m labels gives m(m - 1) of them.
    """
    items, met = np.asarray(item, dtype=np.int64).ravel(), np.asarray(label).astype(np.int64).ravel()
    size = int(items.max()) + 1 if items.size else 0
    met_in_item = np.bincount(items[met == 1], minlength=size)[items]
    others_met = met_in_item - met
    others_not = np.bincount(items, minlength=size)[items] - met_in_item - (1 - met)
    return ConfusionCounts(met * others_met, met * others_not, (1 - met) * others_met, (1 - met) * others_not)


@dataclass(frozen=True)
class MetaEvaluation:
    """One slice: the figures of two raters, and precision, recall and balanced F1 of rater B against A."""

    agreement: TwoRaterAgreement
    precision_met: Figure
    recall_met: Figure
    precision_not_met: Figure
    recall_not_met: Figure
    f1_balanced: Figure


def meta_evaluation(
    valid: ConfusionCounts,
    *,
    counted: ConfusionCounts | None = None,
    rule: IntervalRule | None = None,
    intervals_for: Sequence[str] = ("mf1",),
) -> list[MetaEvaluation]:
    """All figures of every slice from counts of shape (n_cases, slices); arguments as `two_rater_agreement`.

    Balanced F1 has the interval of MF1 wherever both are defined: they are then the same number.
    """
    agreement = two_rater_agreement(valid, counted=counted, rule=rule, intervals_for=intervals_for)
    pooled = (valid if counted is None else counted).pooled(axis=0)
    tp, fp, fn, tn, n = pooled.tp, pooled.fp, pooled.fn, pooled.tn, pooled.n
    columns = {
        "precision_met": _share(tp, tp + fp, n, Reason.RATER_NEVER_MET),
        "recall_met": _share(tp, tp + fn, n, Reason.REFERENCE_NEVER_MET),
        "precision_not_met": _share(tn, tn + fn, n, Reason.RATER_NEVER_NOT_MET),
        "recall_not_met": _share(tn, tn + fp, n, Reason.REFERENCE_NEVER_NOT_MET),
    }
    evaluations = []
    for i, slice_agreement in enumerate(agreement):
        parts = {name: column[i] for name, column in columns.items()}
        evaluations.append(MetaEvaluation(slice_agreement, **parts, f1_balanced=_balanced(slice_agreement, parts)))
    return evaluations


def _balanced(agreement: TwoRaterAgreement, parts: dict[str, Figure]) -> Figure:
    missing = list(dict.fromkeys(part.reason for part in parts.values() if isinstance(part, Undefined)))
    if not missing:
        return agreement.mf1
    # A rater that never used one class used the other throughout: each of the two lacks one at most.
    why = (
        Reason.NO_BALANCED_F1_OF_TWO(one=missing[0], two=missing[1])
        if len(missing) > 1
        else (Reason.NO_BALANCED_F1(why=missing[0]))
    )
    return Undefined(why, agreement.n_pairs)


def _share(above: NDArray[Any], below: NDArray[Any], n: NDArray[Any], reason: Reason) -> list[Figure]:
    with np.errstate(invalid="ignore"):
        values = np.true_divide(above, below)
    sizes = n.ravel()
    return figures(values, below, reason=lambda i: reason() if sizes[i] else Reason.NO_PAIRS())
