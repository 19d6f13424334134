"""Worst-at-k of every slice and candidate, with intervals over cases."""

from __future__ import annotations

import numpy as np

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.worst_at_k import worst_at_k
from scoring.scores.score_columns import CLIP, ScoreFigures
from scoring.scores.scored import Scored


def worst_figures(scored: Scored, k: int, n_slices: int | None = None) -> ScoreFigures:
    """Worst-at-k of every column: the mean over cases of the expected minimum of k samples, clipped.

    It lies above the mean over the same cases of the least rubric score that any response to each could have. A column
    is slice · candidates + candidate; ``n_slices`` are the first so many slices, all by default.
    """
    sheet, grid = scored.sheet, scored.grid
    n_candidates, n_cases = len(sheet.candidate_ids), len(sheet.case_ids)
    inside = (grid.inside & grid.has_score)[:n_slices]
    place, response = np.nonzero(inside)
    column = place * n_candidates + sheet.response_candidate[response]
    size = len(inside) * n_candidates
    score = grid.score[:n_slices][inside]
    worst = worst_at_k(column * n_cases + sheet.response_case[response], score, k)
    expected = np.full(size * n_cases, np.nan)
    expected[: len(worst.by_case)] = worst.by_case
    by_case = expected.reshape(size, n_cases).T
    used = ~np.isnan(by_case)
    least = np.full((n_cases, size), np.inf)
    np.minimum.at(least, (sheet.response_case[response], column), grid.least_score[:n_slices][inside])
    bounds = np.where(used, least, 0.0).sum(axis=0) / np.maximum(used.sum(axis=0), 1), 1.0
    over_cases = case_ratio(np.where(used, by_case, 0.0), used, bounds=bounds, clip=CLIP)
    return ScoreFigures.of(
        over_cases, scored.rule, Reason.TOO_FEW_SAMPLES(k=k) if k > 1 else Reason.NO_SCORED_RESPONSE()
    )
