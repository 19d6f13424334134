"""The responses on which two raters agree least, each with one to the same case on which they agree most."""

from __future__ import annotations

import numpy as np

from agreement.counting.pairs import PairStatus, conservative_counts, n_counted, tally, valid_counts
from agreement.items.inputs import Items
from agreement.reports.tables import Row, Table
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, notes_of
from consilium.statistics.macro_f1 import macro_f1_figures
from consilium.statistics.raw_agreement import raw_agreement_figures

COLUMNS = (
    *("slice", "case", "candidate", "sample", "response", "n_pairs", "n_differ", "mf1", "raw", "n_cannot"),
    *("beside", "beside_mf1", "note"),
)
TEXT = ("slice", "case", "candidate", "response", "beside", "note")
# Values of MF1 that agree to this many decimals differ by rounding only.
DIGITS = 9


def tail_table(items: Items) -> Table:
    """A row for each response with a pair: lowest MF1 first, then lowest raw agreement, undefined last.

    ``response`` and ``beside`` are public ids; ``beside`` is the response to the same case with the highest agreement,
    empty where none has a higher one.
    """
    frame, pairs = items.joined.frame, items.joined.pairs
    tallies = tally(pairs, frame.response_places(pairs.response), len(frame.response_ids))
    places = np.flatnonzero(tallies.any(axis=1))
    mine = tallies[places]
    valid, counted = valid_counts(mine), conservative_counts(mine)
    mf1, raw = macro_f1_figures(counted), raw_agreement_figures(valid)
    n_pairs, differ = n_counted(mine).tolist(), (valid.fp + valid.fn).tolist()
    rows: list[Row] = []
    for i, place in enumerate(places.tolist()):
        figures: dict[str, Figure] = {"mf1": mf1[i], "raw": raw[i]}
        setting = frame.response_setting(place)
        rows.append(
            {
                "slice": f"response:{frame.response_name(place)}",
                "case": frame.cases[int(frame.response_case[place])].key,
                "candidate": frame.candidates[int(frame.response_candidate[place])],
                "sample": int(frame.response_sample[place]),
                "response": items.response_ids[place],
                "n_pairs": n_pairs[i],
                "n_differ": differ[i],
                "mf1": mf1[i].value,
                "raw": raw[i].value,
                "n_cannot": int(mine[i, PairStatus.CANNOT]),
                "note": joined(notes_of(figures), Reason.SETTING(setting=setting) if setting else ""),
            }
        )
    best: dict[str, Row] = {}
    for row in rows:
        if row["mf1"] is not None and (row["case"] not in best or _height(row) > _height(best[row["case"]])):
            best[row["case"]] = row
    for row in rows:
        best_row = best.get(row["case"])
        higher = best_row is not None and (row["mf1"] is None or _height(best_row)[:2] > _height(row)[:2])
        row["beside"] = best_row["response"] if best_row and higher else ""
        row["beside_mf1"] = best_row["mf1"] if best_row and higher else None
    rows.sort(key=_lowest)
    return Table.of(COLUMNS, rows, TEXT)


def _height(row: Row) -> tuple[float, float, int]:
    """A sort key for agreement on a response; among equals the one with more pairs, then the first, ranks higher."""
    return (round(row["mf1"], DIGITS), round(-1.0 if row["raw"] is None else row["raw"], DIGITS), row["n_pairs"])


def _lowest(row: Row) -> tuple[object, ...]:
    values = [row["mf1"], row["raw"]]
    return (*((value is None, 0.0 if value is None else round(value, DIGITS)) for value in values), row["slice"])
