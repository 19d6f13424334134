"""Who is ahead: candidates of one format ranked by a measure, with the range of ranks that the cases leave open.

Each case counts 1 (expected). Ranks are by the cost and the share too low over everything asked, in which refusing
never pays, and by QWK, which knows only usable readings; never by accuracy alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import MEASURES, Price, case_figures, everything_figures
from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import Aggregate, CaseTables, Slice, case_tables, everything, parts_of, series_of
from consilium.core.phrases import each_once, joined
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.estimate import Figure, Undefined, figures
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.rank_ranges import places
from consilium.statistics.relative_level_index import FEW_CANDIDATES, relative_level_index

Row = dict[str, Any]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """A measure to rank by; ``usable`` is the same one over usable readings, empty where there is no other."""

    key: str
    usable: str = ""
    less_is_better: bool = True


RANKINGS = (Ranking("cost_all", "cost"), Ranking("under_all", "under"), Ranking("qwk", less_is_better=False))
RANKING_COLUMNS = (
    *("candidate", "format", "slice", "measure", "value", "rank", "rank_low", "rank_high", "rank_usable"),
    *("rli", "rli_low", "rli_high", "n_cases", "note"),
)
TEXT_COLUMNS = ("candidate", "format", "slice", "measure", "note")


def ranking_rows(data: AcuityData, *, price: Price, rule: IntervalRule) -> list[Row]:
    """Rows of ``ranking.csv``, by slice, format, measure and rank; a candidate was asked about a case of the slice."""
    whole = everything(data)
    tables = case_tables(data, whole, Aggregate.EXPECTED)
    rows: list[Row] = []
    for part in (whole, *parts_of(data)):
        kept = np.isin(whole.cases, part.cases, assume_unique=True)
        rows += _rows_of_slice(data, part, tables.of_cases(kept), price, rule)
    return rows


def _rows_of_slice(
    data: AcuityData, part: Slice, tables: CaseTables, price: Price, rule: IntervalRule
) -> Iterator[Row]:
    for format_ in dict.fromkeys(format_ for _candidate, format_ in data.series_names):
        chosen = series_of(data, part, format_)
        if not len(chosen):
            continue
        names = [data.series_names[i][0] for i in chosen.tolist()]
        own = tables.of_series(chosen, np.ones((len(tables.low), len(chosen)), dtype=bool))
        index = _index(own, rule)
        n_compared = sum(figure.defined for figure in index)
        n_cases = (own.planned > 0).sum(axis=0)
        by_measure = _figures(own, price)
        for ranking in RANKINGS:
            for row in _ranked(ranking, by_measure, rule):
                place = row.pop("place")
                figure = index[place]
                few = figure.defined and n_compared < FEW_CANDIDATES
                remarks = joined(figure.note, Reason.FEW_CANDIDATES(n=n_compared) if few else "")
                yield {
                    "candidate": names[place],
                    "format": format_,
                    "slice": part.name,
                    "measure": ranking.key,
                    **row,
                    "rli": figure.value,
                    "rli_low": figure.low,
                    "rli_high": figure.high,
                    "n_cases": int(n_cases[place]),
                    "note": each_once((("rank", row["note"]), ("rli", remarks))),
                }


def _figures(tables: CaseTables, price: Price) -> Mapping[str, CaseFigures]:
    """Each measure that a ranking is by, or sets beside it."""
    own = {measure.key: measure for measure in MEASURES}
    by_key = {key: case_figures(tables, own[key], price) for key in ("cost", "under", "qwk")}
    return by_key | dict(everything_figures(tables, price))


def _ranked(ranking: Ranking, by_measure: Mapping[str, CaseFigures], rule: IntervalRule) -> list[Row]:
    """The candidates by rank, then by value; those without a figure last."""
    measure = by_measure[ranking.key]
    values = measure.whole()
    ranks = rule.ranks(measure.negated() if ranking.less_is_better else measure)
    usable = _places(-by_measure[ranking.usable].whole()) if ranking.usable else [None] * len(values)
    order = sorted(
        range(len(values)),
        key=lambda i: (np.isnan(values[i]), values[i] if ranking.less_is_better else -values[i], i),
    )
    return [
        {
            "place": i,
            "value": None if np.isnan(values[i]) else float(values[i]),
            "rank": _whole(ranks[i].value),
            "rank_low": _whole(ranks[i].low),
            "rank_high": _whole(ranks[i].high),
            "rank_usable": usable[i] if ranks[i].value is not None else None,
            "note": ranks[i].note,
        }
        for i in order
    ]


def _whole(rank: float | None) -> int | None:
    return None if rank is None else round(rank)


def _places(values: Array) -> list[int | None]:
    """The place of each value, 1 for the highest; None where it is undefined."""
    known = np.flatnonzero(~np.isnan(values))
    ranks: list[int | None] = [None] * len(values)
    best, _worst = places(values[known])
    for i, rank in zip(known.tolist(), best.tolist(), strict=True):
        ranks[i] = rank
    return ranks


def _index(tables: CaseTables, rule: IntervalRule) -> list[Figure]:
    """The relative level index of each candidate among those with a usable reading; n is the number of cases of which
    all of these have one.
    """
    weight = tables.tables.sum(axis=(2, 3))
    indices: list[Figure] = [Undefined(Reason.NO_USABLE_READING())] * tables.tables.shape[1]
    answered = np.flatnonzero(weight.any(axis=0))
    if not len(answered):
        return indices
    weight = weight[:, answered]
    hits = np.einsum("csii->cs", tables.tables)[:, answered]
    own = relative_level_index(np.divide(hits, weight, out=np.full_like(hits, np.nan), where=weight > 0))
    n_shared = int((weight > 0).all(axis=1).sum())
    why = Reason.ONE_CANDIDATE() if len(answered) < 2 else Reason.NO_CASE_OF_ALL()
    estimates = figures(own.whole(), [n_shared] * len(answered), reason=lambda i: why)
    for i, figure in zip(answered.tolist(), rule.intervals(own).attach(estimates), strict=True):
        indices[i] = figure
    return indices
