"""The tables of acuity: one candidate in one format a row, in three ways over its samples."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import KEYS, MEASURES, Price, case_figures, measured
from agreement.acuity.readings import AcuityData, CaseStatus
from agreement.acuity.tables import (
    Aggregate,
    CaseTables,
    Slice,
    case_tables,
    everything,
    level_counts,
    over_candidates,
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
from rubrics.parsing.acuity_levels import State

Row = dict[str, Any]

IMPORTED = "imported"
ALL = "all"

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
MISSED_COLUMNS = ("candidate", "format", "aggregate", "n", "missed", "share", "low", "high", "sent_to", "n_sent")
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
# A share by Wilson's interval takes readings for independent, which samples of one case are not.
PAIRED = tuple(measure for measure in MEASURES if measure.key not in ("severe_over", "safety"))


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
    """All tables of ``data``; only cases with a clear reference count, but in the table of boundaries."""
    part = everything(data)
    parts_by_aggregate = {aggregate: case_tables(data, part, aggregate) for aggregate in Aggregate}
    names = _series_names(data)
    return AcuityTables(
        acuity=list(_acuity_rows(data, part, parts_by_aggregate, price, rule)),
        levels=[
            row
            for aggregate, parts in parts_by_aggregate.items()
            for i, name in enumerate(names)
            for row in _level_rows(data, parts, i, {**name, "aggregate": str(aggregate)}, rule)
        ],
        confusion=[
            {**name, "aggregate": str(aggregate), "reference": reference, "level": level, "n": float(table[r, c])}
            for aggregate, parts in parts_by_aggregate.items()
            for name, table in zip(names, parts.tables.sum(axis=0), strict=True)
            for r, reference in enumerate(data.scale.values)
            for c, level in enumerate(data.scale.values)
        ],
        boundary=list(_boundary_rows(data)),
        missed=[
            row
            for aggregate in (Aggregate.MODE, Aggregate.POOLED)
            for i, name in enumerate(names)
            for row in _missed_rows(data, parts_by_aggregate[aggregate], i, {**name, "aggregate": str(aggregate)})
        ],
        cost_curve=list(_curve_rows(data, parts_by_aggregate[Aggregate.EXPECTED], price, rule)),
        pairs=list(_pair_rows(data, part, price, rule)),
    )


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
    for i, (candidate, format_) in enumerate(data.series_names):
        n_cases = int(data.asked()[part.cases, i].sum())
        for aggregate, results in measured_by.items():
            own = {key: results[key][i] for key in KEYS}
            yield _acuity_row(candidate, format_, part, aggregate, n_cases, counts[:, i], own, price)
    for format_ in formats:
        chosen = np.array([i for i, (_name, own) in enumerate(data.series_names) if own == format_])
        if len(chosen) < 2:
            continue
        n_cases = int(data.asked()[np.ix_(part.cases, chosen)].any(axis=1).sum())
        for aggregate, parts in parts_by_aggregate.items():
            results = measured(over_candidates(parts, chosen, aggregate), aggregate, price, rule=rule)
            own = {key: results[key][0] for key in KEYS}
            yield _acuity_row(ALL, format_, part, aggregate, n_cases, counts[:, chosen].sum(axis=1), own, price)


def _state_counts(data: AcuityData, part: Slice) -> NDArray[np.int64]:
    """Readings on the cases of a slice: all, those in each state, and those missing, (2 + states, series)."""
    asked = np.where(data.asked()[part.cases], data.samples(), 0).sum(axis=0)
    given = data.readings_of()[part.cases].sum(axis=0)
    by_state = [data.readings_of(state)[part.cases].sum(axis=0) for state in State]
    return np.stack([given, *by_state, asked - given])


def _acuity_row(
    candidate: str,
    format_: str,
    part: Slice,
    aggregate: Aggregate,
    n_cases: int,
    counts: NDArray[np.int64],
    own: dict[str, Figure],
    price: Price,
) -> Row:
    names = ("n_readings", "n_usable", "n_refused", "n_no_level", "n_several", "n_invalid", "n_missing")
    return {
        "candidate": candidate,
        "format": format_,
        "source": IMPORTED,
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
        own = CaseTables(
            tables[here][:, None], parts.low[here], parts.asked[here, i : i + 1], parts.usable[here, i : i + 1],
            parts.single,
        )  # fmt: skip
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


def _pair_rows(data: AcuityData, part: Slice, price: Price, rule: IntervalRule) -> Iterator[Row]:
    """Each two candidates of one format, on the cases of which both have a usable reading."""
    rows: list[Row] = []
    for first, second in combinations(range(len(data.series_names)), 2):
        if data.series_names[first][1] != data.series_names[second][1]:
            continue
        for aggregate in Aggregate:
            parts = case_tables(data, part, aggregate)
            shared = np.asarray((parts.usable[:, [first, second]] > 0).all(axis=1))
            rows += _pair(data, parts, shared, (first, second), aggregate, price, rule)
    _correct(rows)
    yield from rows


def _pair(
    data: AcuityData,
    parts: CaseTables,
    shared: NDArray[np.bool_],
    pair: tuple[int, int],
    aggregate: Aggregate,
    price: Price,
    rule: IntervalRule,
) -> Iterator[Row]:
    n_cases = int(shared.sum())
    both = [
        CaseTables(parts.tables[shared][:, [i]], parts.low[shared], parts.asked[shared][:, [i]],
                   parts.usable[shared][:, [i]], parts.single)
        for i in pair
    ]  # fmt: skip
    tests = _tests(data, parts, shared, pair) if aggregate is Aggregate.MODE else {}
    for measure in PAIRED:
        if measure.of_counts and aggregate is Aggregate.EXPECTED:
            continue
        first, second = (case_figures(own, measure, price) for own in both)
        values = first.whole()[0], second.whole()[0]
        difference = values[0] - values[1]
        why = Reason.NO_SHARED_CASE() if not n_cases else Reason.ONE_LEVEL_THROUGHOUT()
        (figure,) = rule.differences(first, second).attach(
            figures(np.array([difference]), [n_cases], reason=lambda i, why=why: why)  # type: ignore[misc]
        )
        own_tests = tests if measure.key == "accuracy" else {}
        yield {
            "first": data.series_names[pair[0]][0],
            "second": data.series_names[pair[1]][0],
            "format": data.series_names[pair[0]][1],
            "slice": "all",
            "aggregate": str(aggregate),
            "measure": measure.key,
            "first_value": _number(values[0]),
            "second_value": _number(values[1]),
            "difference": figure.value,
            "difference_low": figure.low,
            "difference_high": figure.high,
            **{key: value for key, value in own_tests.items() if key != "note"},
            "n_cases": n_cases,
            "note": joined(figure.note, own_tests.get("note", "")),
        }


def _tests(data: AcuityData, parts: CaseTables, shared: NDArray[np.bool_], pair: tuple[int, int]) -> Row:
    """Tests on the modes of both: who is right (McNemar), and whether they use the levels alike."""
    tables = parts.tables[shared][:, list(pair)]
    right = (tables * np.eye(data.n_levels)).sum(axis=(2, 3)) > 0
    only_first, only_second = right[:, 0] & ~right[:, 1], right[:, 1] & ~right[:, 0]
    of_modes = mcnemar(only_first, only_second, n_cases=len(tables))
    mid = mcnemar_p(of_modes.only_first, of_modes.only_second, Method.MID_P)
    clustered = _clustered(data, np.flatnonzero(shared), pair)
    levels = tables.sum(axis=2)  # one for each case and candidate
    table = levels[:, 0].T @ levels[:, 1]
    symmetry, margins = bowker(table), stuart_maxwell(table)
    undefined = {
        "p_exact, p_mid": of_modes.p, "p_clustered": clustered, "bowker": symmetry.p, "stuart_maxwell": margins.p,
    }  # fmt: skip
    return {
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
        "note": joined(
            *(labelled(name, figure.reason) for name, figure in undefined.items() if isinstance(figure, Undefined))
        ),
    }


def _clustered(data: AcuityData, shared: NDArray[np.int64], pair: tuple[int, int]) -> Figure:
    """The test over cases, from the samples that both have of the same number."""
    number_of = {int(case): number for number, case in enumerate(part_cases(data)[shared])}
    right: dict[tuple[int, int], dict[int, bool]] = {}
    for place in np.flatnonzero(data.usable & np.isin(data.series, pair)).tolist():
        case = int(data.case[place])
        if case in number_of:
            key = (case, int(data.sample[place]))
            right.setdefault(key, {})[int(data.series[place])] = bool(data.place[place] == data.low[case])
    firsts, seconds = (np.zeros(len(number_of), dtype=np.int64) for _ in range(2))
    compared = np.zeros(len(number_of), dtype=bool)
    for (case, _sample), answers in right.items():
        if len(answers) == 2:
            compared[number_of[case]] = True
            firsts[number_of[case]] += answers[pair[0]] and not answers[pair[1]]
            seconds[number_of[case]] += answers[pair[1]] and not answers[pair[0]]
    return mcnemar(firsts, seconds, n_cases=int(compared.sum())).p_clustered


def part_cases(data: AcuityData) -> NDArray[np.int64]:
    """The numbers of the cases with a clear reference."""
    return everything(data).cases


def _correct(rows: Sequence[Row]) -> None:
    """Add ``p_holm``: the exact p of each measure, corrected over all pairs of a format."""
    families: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.get("p_exact") is not None:
            families.setdefault((row["format"], row["measure"]), []).append(row)
    for family in families.values():
        for row, corrected in zip(family, holm([row["p_exact"] for row in family]), strict=True):
            row["p_holm"] = corrected
