"""What the answers of a candidate took, beside how good they are: latency and price against the cost of its errors.

A candidate is on a frontier where no other of its format is at least as good (cost over everything asked) and at least
as cheap, or as fast, and better in one of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.readings import IMPORTED, AcuityData
from agreement.acuity.tables import Aggregate
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.pareto import on_frontier
from rubrics.parsing.acuity_files import ALL

Row = dict[str, Any]

QUALITIES = ("cost_all", "accuracy_all")
FRONTIER_COLUMNS = (
    *("candidate", "format", "source", "n_answers", "latency_median", "latency_p90"),
    *("n_calls", "n_estimated", "tokens_in", "tokens_out", "n_paid", "spent", "currency", "price_1000"),
    *(f"{key}{end}" for key in QUALITIES for end in ("", "_low", "_high")),
    *("price_frontier", "latency_frontier", "note"),
)
TEXT_COLUMNS = ("candidate", "format", "source", "currency", "note")


@dataclass(frozen=True)
class CallRecord:
    """What the answers of one series took.

    ``latencies`` (ms) are of the answers on cases of the main figures, ``n_answers`` of them with a recorded call.
    ``money`` of all calls, and ``n_paid`` answers that they gave; without money ``why`` says so.
    """

    n_answers: int
    latencies: tuple[int, ...] = ()
    n_calls: int = 0
    n_estimated: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    n_paid: int = 0
    money: float | None = None
    currency: str = ""
    why: str = ""


def frontier_rows(data: AcuityData, acuity: Iterable[Mapping[str, Any]], calls: Mapping[int, CallRecord]) -> list[Row]:
    """Rows of ``frontier.csv``, one for each series; ``acuity`` are those of ``acuity.csv``."""
    figures = {
        (row["candidate"], row["format"]): row
        for row in acuity
        if (row["slice"], row["aggregate"]) == (ALL, Aggregate.EXPECTED)
    }
    rows = [_row(data, i, figures[name], calls.get(i)) for i, name in enumerate(data.series_names)]
    for format_ in dict.fromkeys(row["format"] for row in rows):
        own = [row for row in rows if row["format"] == format_]
        _mark(own, "latency_median", "latency_frontier")
        currencies = sorted({row["currency"] for row in own if row["price_1000"] is not None})
        if len(currencies) < 2:
            _mark(own, "price_1000", "price_frontier")
            continue
        for row in own:
            if row["price_1000"] is not None:
                why = labelled("price_frontier", Reason.SEVERAL_CURRENCIES(names=", ".join(currencies)))
                row["note"] = joined(row["note"], why)
    return rows


def _row(data: AcuityData, i: int, figures: Mapping[str, Any], record: CallRecord | None) -> Row:
    candidate, format_ = data.series_names[i]
    source = data.source_of(i)
    row: Row = dict.fromkeys(FRONTIER_COLUMNS)
    row |= {"candidate": candidate, "format": format_, "source": source, "n_answers": 0, "note": ""}
    row |= {f"{key}{end}": figures[f"{key}{end}"] for key in QUALITIES for end in ("", "_low", "_high")}
    if record is None:
        why = Reason.IMPORTED_WITHOUT_CALLS() if source == IMPORTED else Reason.NO_CALL_RECORDED()
        return row | {"note": labelled("latency_median, price_1000", why)}
    n_readings = int(data.readings_of()[data.counts, i].sum())
    in_part = record.n_answers < n_readings
    return row | {
        "n_answers": record.n_answers,
        "latency_median": seconds(record.latencies, 0.5),
        "latency_p90": seconds(record.latencies, 0.9),
        "n_calls": record.n_calls,
        "n_estimated": record.n_estimated,
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "n_paid": record.n_paid,
        "spent": record.money,
        "currency": record.currency,
        "price_1000": None if record.money is None else 1000 * record.money / record.n_paid,
        "note": joined(
            Reason.CALLS_IN_PART(n=record.n_answers, all=n_readings) if in_part else "",
            "" if record.latencies else labelled("latency_median", Reason.NO_LATENCY()),
            labelled("price_1000", record.why) if record.why else "",
        ),
    }


def _mark(rows: Sequence[Row], taken: str, column: str) -> None:
    """Mark each row that no other beats: none is as low in both, and lower in one. Rows that lack one stay unmarked."""
    known = [row for row in rows if row[taken] is not None and row["cost_all"] is not None]
    marks = on_frontier([row[taken] for row in known], [-row["cost_all"] for row in known])
    for row, mark in zip(known, marks.tolist(), strict=True):
        row[column] = mark


def seconds(latencies: Sequence[int], share: float) -> float | None:
    """The quantile of latencies in seconds, between two of them by linear interpolation."""
    values: NDArray[np.float64] = np.array(latencies, dtype=np.float64) / 1000
    return float(np.quantile(values, share)) if len(values) else None
