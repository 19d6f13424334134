"""Whether ranks depend on the grader: one rater's scores beside those of others, on responses that both score."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agreement.reports.tables import Row
from consilium.statistics.cacs import cacs_values
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.rank_agreement import RankAgreement, rank_agreement
from consilium.statistics.rank_ranges import places
from rubrics.models import Benchmark
from scoring.scores.grid import grid_of
from scoring.scores.points import DEFAULT_RULES, CountingRules
from scoring.scores.sheet import OVERALL, Sheet, Slice, read_sheet
from scoring.selectors.raters import Rater

SETTINGS = ("cacs_at_k", "rubric_accuracy", "rubric_score")
AGREEMENT = ("spearman", "kendall", "mean_absolute_difference", "top3", "top5")
COLUMNS = ("rater", "other", "setting", "n_responses", "n_candidates", *AGREEMENT, "note")
TEXT = ("rater", "other", "setting", "note")
VALUE_COLUMNS = (
    *("rater", "other", "setting", "candidate", "n_responses"),
    *("rater_value", "other_value", "rater_rank", "other_rank"),
)
VALUE_TEXT = ("rater", "other", "setting", "candidate")


@dataclass(frozen=True, eq=False)
class Marks:
    """A rater's scores of single responses by setting, NaN where there is none; and its positive criteria."""

    label: str
    sheet: Sheet
    k: int
    values: dict[str, NDArray[np.float64]]
    n_positive: NDArray[np.int64]


def read_marks(
    benchmark: Benchmark,
    rater: Rater,
    k: int,
    rules: CountingRules = DEFAULT_RULES,
    *,
    named: Collection[str] = (),
) -> Marks:
    """Read a rater and score each response once; of derived candidates only those that are ``named``."""
    sheet = read_sheet(benchmark, rater, named=named)
    return marks_of(rater.label, sheet, k, rules)


def marks_of(label: str, sheet: Sheet, k: int, rules: CountingRules = DEFAULT_RULES) -> Marks:
    """The marks on a sheet that was read already."""
    grid = grid_of(sheet, [Slice(OVERALL)], rules)
    settled = grid.has_hits[0]
    return Marks(
        label=label,
        sheet=sheet,
        k=k,
        values={
            "cacs_at_k": cacs_values(grid.hits[0], np.where(settled, grid.n_positive[0], 0), k),
            "rubric_accuracy": np.where(settled, grid.hits[0], np.nan).astype(np.float64),
            "rubric_score": np.where(grid.has_score[0], grid.score[0], np.nan),
        },
        n_positive=grid.n_positive[0],
    )


@dataclass(frozen=True, eq=False)
class Robustness:
    """Rows by column name: how far the orders agree (`COLUMNS`), and the candidates' values (`VALUE_COLUMNS`)."""

    rows: list[Row]
    values: list[Row]


def robustness(rater: Marks, others: list[Marks], names: dict[int, str]) -> Robustness:
    """``rater`` beside each of ``others``; ``names`` holds the candidates' by pk."""
    comparison = Robustness([], [])
    for other in others:
        _ids, mine, theirs = np.intersect1d(rater.sheet.response_ids, other.sheet.response_ids, return_indices=True)
        candidate = rater.sheet.candidate_ids[rater.sheet.response_candidate[mine]]
        for setting in SETTINGS:
            first, second = rater.values[setting][mine], other.values[setting][theirs]
            both = ~np.isnan(first) & ~np.isnan(second)
            who, place = np.unique(candidate[both], return_inverse=True)
            sums = [
                _figures(marks, setting, values[both], rows[both], place, len(who))
                for marks, values, rows in ((rater, first, mine), (other, second, theirs))
            ]
            counts = np.bincount(place, minlength=len(who))
            comparison.rows.append(_row(rater.label, other.label, setting, int(both.sum()), *sums))
            ranks = [places(column)[0] for column in sums]
            pairing = {"rater": rater.label, "other": other.label, "setting": setting}
            comparison.values.extend(
                sorted(
                    (
                        {
                            **pairing,
                            "candidate": names[pk],
                            "n_responses": int(counts[i]),
                            "rater_value": float(sums[0][i]),
                            "other_value": float(sums[1][i]),
                            "rater_rank": int(ranks[0][i]),
                            "other_rank": int(ranks[1][i]),
                        }
                        for i, pk in enumerate(who.tolist())
                    ),
                    key=lambda row: str(row["candidate"]),
                )
            )
    return comparison


def _figures(
    marks: Marks,
    setting: str,
    values: NDArray[np.float64],
    rows: NDArray[np.int64],
    place: NDArray[np.int64],
    size: int,
) -> NDArray[np.float64]:
    """The figure of each candidate, in points of 100, over the given responses."""
    above = np.bincount(place, weights=values, minlength=size)
    if setting == "rubric_accuracy":
        return np.asarray(100 * above / np.bincount(place, weights=marks.n_positive[rows], minlength=size))
    means = above / np.bincount(place, minlength=size)
    return np.asarray(100 * np.clip(means, 0, 1) if setting == "rubric_score" else means)


def _row(
    rater: str, other: str, setting: str, n_responses: int, first: NDArray[np.float64], second: NDArray[np.float64]
) -> Row:
    agreement: RankAgreement = rank_agreement(np.round(first, 9), np.round(second, 9))
    figures_by_name: dict[str, Figure] = {name: getattr(agreement, name) for name in AGREEMENT}
    return {
        "rater": rater,
        "other": other,
        "setting": setting,
        "n_responses": n_responses,
        "n_candidates": len(first),
        **{name: figure.value for name, figure in figures_by_name.items()},
        "note": notes_of(figures_by_name),
    }
