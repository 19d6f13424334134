"""The figures of a simulated study, as the rule takes them: one figure of sums over cases, or two to be subtracted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bench.simulated.study import Array, Study
from consilium.statistics.case_figures import CaseFigures, joint_figures, ratio_figures, table_figures
from consilium.statistics.cohen_kappa import cohen_kappa_values
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.gwet_ac1 import gwet_ac1_values
from consilium.statistics.jackknife import effective_cases
from consilium.statistics.krippendorff_alpha import two_rater_alpha_values
from consilium.statistics.macro_f1 import f1_met_values, f1_not_met_values, macro_f1_values
from consilium.statistics.prevalence import prevalence_a_values
from consilium.statistics.raw_agreement import raw_agreement_values

Parts = Callable[[Study], tuple[CaseFigures, ...]]


@dataclass(frozen=True)
class Figure:
    """``parts``: one figure, or two whose difference (the first less the second) is taken. ``needs``: the sums that it
    is made from. ``undefined`` (repetitions,): where the figure has no value though its formula gives one. ``shown``
    turns values and ends into what is shown. ``rarer`` (repetitions,): the effective number of cases that mention the
    rarer class, where the figure depends on both.
    """

    name: str
    kind: str
    parts: Parts
    needs: tuple[str, ...]
    undefined: Callable[[Study], NDArray[np.bool_]] | None = None
    shown: Callable[[Array], Array] | None = None
    rarer: Callable[[Study], Array] | None = None


def _counts(study: Study, name: str) -> ConfusionCounts:
    return ConfusionCounts.from_cells(np.moveaxis(study[name], -1, 0))


def _one_rater_constant(counts: ConfusionCounts) -> NDArray[np.bool_]:
    margins = (counts.tp + counts.fn, counts.fp + counts.tn, counts.tp + counts.fp, counts.fn + counts.tn)
    return np.asarray(np.any([margin == 0 for margin in margins], axis=0))


def _kappa_of_varied(counts: ConfusionCounts) -> Array:
    """Kappa, NaN where a rater gave one answer throughout."""
    return np.where(_one_rater_constant(counts), np.nan, cohen_kappa_values(counts))


def _precision(counts: ConfusionCounts) -> Array:
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tp, counts.tp + counts.fp))


def _recall(counts: ConfusionCounts) -> Array:
    return _precision(counts.swapped())


def _mentions(*of: str, classes: tuple[bool, ...] = (True, False)) -> Callable[[Study], Array]:
    """The least effective number of cases in which either rater of a table mentions a class."""

    def least(study: Study) -> Array:
        counts = [_counts(study, name) for name in of]
        mentions = [table.met_mentions if met else table.not_met_mentions for table in counts for met in classes]
        return np.asarray(np.min([effective_cases(sizes) for sizes in mentions], axis=0))

    return least


def _table(
    name: str,
    values: Callable[[ConfusionCounts], Array],
    bounds: tuple[float, float] = (0.0, 1.0),
    sizes: Callable[[ConfusionCounts], Array] | None = None,
    undefined: Callable[[Study], NDArray[np.bool_]] | None = None,
    classes: tuple[bool, ...] = (),
) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        counts = _counts(study, "first")
        figures = table_figures(values, counts, sizes=None if sizes is None else sizes(counts), bounds=bounds)
        return (replace(figures, sums=study["first"]),)  # the same array for all, so that its totals are kept

    rarer = _mentions("first", classes=classes) if classes else None
    return Figure(name, "agreement", parts, ("first",), undefined, rarer=rarer)


def _mf1(study: Study, name: str) -> CaseFigures:
    return table_figures(macro_f1_values, _counts(study, name))


def _fidelity_gap(study: Study) -> tuple[CaseFigures, ...]:
    both = joint_figures(
        lambda values: values.mean(axis=-1),
        *(_mf1(study, name) for name in ("first by physician", "first by colleague")),
        bounds=(0.0, 1.0),
    )
    return both, _mf1(study, "ceiling")


def _halves(study: Study) -> Study:
    """The cases of even number, and the others: groups of different cases, such as lay and professional."""
    cells = study["first"]
    even = (np.arange(len(cells)) % 2 == 0)[:, None, None]
    if len(cells) == 1:  # expected sums, the same of both
        return Study({"even": cells, "odd": cells})
    return Study({"even": np.where(even, cells, 0.0), "odd": np.where(even, 0.0, cells)})


def _two_halves(study: Study) -> tuple[CaseFigures, ...]:
    halves = _halves(study)
    return _mf1(halves, "even"), _mf1(halves, "odd")


def _mentions_of_halves(study: Study) -> Array:
    return _mentions("even", "odd")(_halves(study))


def _kappa_undefined(study: Study) -> NDArray[np.bool_]:
    return _one_rater_constant(_counts(study, "first").pooled(axis=0))


def _ratio(name: str, kind: str, above: str, below: str, scale: float = 100.0) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        return (_share(study, above, below, 0, scale),)

    return Figure(name, kind, parts, (f"{above} 0", f"{below} 0"))


def _share(study: Study, above: str, below: str, candidate: int, scale: float = 100.0) -> CaseFigures:
    # CACS is 0 to 100 in each response already.
    unit = 100.0 if above == "cacs" else 1.0
    return ratio_figures(study[f"{above} {candidate}"] / unit, study[f"{below} {candidate}"], scale=scale)


def _difference(name: str, above: str, below: str) -> Figure:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        first, second = (_share(study, above, below, candidate) for candidate in range(2))
        return first, second

    return Figure(name, "hits", parts, (f"{above} 0", f"{below} 0"))


def _score(above: str, below: str, least: str) -> Parts:
    def parts(study: Study) -> tuple[CaseFigures, ...]:
        bound = study[least].sum(axis=0) / study[below].sum(axis=0)
        return (ratio_figures(study[above], study[below], bounds=(bound, 1.0)),)

    return parts


def _calibrated(study: Study) -> tuple[CaseFigures, ...]:
    n = study["present 0"].sum(axis=0) / study["responses 0"].sum(axis=0)
    return (ratio_figures(study["hits 0"], study["responses 0"], bounds=(0.0, n)),)


def _threshold(mean: Array) -> Array:
    return np.maximum(np.floor(mean + 0.5), 1.0)


def _turns(study: Study) -> tuple[CaseFigures, ...]:
    return (
        ratio_figures(study["turned"], study["turned answers"]),
        ratio_figures(study["noise"], study["noise answers"]),
    )


SIGNED = (-1.0, 1.0)
BOTH = (True, False)
FIGURES = (
    _table("MF1", macro_f1_values, classes=BOTH),
    _table("F1 met, by pairs", f1_met_values, classes=(True,)),
    _table("F1 met, by mentions", f1_met_values, sizes=lambda counts: counts.met_mentions, classes=(True,)),
    _table("F1 not met, by pairs", f1_not_met_values, classes=(False,)),
    _table(
        "F1 not met, by mentions", f1_not_met_values, sizes=lambda counts: counts.not_met_mentions, classes=(False,)
    ),
    _table("raw", raw_agreement_values),
    _table("kappa, none where constant", _kappa_of_varied, SIGNED, undefined=_kappa_undefined, classes=BOTH),
    _table("kappa, 0 where constant", cohen_kappa_values, SIGNED, undefined=_kappa_undefined, classes=BOTH),
    _table("alpha", two_rater_alpha_values, SIGNED, classes=BOTH),
    _table("AC1", gwet_ac1_values, SIGNED),
    _table("prevalence", prevalence_a_values),
    _table("precision", _precision, sizes=lambda counts: counts.tp + counts.fp),
    _table("recall", _recall, sizes=lambda counts: counts.tp + counts.fn),
    Figure(
        "MF1 of two judges",
        "agreement",
        lambda study: (_mf1(study, "first"), _mf1(study, "second")),
        ("second",),
        rarer=_mentions("first", "second"),
    ),
    Figure(
        "fidelity's gap",
        "agreement",
        _fidelity_gap,
        ("ceiling",),
        rarer=_mentions("first by physician", "first by colleague", "ceiling"),
    ),
    Figure("MF1 of two halves", "agreement", _two_halves, ("first",), rarer=_mentions_of_halves),
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
