"""How well a judge reads levels, beside how well physicians agree on the same responses, and rates put right by them.

A pair is a response and a physician who marked a level on it; pairs of one response share a weight of 1. Physicians
among themselves: every two who marked a level on one response, both ways round, with a weight of 1 a response as well.
*Gap*: judge less physicians on the responses with a level by the judge and by two physicians. Intervals are over cases,
since responses to one case are no independent units. The definitions are in docs/statistics.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from agreement.acuity.measures import Price
from consilium.core.out_folder import OutTable
from consilium.core.reasons import Reason
from consilium.statistics import ordinal_confusion as confusion
from consilium.statistics.case_figures import CaseFigures, case_ratio
from consilium.statistics.estimate import Figure, Undefined, figures, with_note
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.noninferiority import NonInferiority, non_inferiority
from consilium.statistics.ordinal_alpha import ordinal_alpha_values
from consilium.statistics.prediction_powered import case_sums, prediction_powered
from consilium.statistics.triage_cost import cost_of_cells
from consilium.statistics.weighted_kappa import weighted_kappa_values

Array = NDArray[np.float64]
Span = tuple[int, int]

NO_GAP = Reason.NO_USABLE_READING()
ENOUGH_READ = 30  # responses; below, rates of chat by the judge carry a badge
JUDGE_COLUMNS = ("candidate", "measure", "n_responses", "n_pairs", "value", "value_low", "value_high", "note")
CONFUSION_COLUMNS = ("candidate", "physicians", "judge", "n")
CEILING_COLUMNS = (
    *("measure", "n_responses", "judge", "judge_low", "judge_high", "physicians", "physicians_low", "physicians_high"),
    *("gap", "gap_low", "gap_high", "margin", "finding", "note"),
)
POWERED_COLUMNS = (
    *("candidate", "measure", "n_judged", "n_read", "judge", "judge_low", "judge_high", "physicians"),
    *("physicians_low", "physicians_high", "powered", "powered_low", "powered_high", "power", "enough_read", "note"),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A level that somebody reads in a response, None for none, and the words that show it.

    ``is_drawn``: the mark of a physician came from a batch that was drawn for the run of the judge.
    """

    level: int | None
    spans: tuple[Span, ...] = ()
    is_drawn: bool = True


def place_of_mark(mark: Mark) -> tuple[object, ...]:
    """Where a mark comes among those of a response."""
    return -1 if mark.level is None else mark.level, mark.spans, mark.is_drawn


@dataclass(frozen=True, slots=True)
class ReadResponse:
    """A response with the judge's reading and those of physicians.

    ``judge_state`` is *level* or why there is none; ``reference`` the level of its case, None where it is not clear.
    """

    case: str
    candidate: str
    judge: Mark
    judge_state: str
    physicians: tuple[Mark, ...] = ()
    reference: int | None = None

    @property
    def levels(self) -> list[int]:
        """The levels that physicians marked."""
        return [mark.level for mark in self.physicians if mark.level is not None]

    @property
    def drawn_levels(self) -> list[int]:
        """Those of them that came from batches drawn for the run."""
        return [mark.level for mark in self.physicians if mark.level is not None and mark.is_drawn]

    @property
    def is_drawn(self) -> bool:
        """Whether physicians read it in a batch drawn for the run, also where they found no level."""
        return any(mark.is_drawn for mark in self.physicians)

    @property
    def stratum(self) -> tuple[int | None, str]:
        """The judge's level and the candidate."""
        return self.judge.level, self.candidate


def overlap(first: Sequence[Span], second: Sequence[Span]) -> float:
    """Characters in both over characters in either; 0 where nothing is marked."""
    places, others = ({place for start, end in spans for place in range(start, end)} for spans in (first, second))
    return len(places & others) / len(places | others) if places | others else 0.0


@dataclass(frozen=True)
class _Tables:
    """By case: pairs of levels (cases, L, L) with weights of 1 a response and counted, and overlaps (cases, 2)."""

    weighted: Array
    counted: Array
    overlaps: Array
    n_responses: int

    @property
    def n_pairs(self) -> int:
        return int(self.counted.sum())


