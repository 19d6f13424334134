"""The table of criteria: agreement on each, how often it is met, and its discrimination."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from agreement.counting.pairs import PairStatus, conservative_counts, n_counted, n_invalid, tally, valid_counts
from agreement.items.inputs import Items
from agreement.reports.tables import Row, Table
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.item_rest import item_rest
from consilium.statistics.macro_f1 import macro_f1_figures
from consilium.statistics.outcomes import Outcome
from consilium.statistics.prevalence import prevalence_a_figures, prevalence_b_figures
from consilium.statistics.raw_agreement import raw_agreement_figures

FIGURES = ("raw", "mf1", "met_a", "met_b", "discrimination_a", "discrimination_b")
COLUMNS = (
    *("case", "position", "criterion", "points", "tags", "slice", "n_pairs", "n_valid", "n_differ"),
    *FIGURES,
    *("n_discrimination_a", "n_discrimination_b", "n_invalid", "n_cannot", "n_undecided", "n_faulty", "n_borderline"),
    "note",
)
TEXT = ("case", "criterion", "tags", "slice", "note")


def criteria_table(items: Items) -> Table:
    """A row for each criterion with a pair, lowest agreement first."""
    frame, pairs = items.joined.frame, items.joined.pairs
    n_criteria = len(frame.criterion_ids)
    criterion, response = frame.criterion_places(pairs.criterion), frame.response_places(pairs.response)
    tallies = tally(pairs, criterion, n_criteria)
    places = np.flatnonzero(tallies.any(axis=1))
    mine = tallies[places]
    valid, counted = valid_counts(mine), conservative_counts(mine)
    borderline = _borderline(items)

    def discrimination(outcomes: np.ndarray) -> list[Figure]:
        answered = (outcomes <= Outcome.MET) & (pairs.status != PairStatus.FAULTY)
        points = items.points[criterion[answered]]
        correlations = item_rest(
            response[answered],
            criterion[answered],
            points * outcomes[answered],
            np.maximum(points, 0),
            n_units=len(frame.response_ids),
            n_items=n_criteria,
        )
        return [correlations[place] for place in places.tolist()]

    figures: dict[str, list[Figure]] = {
        "raw": raw_agreement_figures(valid),
        "mf1": macro_f1_figures(counted),
        "met_a": prevalence_a_figures(valid),
        "met_b": prevalence_b_figures(valid),
        "discrimination_a": discrimination(pairs.a),
        "discrimination_b": discrimination(pairs.b),
    }
    n_pairs, n_valid, differ = n_counted(mine).tolist(), valid.n.tolist(), (valid.fp + valid.fn).tolist()
    broken = n_invalid(mine).tolist()
    undecided = mine[:, PairStatus.UNDECIDED] + mine[:, PairStatus.UNDECIDED_BY_JUDGE]
    rows: list[Row] = []
    for i, place in enumerate(places.tolist()):
        own = {name: column[i] for name, column in figures.items()}
        rows.append(
            {
                "case": frame.cases[int(frame.criterion_case[place])].key,
                "position": items.positions[place] or None,
                "criterion": items.texts[place],
                "points": int(items.points[place]),
                "tags": "|".join(items.tags[place]),
                "slice": items.criterion_slice(place),
                "n_pairs": n_pairs[i],
                "n_valid": n_valid[i],
                "n_differ": differ[i],
                **{name: figure.value for name, figure in own.items()},
                "n_discrimination_a": own["discrimination_a"].n,
                "n_discrimination_b": own["discrimination_b"].n,
                "n_invalid": broken[i],
                "n_cannot": int(mine[i, PairStatus.CANNOT]),
                "n_undecided": int(undecided[i]),
                "n_faulty": int(mine[i, PairStatus.FAULTY]),
                "n_borderline": int(borderline[place]),
                "note": notes_of(own),
            }
        )
    rows.sort(key=lowest_first("raw", lambda row: (row["case"], row["position"] or 0)))
    return Table.of(COLUMNS, rows, TEXT)


def _borderline(items: Items) -> np.ndarray:
    """How many physicians of the groups called the criterion borderline on a response, by place of the criterion."""
    called = items.votes.criterion[items.votes.borderline == 1]
    frame = items.joined.frame
    return np.bincount(frame.criterion_places(called), minlength=len(frame.criterion_ids))


def lowest_first(name: str, then: Callable[[Row], tuple[object, ...]]) -> Callable[[Row], tuple[object, ...]]:
    """A sort key: the lowest of a figure first, undefined ones last."""

    def key(row: Row) -> tuple[object, ...]:
        value = row[name]
        return (value is None, 0.0 if value is None else value, -row["n_pairs"], *then(row))

    return key
