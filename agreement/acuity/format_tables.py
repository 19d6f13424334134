"""The same cases asked twice: what a candidate says in a forced choice (qa), and as to a patient (chat).

Measures are compared on the cases of the main figures with a usable reading in both formats (expected). The
joint table, the mean shift and the tests of margins and symmetry need no reference: they are of the modes of all such
cases, ambiguous and boundary ones too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import MEASURES, Price, compared
from agreement.acuity.readings import AcuityData
from agreement.acuity.tables import Aggregate, case_tables, everything, level_counts, paired, weighed
from consilium.core.phrases import labelled
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import case_ratio
from consilium.statistics.estimate import Figure, Undefined, figures
from consilium.statistics.holm import holm
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.marginal_homogeneity import bowker, stuart_maxwell
from consilium.statistics.mcnemar import mcnemar

Row = dict[str, Any]

FORMAT_COLUMNS = (
    *("candidate", "slice", "measure", "qa", "chat", "difference", "difference_low", "difference_high", "n_cases"),
    "note",
)
JOINT_COLUMNS = ("candidate", "qa", "chat", "n")
TEST_COLUMNS = ("candidate", "test", "statistic", "df", "p", "p_holm", "n", "note")
JOINT_TEXT = ("candidate", "qa", "chat")
TEXT_COLUMNS = ("candidate", "slice", "measure", "test", "note")
SHIFT = "shift"


def format_rows(data: AcuityData, *, price: Price, rule: IntervalRule) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of ``formats.csv``, ``joint.csv`` and ``tests.csv``; none of a candidate with one format alone."""
    pairs = pairs_of_formats(data)
    if not pairs:
        return [], [], []
    measures = _measures(data, list(pairs.values()), price, rule)
    counts = level_counts(data)
    formats: list[Row] = []
    joint: list[Row] = []
    tests: list[Row] = []
    for (candidate, pair), of_measures in zip(pairs.items(), measures, strict=True):
        levels, shared = _modes(counts[:, list(pair)])
        formats += [{"candidate": candidate, **row} for row in (*of_measures, *_shifts(data, levels, shared, rule))]
        table = np.zeros((data.n_levels, data.n_levels), dtype=np.int64)
        np.add.at(table, (levels[shared, 0], levels[shared, 1]), 1)
        joint += [
            {"candidate": candidate, "qa": qa, "chat": chat, "n": int(table[i, j])}
            for i, qa in enumerate(data.scale.values)
            for j, chat in enumerate(data.scale.values)
        ]
        tests += [{"candidate": candidate, **row} for row in _tests(data, levels, shared, table)]
    for name in ("mcnemar", "bowker", "stuart_maxwell"):
        family = [row for row in tests if row["test"] == name and row["p"] is not None]
        for row, corrected in zip(family, holm([row["p"] for row in family]), strict=True):
            row["p_holm"] = corrected
    return formats, joint, tests


def pairs_of_formats(data: AcuityData) -> dict[str, tuple[int, int]]:
    """The series of each candidate in both formats, qa first; with their sources where it has several in a format."""
    series: dict[str, dict[str, list[int]]] = {}
    for i, (_name, format_) in enumerate(data.series_names):
        series.setdefault(data.candidate_of(i), {}).setdefault(format_, []).append(i)
    pairs: dict[str, tuple[int, int]] = {}
    for candidate, own in series.items():
        both = list(product(own.get("qa", []), own.get("chat", [])))
        for qa, chat in both:
            sources = f" ({data.source_of(qa)}, {data.source_of(chat)})" if len(both) > 1 else ""
            pairs[f"{candidate}{sources}"] = (qa, chat)
    return pairs


