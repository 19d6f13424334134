"""The tables that `pairs_file` and reports on pairs write: whether sets tell a reference from a near miss.

Pure: no database.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.estimate import Figure, Undefined, each_note_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.mcnemar import Words
from consilium.statistics.paired_difference import differences
from consilium.statistics.set_comparison import compare_sets
from consilium.statistics.trials import (
    MARGIN,
    Decision,
    DecisionRule,
    PairResults,
    TrialFigures,
    TrialShares,
    pair_results,
    trial_figures,
)
from validation.files.comparison_columns import TESTS, comparison_cells
from validation.files.pair_reading import PairSet, PairsFile
from validation.files.table_rows import stacked

WITH_INTERVAL = {"win": "win", "mean_delta": "delta", "auroc_paired": "auroc_paired"}
PAIR_COLUMNS = (
    *("set", "slice", "rule", "n_pairs", "win", "tie", "loss", "win_low", "win_high"),
    *("mean_delta", "delta_low", "delta_high", "mean_delta_100"),
    *("auroc_paired", "auroc_paired_low", "auroc_paired_high", "auroc_pooled", "auroc_self"),
    *("position_effect", "order_consistent", "n_undecided", "endpoint_kind", "note"),
)
FIGURES = tuple(name for name in PAIR_COLUMNS if name in TrialFigures.__dataclass_fields__ and name != "n_pairs")
DIFFERENCES = ("difference_100", "difference_auroc")  # of two sets, beside that of the shares of wins
PAIR_COMPARISON_COLUMNS = (
    *("first", "second", "slice", "rule", "n", "b", "c", "difference", "low", "high", *TESTS),
    *(f"{name}{end}" for name in DIFFERENCES for end in ("", "_low", "_high")),
    "note",
)
TEXT_COLUMNS = ("set", "first", "second", "slice", "rule", "endpoint_kind", "note")
WORDS = Words(Reason.NO_SHARED_PAIR(), Reason.NO_PAIR_OF_ONE_SET(), Reason.PAIRS_OF_SETS_BALANCED())

Row = dict[str, Any]


@dataclass(frozen=True)
class PairOptions:
    """How trials become figures; ``n_trials`` are due of each pair, 0 for those of its fuller order."""

    rule: DecisionRule = DecisionRule.SIGN
    margin: float = MARGIN
    n_trials: int = 0
    has_self_consistency: bool = False


@dataclass(frozen=True)
class PairTables:
    """Rows by column name."""

    pairs: list[Row]
    comparisons: list[Row]


def results_of(own: PairSet, options: PairOptions) -> PairResults:
    """What the pairs of a set come to."""
    return pair_results(
        own.trials,
        options.rule,
        n_pairs=len(own.pairs),
        n_due=options.n_trials or own.n_trials,
        margin=options.margin,
    )


def pair_tables(file: PairsFile, options: PairOptions, *, rule: IntervalRule, endpoint_kind: str = "") -> PairTables:
    """Each set in each slice, and each two sets on the pairs that both decide. ``endpoint_kind``: who answered."""
    results = [results_of(own, options) for own in file.sets]
    notes = "" if file.has_cases else Reason.PAIRS_AS_CASES()
    if options.rule is DecisionRule.MARGIN:
        notes = joined(notes, Reason.TIES_BY_MARGIN(margin=f"{options.margin:g}"))
    rows: list[Row] = []
    for own, result in zip(file.sets, results, strict=True):
        rows += [{**row, "endpoint_kind": endpoint_kind} for row in _rows(own, result, options, notes, rule)]
    pairs = combinations(zip(file.sets, results, strict=True), 2)
    comparisons = [row for first, second in pairs for row in _comparisons(first, second, options, notes, rule)]
    return PairTables(rows, comparisons)


def _rows(own: PairSet, results: PairResults, options: PairOptions, notes: str, rule: IntervalRule) -> list[Row]:
    member = stacked(own.slices)
    undecided = member[~results.is_decided].sum(axis=0).tolist()
    is_left_out = ~own.trials.good(options.rule)
    left_out = member[own.trials.pair[is_left_out]].sum(axis=0).tolist()
    rows = []
    figures = trial_figures(results, own.facts, member=member, rule=rule)
    for place, (name, figure) in enumerate(zip(own.slices, figures, strict=True)):
        note = joined(notes, Reason.TRIALS_LEFT_OUT.counted(left_out[place]))
        cells = _cells(figure, note, has_self_consistency=options.has_self_consistency)
        names = {"set": own.name, "slice": name, "rule": str(options.rule)}
        rows.append({**names, **cells, "n_undecided": undecided[place]})
    return rows


def _cells(figures: TrialFigures, notes: str, *, has_self_consistency: bool) -> Row:
    shown: dict[str, Figure] = {
        name: getattr(figures, name) for name in FIGURES if name != "auroc_self" or has_self_consistency
    }
    ends = {
        f"{column}_{end}": getattr(shown[name], end)
        for name, column in WITH_INTERVAL.items()
        for end in ("low", "high")
    }
    return {
        "n_pairs": figures.n_pairs,
        **{name: figure.value for name, figure in shown.items()},
        **ends,
        "note": joined(each_note_of(shown), notes),
    }


Judged = tuple[PairSet, PairResults]


def _comparisons(first: Judged, second: Judged, options: PairOptions, notes: str, rule: IntervalRule) -> list[Row]:
    """Two sets on the pairs that both decide, in the slices of the first."""
    places = _shared(first, second)
    results = [own.of_pairs(chosen) for (_, own), chosen in zip((first, second), places, strict=True)]
    facts = [own.facts.of_pairs(chosen) for (own, _), chosen in zip((first, second), places, strict=True)]
    member = stacked(first[0].slices)[places[0]]
    shares = [TrialShares.of(*own, member) for own in zip(results, facts, strict=True)]
    compared = compare_sets(
        *(own.decision == int(Decision.WIN) for own in results),
        shares=(shares[0].win, shares[1].win),
        case=facts[0].case,
        n_cases=facts[0].n_cases,
        member=member,
        rule=rule,
        words=WORDS,
    )
    n = member.sum(axis=0)
    apart = {
        "difference_100": _mean_differences(shares, np.stack([own.points for own in facts]), member, rule),
        "difference_auroc": differences(
            shares[0].auroc_paired, shares[1].auroc_paired, n=n, rule=rule, empty=WORDS.no_pairs
        ),
    }
    rows = []
    for place, (name, comparison) in enumerate(zip(first[0].slices, compared, strict=True)):
        figures = {column: own[place] for column, own in apart.items()}
        names = {"first": first[0].name, "second": second[0].name, "slice": name, "rule": str(options.rule)}
        ends = {
            f"{column}_{end}": getattr(figure, end) for column, figure in figures.items() for end in ("low", "high")
        }
        rows.append({**names, **comparison_cells(comparison, notes, **figures), **ends})
    return rows


def _shared(first: Judged, second: Judged) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The numbers, in each set, of the pairs that both decide."""
    decided = [
        {pair: number for number, pair in enumerate(own.pairs) if results.is_decided[number]}
        for own, results in (first, second)
    ]
    shared = [pair for pair in decided[0] if pair in decided[1]]
    of_first, of_second = (np.array([own[pair] for pair in shared], dtype=np.int64) for own in decided)
    return of_first, of_second


def _mean_differences(
    shares: list[TrialShares], points: NDArray[np.float64], member: NDArray[np.bool_], rule: IntervalRule
) -> list[Figure]:
    """Of μ100, slice by slice; undefined where a pair lacks its points."""
    lacks_points = member[np.isnan(points).any(axis=0)].any(axis=0)
    n = member.sum(axis=0)
    figures: list[Figure] = [Undefined(Reason.PAIRS_WITHOUT_POINTS(), int(size)) for size in n]
    known = np.flatnonzero(~lacks_points)
    sides: list[CaseFigures] = [own.mean_delta_100.of_slices(known) for own in shares]
    of_known = differences(*sides, n=n[known], rule=rule, empty=WORDS.no_pairs)
    for place, figure in zip(known.tolist(), of_known, strict=True):
        figures[place] = figure
    return figures