Pairs = Callable[[ReadResponse], list[tuple[Mark, Mark]]]


def _with_judge(row: ReadResponse) -> list[tuple[Mark, Mark]]:
    if row.judge.level is None:
        return []
    return [(mark, row.judge) for mark in row.physicians if mark.level is not None]


def _among_physicians(row: ReadResponse) -> list[tuple[Mark, Mark]]:
    return list(permutations([mark for mark in row.physicians if mark.level is not None], 2))


def _each_two(row: ReadResponse) -> list[tuple[Mark, Mark]]:
    return list(combinations([mark for mark in row.physicians if mark.level is not None], 2))


def _tables(
    rows: Sequence[ReadResponse], cases: Mapping[str, int], n_levels: int, pairs_of: Pairs, counted_of: Pairs
) -> _Tables:
    weighted, counted = (np.zeros((len(cases), n_levels, n_levels)) for _ in range(2))
    overlaps = np.zeros((len(cases), 2))
    n_responses = 0
    for row in rows:
        pairs = pairs_of(row)
        n_responses += bool(pairs)
        for first, second in pairs:
            weighted[cases[row.case], first.level, second.level] += 1 / len(pairs)
            overlaps[cases[row.case]] += np.array([overlap(first.spans, second.spans), 1.0]) / len(pairs)
        for first, second in counted_of(row):
            counted[cases[row.case], first.level, second.level] += 1
    return _Tables(weighted, counted, overlaps, n_responses)


def _ratio(
    above: Array, below: Array | None = None, *, bounds: tuple[float, float] = (0.0, 1.0)
) -> Callable[[Sequence[_Tables]], CaseFigures]:
    def figure(tables: Sequence[_Tables]) -> CaseFigures:
        stacked = np.stack([own.weighted for own in tables], axis=1)
        under = np.ones_like(above) if below is None else below
        return case_ratio(
            np.einsum("csij,ij->cs", stacked, above), np.einsum("csij,ij->cs", stacked, under), bounds=bounds
        )

    return figure


def _of_tables(values: Callable[[Array], Array], *, counted: bool) -> Callable[[Sequence[_Tables]], CaseFigures]:
    def figure(tables: Sequence[_Tables]) -> CaseFigures:
        stacked = np.stack([own.counted if counted else own.weighted for own in tables], axis=1)
        n_cases, n_series, n_levels = stacked.shape[:3]
        return CaseFigures(
            stacked.reshape(n_cases, n_series, n_levels * n_levels),
            lambda sums: values(sums.reshape(*sums.shape[:-1], n_levels, n_levels)),
            stacked.sum(axis=(2, 3)),
            -1.0,
            1.0,
        )

    return figure


def _overlaps(tables: Sequence[_Tables]) -> CaseFigures:
    stacked = np.stack([own.overlaps for own in tables], axis=1)
    return case_ratio(stacked[..., 0], stacked[..., 1])


def measures(n_levels: int) -> dict[str, Callable[[Sequence[_Tables]], CaseFigures]]:
    """The measures of a judge by name, in their order."""
    top = np.zeros((n_levels, n_levels))
    top[-1, -1] = 1.0
    marked = np.zeros((n_levels, n_levels))
    marked[-1] = 1.0
    span = n_levels - 1.0
    return {
        "exact": _ratio(confusion.right(n_levels)),
        "within_one": _ratio(confusion.within_one(n_levels)),
        "qwk": _of_tables(weighted_kappa_values, counted=False),
        "alpha": _of_tables(ordinal_alpha_values, counted=True),
        "bias": _ratio(confusion.steps(n_levels), bounds=(-span, span)),
        "emergency_recall": _ratio(top, marked),
        "quote_overlap": _overlaps,
    }


def _figures(figure: CaseFigures, n: Sequence[int], rule: IntervalRule) -> list[Figure]:
    estimates = figures(figure.whole(), np.array(n), reason=lambda i: Reason.NO_USABLE_READING())
    return rule.intervals(figure).attach(estimates)


