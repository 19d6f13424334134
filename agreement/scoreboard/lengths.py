"""Length control: how far response length explains the scores of a report, in all and for each candidate."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agreement.reports.tables import Row
from consilium.statistics.cacs import cacs_values
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import CaseJackknife
from consilium.statistics.length_control import length_control
from scoring.scores.scored import Scored

SCORES = ("hits", "cacs")
COEFFICIENTS = ("pearson", "spearman", "residual")
COLUMNS = (
    *("slice", "n_responses", "mean_length", "median_length"),
    *(
        column
        for name in SCORES
        for column in (f"n_{name}", *(f"{name}_{coefficient}" for coefficient in COEFFICIENTS))
    ),
    *(f"{name}_spearman_{part}" for name in SCORES for part in ("low", "high", "effective")),
    "note",
)
TEXT = ("slice", "note")


def length_rows(scored: Scored, lengths: NDArray[np.int64]) -> list[Row]:
    """`COLUMNS`: all responses first, then those of each candidate; ``lengths`` are by the sheet's responses."""
    sheet, grid = scored.sheet, scored.grid
    if not len(sheet.response_ids):
        return []
    settled = grid.has_hits[0]
    cacs = cacs_values(grid.hits[0], np.where(settled, grid.n_positive[0], 0), scored.k)
    values = {"hits": np.where(settled, grid.hits[0], np.nan).astype(np.float64), "cacs": cacs}
    rows = [_row("all", np.ones(len(lengths), dtype=bool), scored, lengths, values)]
    for place in scored.order:
        own = sheet.response_candidate == place
        rows.append(_row(f"candidate:{scored.names[place]}", own, scored, lengths, values))
    return rows


def _row(
    name: str,
    chosen: NDArray[np.bool_],
    scored: Scored,
    lengths: NDArray[np.int64],
    values: dict[str, NDArray[np.float64]],
) -> Row:
    row: Row = {
        "slice": name,
        "n_responses": int(chosen.sum()),
        "mean_length": float(lengths[chosen].mean()),
        "median_length": float(np.median(lengths[chosen])),
    }
    figures_by_name: dict[str, Figure] = {}
    for score, scores in values.items():
        used = chosen & ~np.isnan(scores)
        correlations = length_control(
            lengths[used],
            scores[used],
            scored.sheet.response_candidate[used],
            scored.sheet.response_case[used],
            with_interval=isinstance(scored.rule, CaseJackknife),
        )
        row[f"n_{score}"] = int(used.sum())
        figures_by_name[f"{score}_pearson"], figures_by_name[f"{score}_spearman"] = (
            correlations.pearson,
            correlations.spearman,
        )
        figures_by_name[f"{score}_residual"] = correlations.residual_pearson
    return {
        **row,
        **{column: figure.value for column, figure in figures_by_name.items()},
        **{
            f"{name}_spearman_{part}": getattr(figures_by_name[f"{name}_spearman"], part)
            for name in SCORES
            for part in ("low", "high", "effective")
        },
        "note": notes_of(figures_by_name),
    }
