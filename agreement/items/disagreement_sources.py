"""Sources of disagreement: how often raters differ by each attribute, and how much each attribute explains.

Valid pairs only: an invalid or missing verdict is no disagreement about the response.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agreement.counting.pairs import PairStatus
from agreement.items.attributes import UNITS, Attribute, attributes
from agreement.items.inputs import Items
from agreement.reports.tables import Row, Table
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.mutual_information import Units, by_chance, mutual_information
from consilium.statistics.ratios import ratio_figures

COLUMNS = (
    *("attribute", "value", "slice", "n_pairs", "n_cases", "n_differ"),
    *("rate", "rate_low", "rate_high", "note", "rate_effective"),
)
TEXT = ("attribute", "value", "slice", "note")
FIGURES = ("bits", "corrected", "by_chance", "excess", "share", "p")
ATTRIBUTE_COLUMNS = ("attribute", "unit", "n_values", "n_pairs", *FIGURES, "note")
ATTRIBUTE_TEXT = ("attribute", "unit", "note")
WITHIN_CASE = Reason.DETERMINED_BY_CASE()

Ints = NDArray[np.int64]


def disagreement_source_tables(items: Items, *, rule: IntervalRule, seed: int) -> tuple[dict[str, Table], float | None]:
    """``overall``: one row; ``attributes``: most informative first; ``where``: a row for each attribute's value.

    Beside them the number of effective cases behind the rate over all pairs.
    """
    counts = _counts(items)
    frame = items.joined.frame
    case_of = {"case": np.arange(len(frame.cases)), "response": frame.response_case, "criterion": frame.criterion_case}
    present = {unit: counts[unit].sum(axis=1) > 0 for unit in UNITS}
    attribute_list = list(attributes(items, present))
    rows: list[Row] = [{"attribute": "all", "value": "", "slice": "all"}]
    by_case = [counts["case"]]
    for attribute in attribute_list:
        for value, slice_name, mask in attribute.values:
            own = np.zeros_like(counts["case"])
            np.add.at(own, case_of[attribute.unit][mask], counts[attribute.unit][mask])
            if own.any():
                by_case.append(own)
                rows.append({"attribute": attribute.name, "value": value, "slice": slice_name})
    stacked = np.stack(by_case, axis=1)[present["case"]]
    rates = ratio_figures(
        stacked[..., 1],
        stacked.sum(axis=2),
        rule=rule,
        empty=Reason.NO_PAIRS(),
    )
    for i, (row, rate) in enumerate(zip(rows, rates, strict=True)):
        row |= {
            "n_pairs": int(stacked[:, i].sum()),
            "n_cases": int((stacked[:, i].sum(axis=1) > 0).sum()),
            "n_differ": int(stacked[:, i, 1].sum()),
            "rate": rate.value,
            "rate_low": rate.low,
            "rate_high": rate.high,
            "rate_effective": rate.effective,
            "note": notes_of({"rate": rate}),
        }
    attribute_rows = _attribute_rows(attribute_list, counts, case_of, present, seed)
    tables = {
        "overall": Table.of(COLUMNS, rows[:1], TEXT),
        "attributes": Table.of(ATTRIBUTE_COLUMNS, attribute_rows, ATTRIBUTE_TEXT),
        "where": Table.of(COLUMNS, rows[1:], TEXT),
    }
    return tables, rates[0].effective


def _counts(items: Items) -> dict[str, Ints]:
    """Valid pairs of each unit by whether the raters differ: (units, 2)."""
    frame, pairs = items.joined.frame, items.joined.pairs
    valid = pairs.status <= PairStatus.TN
    differ = np.isin(pairs.status[valid], (PairStatus.FP, PairStatus.FN)).astype(np.int64)
    response = frame.response_places(pairs.response[valid])
    place = {
        "case": (frame.response_case[response], len(frame.cases)),
        "response": (response, len(frame.response_ids)),
        "criterion": (frame.criterion_places(pairs.criterion[valid]), len(frame.criterion_ids)),
    }
    return {
        unit: np.bincount(index * 2 + differ, minlength=size * 2).reshape(size, 2)
        for unit, (index, size) in place.items()
    }


def _attribute_rows(
    attribute_list: list[Attribute],
    counts: dict[str, Ints],
    case_of: dict[str, Ints],
    present: dict[str, NDArray[np.bool_]],
    seed: int,
) -> list[Row]:
    """How much each attribute explains of the disagreement, with a p-value; the most informative first."""
    rows: list[Row] = []
    for unit in UNITS:
        chosen = present[unit]
        own, case = counts[unit][chosen], case_of[unit][chosen]
        mine = [attribute for attribute in attribute_list if attribute.unit == unit]
        numbers = [np.unique(attribute.number[chosen], return_inverse=True)[1].ravel() for attribute in mine]
        tables = []
        for number in numbers:
            table = np.zeros((int(number.max(initial=-1)) + 1, 2), dtype=np.int64)
            np.add.at(table, number, own)
            tables.append(table)
        # An attribute with one value only, or with one in each case, stays the same under every permutation.
        dealt = [
            len(table) > 1 if unit == "case" else _varies(number, case)
            for table, number in zip(tables, numbers, strict=True)
        ]
        due = [i for i, is_dealt in enumerate(dealt) if is_dealt]
        units = Units(own, None if unit == "case" else case)
        drawn = by_chance(units, [numbers[i] for i in due], seed=seed) if due else []
        chances = dict(zip(due, drawn, strict=True))
        for i, attribute in enumerate(mine):
            information = mutual_information(tables[i], chances.get(i), why=WITHIN_CASE)
            figures: dict[str, Figure] = {name: getattr(information, name) for name in FIGURES}
            rows.append(
                {
                    "attribute": attribute.name,
                    "unit": unit,
                    "n_values": len(tables[i]),
                    "n_pairs": int(own.sum()),
                    **{name: figure.value for name, figure in figures.items()},
                    "note": notes_of(figures),
                }
            )
    rows.sort(key=lambda row: (row["excess"] is None, -(row["excess"] or 0.0), row["attribute"]))
    return rows


def _varies(number: Ints, case: Ints) -> bool:
    """Whether some case has units of different numbers."""
    couples = np.unique(np.stack([case, number], axis=1), axis=0)
    return len(couples) > len(np.unique(case))