def _cells(figure: Figure) -> tuple[float | None, float | None, float | None]:
    return figure.value, figure.low, figure.high


def _candidates(rows: Sequence[ReadResponse]) -> Iterator[tuple[str, list[ReadResponse]]]:
    yield "all", list(rows)
    for name in sorted({row.candidate for row in rows}):
        yield name, [row for row in rows if row.candidate == name]


def judge_rows(rows: Sequence[ReadResponse], n_levels: int, rule: IntervalRule) -> Iterator[tuple[object, ...]]:
    """Rows of ``judge.csv``: the judge against physicians, for all responses that were read and by candidate."""
    read = [row for row in rows if row.physicians]
    for name, own in _candidates(read):
        cases = {case: place for place, case in enumerate(sorted({row.case for row in own}))}
        tables = _tables(own, cases, n_levels, _with_judge, _with_judge)
        for key, measure in measures(n_levels).items():
            if not cases:
                figure: Figure = Undefined(Reason.NO_USABLE_READING())
            else:
                figure = _figures(measure([tables]), [tables.n_responses], rule)[0]
            yield (name, key, tables.n_responses, tables.n_pairs, *_cells(figure), figure.note)


def confusion_rows(rows: Sequence[ReadResponse], values: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Rows of ``judge_confusion.csv``: pairs of a physician's mark and the judge's reading; cells of 0 are left out."""
    read = [row for row in rows if row.physicians]
    order = {value: place for place, value in enumerate([*values, "no-level", "refused", "invalid"])}
    for name, own in _candidates(read):
        counts: Counter[tuple[str, str]] = Counter()
        for row in own:
            judge = row.judge_state if row.judge.level is None else values[row.judge.level]
            for mark in row.physicians:
                counts["no-level" if mark.level is None else values[mark.level], judge] += 1
        for physicians, judge in sorted(counts, key=lambda cell: (order[cell[0]], order[cell[1]])):
            yield name, physicians, judge, counts[physicians, judge]


def ceiling_rows(
    rows: Sequence[ReadResponse], n_levels: int, margin: float, rule: IntervalRule
) -> Iterator[tuple[object, ...]]:
    """Rows of ``judge_ceiling.csv``: judge and physicians on the same responses, the gap, and non-inferiority."""
    shared = [row for row in rows if row.judge.level is not None and len(row.levels) > 1]
    cases = {case: place for place, case in enumerate(sorted({row.case for row in shared}))}
    if not cases:
        return
    judge = _tables(shared, cases, n_levels, _with_judge, _with_judge)
    physicians = _tables(shared, cases, n_levels, _among_physicians, _each_two)
    first, second = np.array([0]), np.array([1])
    for key, measure in measures(n_levels).items():
        if key == "bias":
            continue  # that of physicians among themselves is 0 by its making
        both = measure([judge, physicians])
        own, among = _figures(both, [judge.n_responses, physicians.n_responses], rule)
        _ends, apart = rule.compared(both, first, second)
        values = both.whole()
        gaps = figures(values[:1] - values[1:], np.array([judge.n_responses]), reason=lambda _i: NO_GAP)
        gap = apart.attach(gaps)[0]
        conclusion = non_inferiority(gap, margin)
        finding = conclusion.finding.value if isinstance(conclusion, NonInferiority) else ""
        yield (key, judge.n_responses, *_cells(own), *_cells(among), *_cells(gap), margin, finding, gap.note)


def powered_rows(rows: Sequence[ReadResponse], n_levels: int, price: Price) -> Iterator[tuple[object, ...]]:
    """Rows of ``powered.csv``: rates of each candidate by the judge, by physicians, and by both (prediction-powered).

    Over responses to clear cases with a level by the judge. A response in which physicians found a level, in a batch
    drawn for the run, weighs as many as its stratum (judge's level and candidate) has for each of these. Where nobody
    read a response of a stratum in such a batch, there are no rates but those by the judge; a stratum in which no level
    was found is left out, with a remark.
    """
    scored: dict[str, tuple[Array, tuple[float, float]]] = {
        "accuracy": (confusion.right(n_levels), (0.0, 1.0)),
        "over": (confusion.over(n_levels), (0.0, 1.0)),
        "under": (confusion.under(n_levels), (0.0, 1.0)),
        "severe_under": (confusion.severe_under(n_levels), (0.0, 1.0)),
        "cost": (cost_of_cells(n_levels, price.ratio, price.exponent), (0.0, price.most(n_levels))),
    }
    judged = [row for row in rows if row.reference is not None and row.judge.level is not None]
    in_stratum = Counter(row.stratum for row in judged)
    weighed_in_stratum = Counter(row.stratum for row in judged if row.drawn_levels)
    for name, own in _candidates(judged):
        cases = {case: place for place, case in enumerate(sorted({row.case for row in own}))}
        n_read = sum(bool(row.levels) for row in own)
        if not own:
            continue
        weights = [
            in_stratum[row.stratum] / weighed_in_stratum[row.stratum] if row.drawn_levels else 1.0 for row in own
        ]
        undefined = _no_sample(own)
        remark = _without_level(own)
        for key, (score, bounds) in scored.items():
            if not np.isfinite(score).all():
                continue  # two levels know no severe error
            sums = case_sums(
                case=[cases[row.case] for row in own],
                n_cases=len(cases),
                prediction=[score[row.reference, row.judge.level] for row in own],
                label=[
                    float(np.mean(score[row.reference, row.drawn_levels])) if row.drawn_levels else np.nan
                    for row in own
                ],
                weight=weights,
            )
            [rate] = prediction_powered(sums, bounds=bounds)
            physicians, powered = undefined or rate.physicians, undefined or with_note(rate.powered, remark)
            yield (
                *(name, key, rate.n_judged, n_read),
                *(*_cells(rate.judge), *_cells(physicians), *_cells(powered)),
                *(None if undefined else rate.power, n_read >= ENOUGH_READ, powered.note),
            )


def _no_sample(rows: Sequence[ReadResponse]) -> Undefined | None:
    """Why what physicians read stands for no part of these responses, or not for all of them; None where it does."""
    drawn = {row.stratum for row in rows if row.is_drawn}
    if not drawn:
        # Where nothing was read at all, the estimate says so itself.
        return Undefined(Reason.SAMPLE_OF_ANOTHER_RUN()) if any(row.physicians for row in rows) else None
    n_unread = sum(row.stratum not in drawn for row in rows)
    return Undefined(Reason.UNREAD_STRATA(n=n_unread)) if n_unread else None


def _without_level(rows: Sequence[ReadResponse]) -> str:
    """A remark where physicians read responses of a stratum and found no level in any, so that nothing weighs for it.

    Where they found no level in anything, there is no estimate, which says so itself.
    """
    weighed = {row.stratum for row in rows if row.drawn_levels}
    n_left_out = sum(row.stratum not in weighed for row in rows)
    return Reason.STRATA_WITHOUT_LEVEL(n=n_left_out) if weighed and n_left_out else ""


def judge_tables(
    rows: Sequence[ReadResponse], values: Sequence[str], *, margin: float, price: Price, rule: IntervalRule
) -> list[OutTable]:
    """All tables about a judge; ``values`` name the levels of the scale."""
    n_levels = len(values)
    rows_of = {
        "judge": (JUDGE_COLUMNS, judge_rows(rows, n_levels, rule)),
        "judge_confusion": (CONFUSION_COLUMNS, confusion_rows(rows, values)),
        "judge_ceiling": (CEILING_COLUMNS, ceiling_rows(rows, n_levels, margin, rule)),
        "powered": (POWERED_COLUMNS, powered_rows(rows, n_levels, price)),
    }
    return [
        OutTable(name, columns, [dict(zip(columns, row, strict=True)) for row in own], ("candidate", "note"))
        for name, (columns, own) in rows_of.items()
    ]
