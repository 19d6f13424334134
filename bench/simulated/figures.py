"""The figures of a simulated study, as the rule takes them: one figure of sums over cases, or two to be subtracted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.simulated.study import Array, Study
from consilium.statistics.case_figures import CaseFigures, case_mean, case_ratio, case_table
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.cohen_kappa import COHEN_KAPPA
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.gwet_ac1 import GWET_AC1
from consilium.statistics.krippendorff_alpha import TWO_RATER_ALPHA
from consilium.statistics.macro_f1 import MACRO_F1, f1_met_values, f1_not_met_values
from consilium.statistics.prevalence import PREVALENCE_A
from consilium.statistics.raw_agreement import RAW_AGREEMENT

Parts = Callable[[Study], tuple[CaseFigures, ...]]


@dataclass(frozen=True)
class Figure:
    """``parts``: one figure, or two whose difference (the first less the second) is taken. ``needs``: the sums that it
    is made from. ``undefined`` (repetitions,): where the figure has no value though its formula gives one. ``shown``
    turns values and ends into what is shown.
    """

    name: str
    kind: str
    parts: Parts
    needs: tuple[str, ...]
    undefined: Callable[[Study], NDArray[np.bool_]] | None = None
    shown: Callable[[Array], Array] | None = None


def _counts(study: Study, name: str) -> ConfusionCounts:
    return ConfusionCounts.from_cells(np.moveaxis(study[name], -1, 0))


def _precision(counts: ConfusionCounts) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tp, counts.tp + counts.fp))


def _recall(counts: ConfusionCounts) -> Array:
    return _precision(counts.swapped())


def _coefficient(name: str, coefficient: Coefficient) -> Figure:
    """A coefficient as reports have it."""

    def parts(study: Study) -> tuple[CaseFigures, ...]:
        figures = coefficient.of_cases(_counts(study, "first"))
        return (replace(figures, sums=study["first"]),)  # the same array for all, so that its totals are kept

    return Figure(name, "agreement", parts, ("first",), _kappa_undefined if coefficient is COHEN_KAPPA else None)


def _table(name: str, values: Callable[[ConfusionCounts], Array], sizes: Callable[[ConfusionCounts], Array]) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        counts = _counts(study, "first")
        return (replace(case_table(values, counts, sizes=sizes(counts)), sums=study["first"]),)

    return Figure(name, "agreement", parts, ("first",))


def _mf1(study: Study, name: str) -> CaseFigures:
    return MACRO_F1.of_cases(_counts(study, name))


def _fidelity_gap(study: Study) -> tuple[CaseFigures, ...]:
    judge = case_mean(*(_mf1(study, name) for name in ("first by physician", "first by colleague")))
    return judge, _mf1(study, "ceiling")


def _two_halves(study: Study) -> tuple[CaseFigures, ...]:
    """The cases of even number, and the others: groups of different cases, such as lay and professional."""
    cells = study["first"]
    if len(cells) == 1:  # expected sums, the same of both
        return _mf1(study, "first"), _mf1(study, "first")
    even = (np.arange(len(cells)) % 2 == 0)[:, None, None]
    halves = Study({"even": np.where(even, cells, 0.0), "odd": np.where(even, 0.0, cells)})
    return _mf1(halves, "even"), _mf1(halves, "odd")


def _kappa_undefined(study: Study) -> NDArray[np.bool_]:
    counts = _counts(study, "first").pooled(axis=0)
    margins = (counts.tp + counts.fn, counts.fp + counts.tn, counts.tp + counts.fp, counts.fn + counts.tn)
    return np.asarray(np.any([margin == 0 for margin in margins], axis=0))


def _ratio(name: str, kind: str, above: str, below: str, scale: float = 100.0) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        return (_share(study, above, below, 0, scale),)

    return Figure(name, kind, parts, (f"{above} 0", f"{below} 0"))


def _share(study: Study, above: str, below: str, candidate: int, scale: float = 100.0) -> CaseFigures:
    # CACS is 0 to 100 in each response already.
    unit = 100.0 if above == "cacs" else 1.0
    above_of_case, below_of_case = study[f"{above} {candidate}"] / unit, study[f"{below} {candidate}"]
    return case_ratio(above_of_case, below_of_case, scale=scale, trials=above == "passes")


def _difference(name: str, above: str, below: str) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        first, second = (_share(study, above, below, candidate) for candidate in range(2))
        return first, second

    return Figure(name, "hits", parts, (f"{above} 0", f"{below} 0"))


def _score(above: str, below: str, least: str) -> Parts:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        bound = study[least].sum(axis=0) / study[below].sum(axis=0)
        return (case_ratio(study[above], study[below], bounds=(bound, 1.0)),)

    return parts


def _calibrated(study: Study) -> tuple[CaseFigures, ...]:
    n = study["present 0"].sum(axis=0) / study["responses 0"].sum(axis=0)
    return (case_ratio(study["hits 0"], study["responses 0"], bounds=(0.0, n)),)


def _threshold(mean: Array) -> Array:
    return np.maximum(np.floor(mean + 0.5), 1.0)


def _turns(study: Study) -> tuple[CaseFigures, ...]:
    return (
        case_ratio(study["turned"], study["turned answers"]),
        case_ratio(study["noise"], study["noise answers"]),
    )


FIGURES = (
    _coefficient("MF1", MACRO_F1),
    _table("F1 met", f1_met_values, lambda counts: counts.met_mentions),
    _table("F1 not met", f1_not_met_values, lambda counts: counts.not_met_mentions),
    _coefficient("raw", RAW_AGREEMENT),
    _coefficient("kappa", COHEN_KAPPA),
    _coefficient("alpha", TWO_RATER_ALPHA),
    _coefficient("AC1", GWET_AC1),
    _coefficient("prevalence", PREVALENCE_A),
    _table("precision", _precision, lambda counts: counts.tp + counts.fp),
    _table("recall", _recall, lambda counts: counts.tp + counts.fn),
    Figure(
        "MF1 of two judges",
        "agreement",
        lambda study: (_mf1(study, "first"), _mf1(study, "second")),
        ("second",),
    ),
    Figure("fidelity's gap", "agreement", _fidelity_gap, ("ceiling",)),
    Figure("MF1 of two halves", "agreement", _two_halves, ("first",)),
    _ratio("Rubric Accuracy, hit rate", "hits", "hits", "present"),
    _ratio("Pass@k", "hits", "passes", "responses"),
    _ratio("CACS@k", "hits", "cacs", "scored"),
    Figure("calibrated k", "hits", _calibrated, ("hits 0",), shown=_threshold),
    _difference("Rubric Accuracy of two", "hits", "present"),
    _difference("Pass@k of two", "passes", "responses"),
    _difference("CACS@k of two", "cacs", "scored"),
    Figure("rubric score", "rubric", _score("score", "responses", "least"), ("score",)),
    Figure("worst-at-k", "rubric", _score("worst", "counted", "least of case"), ("worst",)),
    Figure("flip rate", "turns", lambda study: _turns(study)[:1], ("turned",)),
    Figure("noise rate", "turns", lambda study: _turns(study)[1:], ("noise",)),
    Figure("flip less noise rate", "turns", _turns, ("turned", "noise")),
)
