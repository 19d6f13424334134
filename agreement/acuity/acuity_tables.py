"""The tables of acuity: one candidate in one format a row, in three ways over its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import (
    KEYS,
    MEASURES,
    Measure,
    Price,
    case_figures,
    compared,
    everything_figures,
    measured,
    reason_of,
)
from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.acuity.safety_net import NET_COLUMNS, OF_MODE, safety_nets
from agreement.acuity.tables import (
    Aggregate,
    CaseTables,
    PairedTables,
    Slice,
    case_tables,
    everything,
    level_counts,
    over_candidates,
    pair_groups,
    paired,
    parts_of,
    series_of,
    weighed,
)
from consilium.core.phrases import joined, labelled
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, Undefined, figures, notes_of
from consilium.statistics.holm import holm
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.marginal_homogeneity import bowker, stuart_maxwell
from consilium.statistics.mcnemar import Method, mcnemar, mcnemar_p
from consilium.statistics.multiclass_f1 import class_f1_values
from consilium.statistics.triage_cost import CURVE
from consilium.statistics.wilson import wilson_interval
from rubrics.parsing.acuity_files import ALL
from rubrics.parsing.acuity_levels import State

Row = dict[str, Any]
MAX_SERIES_AT_ONCE = 96  # whose tables are compared together

ACUITY_COLUMNS = (
    *("candidate", "format", "source", "slice", "aggregate", "n_cases", "n_readings", "n_usable"),
    *("n_refused", "n_no_level", "n_several", "n_invalid", "n_missing"),
    *(column for key in KEYS for column in (key, f"{key}_low", f"{key}_high")),
    *("ratio", "gamma", "note"),
)
LEVEL_COLUMNS = (
    *("candidate", "format", "aggregate", "level", "n", "n_read", "recall", "recall_low", "recall_high"),
    *("over", "under", "f1", "note"),
)
CONFUSION_COLUMNS = ("candidate", "format", "aggregate", "reference", "level", "n")
BOUNDARY_COLUMNS = (
    "candidate", "format", "aggregate", "reference", "n", "within", "upper", "above", "below",
)  # fmt: skip
MISSED_COLUMNS = (
    *("candidate", "format", "aggregate", "n", "missed", "share", "low", "high", "sent_to", "n_sent"),
    *NET_COLUMNS,
)
CURVE_COLUMNS = ("candidate", "format", "aggregate", "ratio", "cost", "cost_low", "cost_high")
PAIR_COLUMNS = (
    *("first", "second", "format", "slice", "aggregate", "measure", "first_value", "second_value", "difference"),
    *("difference_low", "difference_high", "only_first", "only_second", "p_exact", "p_mid", "p_clustered", "p_holm"),
    *("bowker", "bowker_df", "bowker_p", "stuart_maxwell", "stuart_maxwell_df", "stuart_maxwell_p"),
    *("n_cases", "note"),
)
TEXT_COLUMNS = (
    *("candidate", "format", "source", "slice", "aggregate", "level", "reference", "sent_to", "first", "second"),
    *("measure", "note"),
)


@dataclass(frozen=True)
class AcuityTables:
    """Rows of the files of the command ``acuity``, by the columns above."""

    acuity: list[Row]
    levels: list[Row]
    confusion: list[Row]
    boundary: list[Row]
    missed: list[Row]
    cost_curve: list[Row]
    pairs: list[Row]


def acuity_tables(data: AcuityData, *, price: Price, rule: IntervalRule) -> AcuityTables:
    """All tables of ``data``; those by reference level are of clear cases alone."""
    part = everything(data)
    parts_by_aggregate = {aggregate: case_tables(data, part, aggregate) for aggregate in Aggregate}
    clear = {aggregate: parts.clear() for aggregate, parts in parts_by_aggregate.items()}
    names = _series_names(data)
    return AcuityTables(
        acuity=[
            *_acuity_rows(data, part, parts_by_aggregate, price, rule),
            *(row for own in parts_of(data) for row in _slice_rows(data, part, own, parts_by_aggregate, price, rule)),
        ],
        levels=[
            row
            for aggregate, parts in clear.items()
            for i, name in enumerate(names)
            for row in _level_rows(data, parts, i, {**name, "aggregate": str(aggregate)}, rule)
        ],
        confusion=[
            {**name, "aggregate": str(aggregate), "reference": reference, "level": level, "n": float(table[r, c])}
            for aggregate, parts in clear.items()
            for name, table in zip(names, parts.tables.sum(axis=0), strict=True)
            for r, reference in enumerate(data.scale.values)
            for c, level in enumerate(data.scale.values)
        ],
        boundary=list(_boundary_rows(data)),
        missed=_all_missed_rows(data, clear, names),
        cost_curve=list(_curve_rows(data, parts_by_aggregate[Aggregate.EXPECTED], price, rule)),
        pairs=_pair_rows(data, parts_by_aggregate, price, rule),
    )


def _slice_rows(
    data: AcuityData,
    whole: Slice,
    part: Slice,
    parts_by_aggregate: dict[Aggregate, CaseTables],
    price: Price,
    rule: IntervalRule,
) -> Iterator[Row]:
    """The rows of a slice: of the candidates that were asked about one of its cases."""
    kept = np.isin(whole.cases, part.cases, assume_unique=True)
    own = {aggregate: parts.of_cases(kept) for aggregate, parts in parts_by_aggregate.items()}
    return _acuity_rows(data, part, own, price, rule)


def _series_names(data: AcuityData) -> list[Row]:
    return [{"candidate": candidate, "format": format_} for candidate, format_ in data.series_names]


def _acuity_rows(
    data: AcuityData, part: Slice, parts_by_aggregate: dict[Aggregate, CaseTables], price: Price, rule: IntervalRule
) -> Iterator[Row]:
    counts = _state_counts(data, part)
    formats = list(dict.fromkeys(format_ for _candidate, format_ in data.series_names))
    measured_by = {
        aggregate: measured(parts, aggregate, price, rule=rule) for aggregate, parts in parts_by_aggregate.items()
    }
    series = {format_: series_of(data, part, format_) for format_ in formats}
    for i in sorted(i for own_series in series.values() for i in own_series.tolist()):
        candidate, format_ = data.series_names[i]
        name = {"candidate": candidate, "format": format_, "source": data.source_of(i)}
        n_cases = int(data.is_asked[part.cases, i].sum())
        for aggregate, results in measured_by.items():
            own = {key: results[key][i] for key in KEYS}
            yield _acuity_row(name, part, aggregate, n_cases, counts[:, i], own, price)
    for format_, chosen in series.items():
        if len(chosen) < 2:
            continue
        n_cases = int(data.is_asked[np.ix_(part.cases, chosen)].any(axis=1).sum())
        sources = dict.fromkeys(data.source_of(i) for i in chosen.tolist())
        name = {"candidate": ALL, "format": format_, "source": ", ".join(sources)}
        for aggregate, parts in parts_by_aggregate.items():
            results = measured(over_candidates(parts, chosen, aggregate), aggregate, price, rule=rule)
            own = {key: results[key][0] for key in KEYS}
            yield _acuity_row(name, part, aggregate, n_cases, counts[:, chosen].sum(axis=1), own, price)


def _state_counts(data: AcuityData, part: Slice) -> NDArray[np.int64]:
    """Readings on the cases of a slice: all, those in each state, and those missing, (2 + states, series)."""
    planned = data.n_planned()[part.cases].sum(axis=0)
    given = data.readings_of()[part.cases].sum(axis=0)
    by_state = [data.readings_of(state)[part.cases].sum(axis=0) for state in State]
    return np.stack([given, *by_state, planned - given])


def _acuity_row(
    name: Row,
    part: Slice,
    aggregate: Aggregate,
    n_cases: int,
    counts: NDArray[np.int64],
    own: dict[str, Figure],
    price: Price,
) -> Row:
    names = ("n_readings", "n_usable", "n_refused", "n_no_level", "n_several", "n_invalid", "n_missing")
    return {
        **name,
        "slice": part.name,
        "aggregate": str(aggregate),
        "n_cases": n_cases,
        **dict(zip(names, counts.tolist(), strict=True)),
        **_with_ends(own),
        "ratio": price.ratio,
        "gamma": price.exponent,
        "note": notes_of(own),
    }


def _with_ends(own: dict[str, Figure]) -> Row:
    return {
        f"{key}{end}": value
        for key, figure in own.items()
        for end, value in (("", figure.value), ("_low", figure.low), ("_high", figure.high))
    }


def _level_rows(data: AcuityData, parts: CaseTables, i: int, name: Row, rule: IntervalRule) -> Iterator[Row]:
    """Recall of each level, with its interval over the cases of that reference level."""
    tables = parts.tables[:, i]
    whole = tables.sum(axis=0)
    f1 = class_f1_values(whole)
    for place, level in enumerate(data.scale.values):
        here = parts.low == place
        own = parts.of_series(np.array([i]), here[:, None])
        recall, over, under = (
            case_figures(own, measure, Price()) for measure in MEASURES if measure.key in ("accuracy", "over", "under")
        )
        n = whole[place].sum()
        (figure,) = rule.intervals(recall).attach(
            figures(recall.whole(), [round(float(n))], reason=lambda i: Reason.NO_USABLE_READING())
        )
        yield {
            **name,
            "level": level,
            "n": float(n),
            "n_read": float(whole[:, place].sum()),
            "recall": figure.value,
            "recall_low": figure.low,
            "recall_high": figure.high,
            "over": _number(over.whole()[0]),
            "under": _number(under.whole()[0]),
            "f1": _number(f1[place]),
            "note": labelled("recall", figure.note) if figure.note else "",
        }


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _boundary_rows(data: AcuityData) -> Iterator[Row]:
    """Cases whose reference lies between two levels: where their readings fall."""
    cases = np.flatnonzero(data.status == int(CaseStatus.BOUNDARY))
    counts = level_counts(data)[cases]
    low, high = data.low[cases], data.high[cases]
    places = np.arange(data.n_levels)
    for aggregate in Aggregate:
        weights = weighed(counts, aggregate)
        for i, (candidate, format_) in enumerate(data.series_names):
            for pair in sorted(set(zip(low.tolist(), high.tolist(), strict=True))):
                here = (low == pair[0]) & (high == pair[1])
                own = weights[here, i].sum(axis=0)
                if not own.sum():
                    continue
                yield {
                    "candidate": candidate,
                    "format": format_,
                    "aggregate": str(aggregate),
                    "reference": data.scale.named(*pair),
                    "n": float(own.sum()),
                    "within": float(own[(places >= pair[0]) & (places <= pair[1])].sum()),
                    "upper": float(own[pair[1]]),
                    "above": float(own[places > pair[1]].sum()),
                    "below": float(own[places < pair[0]].sum()),
                }


def _all_missed_rows(data: AcuityData, clear: Mapping[Aggregate, CaseTables], names: Sequence[Row]) -> list[Row]:
    """Emergencies missed, and of readings too low those with a safety net, which only readings have, not modes."""
    nets = safety_nets(data)
    rows = []
    for aggregate in (Aggregate.MODE, Aggregate.POOLED):
        for i, name in enumerate(names):
            own = _missed_rows(data, clear[aggregate], i, {**name, "aggregate": str(aggregate)})
            for place, row in enumerate(own, start=-1):
                cells = OF_MODE if aggregate is Aggregate.MODE else nets.cells(i, None if place < 0 else place)
                rows.append({**row, **cells})
    return rows


def _missed_rows(data: AcuityData, parts: CaseTables, i: int, name: Row) -> Iterator[Row]:
    """Emergencies that were sent elsewhere: how many in all, then to each level; Wilson's interval of the share.

    The interval takes readings for independent; samples of one case are not.
    """
    sent = parts.tables[:, i].sum(axis=0)[-1]
    n, missed = round(float(sent.sum())), round(float(sent[:-1].sum()))
    low, high = wilson_interval(missed, n) if n else (None, None)
    whole = {**name, "n": n, "missed": missed, "share": missed / n if n else None, "low": low, "high": high}
    yield {**whole, "sent_to": "", "n_sent": missed}
    for level, k in zip(data.scale.values[:-1], sent[:-1].tolist(), strict=True):
        yield {**name, "n": n, "missed": missed, "share": None, "sent_to": level, "n_sent": round(k)}


def _curve_rows(data: AcuityData, parts: CaseTables, price: Price, rule: IntervalRule) -> Iterator[Row]:
    """The mean cost of each candidate at ratios from 1 to 20, each case counting 1."""
    cost = next(measure for measure in MEASURES if measure.key == "cost")
    for ratio in CURVE.tolist():
        own = case_figures(parts, cost, Price(ratio, price.exponent))
        n = np.rint(parts.usable.sum(axis=0)).astype(np.int64)
        estimates = rule.intervals(own).attach(figures(own.whole(), n, reason=lambda i: Reason.NO_USABLE_READING()))
        for (candidate, format_), figure in zip(data.series_names, estimates, strict=True):
            yield {
                "candidate": candidate,
                "format": format_,
                "aggregate": str(Aggregate.EXPECTED),
                "ratio": ratio,
                "cost": figure.value,
                "cost_low": figure.low,
                "cost_high": figure.high,
            }


def _pair_rows(
    data: AcuityData, parts_by_aggregate: Mapping[Aggregate, CaseTables], price: Price, rule: IntervalRule
) -> list[Row]:
    """Each two candidates of one format, on the cases of which both have a usable reading; by pair, then aggregate."""
    pairs = [
        (first, second)
        for first, second in combinations(range(len(data.series_names)), 2)
        if data.series_names[first][1] == data.series_names[second][1]
    ]
    if not pairs:
        return []
    rows: list[Row] = []
    has = next(iter(parts_by_aggregate.values())).usable > 0
    for group in pair_groups(pairs, has, MAX_SERIES_AT_ONCE):
        by_aggregate = [
            _pairs_of(data, parts, group, aggregate, price, rule) for aggregate, parts in parts_by_aggregate.items()
        ]
        rows += [row for of_pair in zip(*by_aggregate, strict=True) for own in of_pair for row in own]
    _correct(rows)
    return rows


def _pairs_of(
    data: AcuityData,
    parts: CaseTables,
    pairs: Sequence[tuple[int, int]],
    aggregate: Aggregate,
    price: Price,
    rule: IntervalRule,
) -> list[list[Row]]:
    """The rows of each pair by one aggregate."""
    both = paired(parts, pairs, parts.usable > 0)
    tests = [{}] * len(pairs) if aggregate is not Aggregate.MODE else _tests(data, both, pairs)
    comparisons = [
        (measure.key, both.n_cases, *_compared(both, measure, price, rule))
        for measure in MEASURES
        if not (measure.of_counts and aggregate is Aggregate.EXPECTED)
    ]
    if aggregate is not Aggregate.MODE:
        comparisons += _compared_over_everything(parts, pairs, price, rule)
    rows: list[list[Row]] = [[] for _ in pairs]
    for key, cases, values, differences in comparisons:
        for i, (pair, figure) in enumerate(zip(pairs, differences, strict=True)):
            own_tests = tests[i] if key == "accuracy" else {}
            rows[i].append(
                {
                    "first": data.series_names[pair[0]][0],
                    "second": data.series_names[pair[1]][0],
                    "format": data.series_names[pair[0]][1],
                    "slice": ALL,
                    "aggregate": str(aggregate),
                    "measure": key,
                    "first_value": _number(values[0][i]),
                    "second_value": _number(values[1][i]),
                    "difference": figure.value,
                    "difference_low": figure.low,
                    "difference_high": figure.high,
                    **{name: value for name, value in own_tests.items() if name != "note"},
                    "n_cases": int(cases[i]),
                    "note": joined(figure.note, own_tests.get("note", "")),
                }
            )
    return rows


Values = tuple[NDArray[np.float64], NDArray[np.float64]]


def _compared(both: PairedTables, measure: Measure, price: Price, rule: IntervalRule) -> tuple[Values, list[Figure]]:
    """A measure of both candidates of each pair, and the first less the second."""
    values, intervals = compared(both, measure, price, rule)
    first, second = values[both.first], values[both.second]
    reason = reason_of(both.parts, measure, undefined=False)
    of_values = _of_undefined(first, *(lambda i, own=own: reason(int(own[i])) for own in (both.first, both.second)))

    def why(i: int) -> str:
        return of_values(i) if both.n_cases[i] else Reason.NO_SHARED_CASE()

    return (first, second), intervals.attach(figures(first - second, both.n_cases, reason=why))


def _compared_over_everything(
    parts: CaseTables, pairs: Sequence[tuple[int, int]], price: Price, rule: IntervalRule
) -> Iterator[tuple[str, NDArray[np.int64], Values, list[Figure]]]:
    """The measures over everything asked, on the cases about which both were asked."""
    both = paired(parts, pairs, parts.planned > 0)
    for key, own in everything_figures(both.parts, price):
        values = own.whole()
        first, second = values[both.first], values[both.second]
        apart = figures(first - second, both.n_cases, reason=lambda i: Reason.NO_CASE_ASKED_OF_BOTH())
        yield key, both.n_cases, (first, second), rule.compared(own, both.first, both.second)[1].attach(apart)


def _of_undefined(
    first: NDArray[np.float64], why_first: Callable[[int], str], why_second: Callable[[int], str]
) -> Callable[[int], str]:
    """The reason of the first figure where it is undefined, else that of the second."""
    return lambda i: why_first(i) if np.isnan(first[i]) else why_second(i)


def _tests(data: AcuityData, both: PairedTables, pairs: Sequence[tuple[int, int]]) -> list[Row]:
    """Tests on the modes of each pair: who is right (McNemar), and whether they use the levels alike."""
    right = (both.parts.tables * np.eye(data.n_levels)).sum(axis=(2, 3)) > 0
    first, second = right[:, both.first], right[:, both.second]
    only_first, only_second = first & ~second, second & ~first
    levels = both.parts.tables.sum(axis=2)  # one level for each case and series
    tables = np.einsum("cpi,cpj->pij", levels[:, both.first], levels[:, both.second])
    by_sample = _right_by_sample(data)
    rows = []
    for i, pair in enumerate(pairs):
        of_modes = mcnemar(only_first[:, i], only_second[:, i], n_cases=int(both.n_cases[i]))
        mid = mcnemar_p(of_modes.only_first, of_modes.only_second, Method.MID_P)
        clustered = _clustered(*(by_sample[:, place] for place in pair))
        symmetry, margins = bowker(tables[i]), stuart_maxwell(tables[i])
        undefined = {
            "p_exact, p_mid": of_modes.p, "p_clustered": clustered, "bowker": symmetry.p, "stuart_maxwell": margins.p,
        }  # fmt: skip
        notes = (labelled(name, own.reason) for name, own in undefined.items() if isinstance(own, Undefined))
        rows.append(
            {
                "only_first": of_modes.only_first,
                "only_second": of_modes.only_second,
                "p_exact": of_modes.p.value,
                "p_mid": mid.value,
                "p_clustered": clustered.value,
                "bowker": symmetry.statistic.value,
                "bowker_df": symmetry.degrees or None,
                "bowker_p": symmetry.p.value,
                "stuart_maxwell": margins.statistic.value,
                "stuart_maxwell_df": margins.degrees or None,
                "stuart_maxwell_p": margins.p.value,
                "note": joined(*notes),
            }
        )
    return rows


def _right_by_sample(data: AcuityData) -> NDArray[np.int8]:
    """1 where a usable reading of a counted case is right, 0 where it is wrong, else -1: (cases, series, samples)."""
    n_series = len(data.series_names)
    # Samples may have any numbers.
    numbers = data.readings.sample_numbers()
    right = np.full((len(data.cases), n_series, len(numbers)), -1, dtype=np.int8)
    for block in data.readings.blocks():
        case, series = np.divmod(block.cell, n_series)
        own = (block.place >= 0) & data.counts[case]
        case, place = case[own], block.place[own]
        is_right = (place >= data.low[case]) & (place <= data.high[case])
        right[case, series[own], np.searchsorted(numbers, block.sample[own])] = is_right
    return right


def _clustered(first: NDArray[np.int8], second: NDArray[np.int8]) -> Figure:
    """McNemar's test over cases, from the samples of the same number that both have, (cases, samples)."""
    both = (first >= 0) & (second >= 0)
    only_first = (both & (first > second)).sum(axis=1)
    only_second = (both & (second > first)).sum(axis=1)
    return mcnemar(only_first, only_second, n_cases=int(both.any(axis=1).sum())).p_clustered


def _correct(rows: Sequence[Row]) -> None:
    """Add ``p_holm``: the exact p of each measure, corrected over all pairs of a format."""
    families: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.get("p_exact") is not None:
            families.setdefault((row["format"], row["measure"]), []).append(row)
    for family in families.values():
        for row, corrected in zip(family, holm([row["p_exact"] for row in family]), strict=True):
            row["p_holm"] = corrected
