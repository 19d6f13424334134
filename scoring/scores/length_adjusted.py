"""The length-adjusted rubric score of every candidate, with its rank beside that of the score itself.

Over the whole and over slices of cases. A slice of criteria has no such figure: the length of a response is that of all
that it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case
from consilium.statistics.estimate import Figure, Undefined, nearly_equal, notes_of
from consilium.statistics.length_adjustment import LengthAdjustment
from consilium.statistics.ratios import estimated
from scoring.scores.score_columns import CLIP
from scoring.scores.scored import Scored
from scoring.scores.sheet import Row, Slice

NAMES = ("rubric_score", "length_adjusted")
ENDS = ("", "_low", "_high")
COLUMNS = (
    *("candidate", "kind", "slice", "n", "n_cases", "mean_length"),
    *(f"{name}{end}" for name in NAMES for end in (*ENDS, "_effective")),
    *(f"{name}_rank{end}" for name in NAMES for end in ENDS),
    *("rank_change", "length_centre", "length_penalty", "note"),
)
TEXT = ("candidate", "kind", "slice", "note")


def length_adjusted_rows(
    scored: Scored, lengths: NDArray[np.int64], adjustment: LengthAdjustment, slices: Sequence[Slice] | None = None
) -> list[Row]:
    """`COLUMNS`: a row for each slice and candidate with a response in it; ``lengths`` are by the sheet's responses.

    ``slices`` are all of ``scored`` by default. ``rank_change`` is above 0 for a candidate that gains places by it.
    """
    rows: list[Row] = []
    for place, part in enumerate(scored.slices if slices is None else slices):
        if part.criteria is None and scored.names:
            rows.extend(_rows_of_slice(scored, place, part.name, lengths, adjustment))
    return rows


def _rows_of_slice(
    scored: Scored, place: int, name: str, lengths: NDArray[np.int64], adjustment: LengthAdjustment
) -> list[Row]:
    rule, sheet, grid, size = scored.rule, scored.sheet, scored.grid, len(scored.names)
    used = grid.inside[place] & grid.has_score[place]
    present = np.bincount(sheet.response_candidate[grid.inside[place]], minlength=size) > 0
    candidates = np.array([candidate for candidate in scored.order if present[candidate]], dtype=np.int64)
    if not len(candidates):
        return []
    assert rule is not None
    case, who = sheet.response_case[used], sheet.response_candidate[used]

    def sums(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return sums_by_case(values, case, len(sheet.case_ids), who, size)[:, candidates]

    score, least, charge = grid.score[place][used], grid.least_score[place][used], adjustment.charge(lengths[used])
    ones = sums(np.ones(len(case)))
    n = np.rint(ones.sum(axis=0)).astype(np.int64)

    def mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(sums(values).sum(axis=0) / np.maximum(n, 1))

    over_cases: dict[str, CaseFigures] = {
        "rubric_score": case_ratio(sums(score), ones, bounds=(mean(least), 1.0), clip=CLIP),
        # The lengths are given: an adjusted score lies between the least and the highest score less what is charged.
        "length_adjusted": case_ratio(
            sums(score - charge), ones, bounds=(mean(least - charge), mean(1.0 - charge)), clip=CLIP
        ),
    }
    mean_charge = mean(charge)
    mean_lengths = mean(lengths[used].astype(np.float64))
    figures = {
        own: estimated(ratio, n=n, rule=rule, empty=Reason.NO_SCORED_RESPONSE()) for own, ratio in over_cases.items()
    }
    # Where a candidate scores the same on every case, only lengths vary, and they say nothing of its score.
    whole = estimated(replace(over_cases["rubric_score"], clip=None), n=n, rule=rule)
    bare = estimated(over_cases["length_adjusted"], n=n, rule=None, empty=Reason.NO_SCORED_RESPONSE())
    figures["length_adjusted"] = [
        _with_interval_of_score(bare[i], whole[i], float(mean_charge[i])) if alike else figure
        for i, (figure, alike) in enumerate(zip(figures["length_adjusted"], _alike(sums(score), ones), strict=True))
    ]
    ranks = {own: rule.ranks(ratio) for own, ratio in over_cases.items()}
    rows = []
    for i, candidate in enumerate(candidates.tolist()):
        figures_by_name: dict[str, Figure] = {own: figures[own][i] for own in NAMES}
        figures_by_name |= {f"{own}_rank": ranks[own][i] for own in NAMES}
        before, after = (ranks[own][i].value for own in NAMES)
        row: Row = {
            **dict.fromkeys(COLUMNS),
            "candidate": scored.names[candidate],
            "kind": scored.kinds[candidate],
            "slice": name,
            "n": int(n[i]),
            "n_cases": int((ones[:, i] > 0).sum()),
            "mean_length": float(mean_lengths[i]) if n[i] else None,
            "rank_change": None if before is None or after is None else before - after,
            "length_centre": float(adjustment.centre),
            "length_penalty": float(adjustment.penalty),
            "note": notes_of(figures_by_name),
        }
        _put(row, figures_by_name)
        rows.append(row)
    return rows


def _alike(score: NDArray[np.float64], n: NDArray[np.float64]) -> list[bool]:
    """Whether the mean score of each candidate is the same on all cases; both are sums, (cases, candidates)."""
    means = np.divide(score, n, out=np.full(score.shape, np.nan), where=n > 0)
    high, low = (np.where(n > 0, means, end).T for end in (-np.inf, np.inf))
    return [bool(nearly_equal(top.max(), bottom.min())) for top, bottom in zip(high, low, strict=True)]


def _with_interval_of_score(figure: Figure, score: Figure, charge: float) -> Figure:
    """The adjusted score with the interval of the score less what its responses pay on average."""
    if isinstance(figure, Undefined):
        return figure
    low, high = (None if end is None else min(1.0, max(0.0, end - charge)) for end in (score.low, score.high))
    return replace(figure, low=low, high=high, effective=score.effective, note=joined(figure.note, score.note))


def _put(row: Row, figures_by_name: Mapping[str, Figure]) -> None:
    for name, figure in figures_by_name.items():
        row[name], row[f"{name}_low"], row[f"{name}_high"] = figure.value, figure.low, figure.high
        if f"{name}_effective" in row:
            row[f"{name}_effective"] = figure.effective