def _modes(counts: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The modes of both formats, (cases, 2), and whether a case has a usable reading in both."""
    modes = weighed(counts, Aggregate.MODE).argmax(axis=-1)
    return modes, np.asarray((counts.sum(axis=-1) > 0).all(axis=1))


def _measures(data: AcuityData, pairs: Sequence[tuple[int, int]], price: Price, rule: IntervalRule) -> list[list[Row]]:
    """The rows of each pair of qa and chat: each measure in both formats, and chat less qa."""
    parts = case_tables(data, everything(data), Aggregate.EXPECTED)
    both = paired(parts, [(chat, qa) for qa, chat in pairs], parts.usable > 0)
    n_cases = both.n_cases.tolist()
    rows: list[list[Row]] = [[] for _ in pairs]
    for measure in MEASURES:
        if measure.of_counts:
            continue
        values, intervals = compared(both, measure, price, rule)
        chat, qa = values[both.first], values[both.second]
        apart = figures(
            chat - qa,
            n_cases,
            reason=lambda i: Reason.ONE_LEVEL_THROUGHOUT() if n_cases[i] else Reason.NO_SHARED_CASE(),
        )
        for i, figure in enumerate(intervals.attach(apart)):
            rows[i].append(_row("all", measure.key, [qa[i], chat[i]], figure, n_cases[i]))
    return rows


def _row(part: str, measure: str, values: list[float], figure: Figure, n_cases: int) -> Row:
    qa, chat = (None if np.isnan(value) else float(value) for value in values)
    return {
        "slice": part,
        "measure": measure,
        "qa": qa,
        "chat": chat,
        "difference": figure.value,
        "difference_low": figure.low,
        "difference_high": figure.high,
        "n_cases": n_cases,
        "note": figure.note,
    }


def _shifts(
    data: AcuityData, levels: NDArray[np.int64], shared: NDArray[np.bool_], rule: IntervalRule
) -> Iterator[Row]:
    """The mean level in both formats and the mean shift, over all shared cases and by the level of the reference."""
    slices = {"all": shared}
    for place, level in enumerate(data.scale.values):
        slices[f"reference:{level}"] = shared & (data.low == place) & (data.high == place)
    most = data.n_levels - 1.0
    for name, chosen in slices.items():
        n_cases = int(chosen.sum())
        values = [float(levels[chosen, place].mean()) if n_cases else float("nan") for place in (0, 1)]
        apart = np.where(chosen, levels[:, 1] - levels[:, 0], 0)[:, None]
        own = case_ratio(apart, chosen[:, None], bounds=(-most, most))
        estimates = figures(own.whole(), [n_cases], reason=lambda i: Reason.NO_SHARED_CASE())
        (figure,) = rule.intervals(own).attach(estimates)
        yield _row(name, SHIFT, values, figure, n_cases)


def _tests(
    data: AcuityData, levels: NDArray[np.int64], shared: NDArray[np.bool_], table: NDArray[np.int64]
) -> Iterator[Row]:
    """McNemar's test of who is right on the cases that count, and the tests of margins and symmetry on all."""
    counted = shared & data.counts
    own = levels[counted]
    right = (own >= data.low[counted][:, None]) & (own <= data.high[counted][:, None])
    only_qa, only_chat = right[:, 0] & ~right[:, 1], right[:, 1] & ~right[:, 0]
    of_right = mcnemar(only_qa, only_chat, n_cases=int(counted.sum()))
    counts = Reason.ONLY_RIGHT(qa=of_right.only_first, chat=of_right.only_second)
    yield _test("mcnemar", None, None, of_right.p, int(counted.sum()), labelled("exact", counts))
    for name, test in (("bowker", bowker(table)), ("stuart_maxwell", stuart_maxwell(table))):
        yield _test(name, test.statistic.value, test.degrees or None, test.p, int(shared.sum()), "")


def _test(name: str, statistic: float | None, degrees: int | None, p: Figure, n: int, note: str) -> Row:
    return {
        "test": name,
        "statistic": statistic,
        "df": degrees,
        "p": p.value,
        "p_holm": None,
        "n": n,
        "note": p.reason if isinstance(p, Undefined) else note,
    }
