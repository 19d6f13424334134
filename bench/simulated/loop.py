"""Coverage of the rule's intervals and of percentile intervals, over many repetitions of a simulated study.

The repetitions stand where the slices of a report stand, so that one call makes the intervals of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.simulated.figures import Figure
from bench.simulated.study import Array, Model, Study
from consilium.statistics.bootstrap import MINIMUM_CASES, CaseBootstrap, percentile_intervals
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.jackknife import jackknife, logit_ends
from consilium.statistics.mover import correlations, difference_ends

RULE, PERCENTILE = "rule", "percentile"
# Effective numbers of cases from which on an interval is shown: of all, and of those that mention the rarer class.
SHOWN_FROM, RARER_FROM = 5, 4
# Repetitions that are drawn at once; those of one block share the weights of their resamples.
BLOCK = 500


@dataclass
class Tally:
    """How the intervals of one cell did, in numbers of repetitions."""

    repetitions: int = 0
    defined: int = 0
    below: int = 0  # the truth lies below the low end
    above: int = 0
    length: float = 0.0
    shown: int = 0  # defined, with G* of at least 5
    missed_shown: int = 0
    varied: int = 0  # shown, and at least 4 effective cases mention the rarer class
    missed_varied: int = 0
    effective: float = 0.0
    at_edge: int = 0

    def add(
        self, low: Array, high: Array, truth: Array, effective: Array, at_edge: NDArray[np.bool_], rarer: Array
    ) -> None:
        defined = ~(np.isnan(low) | np.isnan(high))
        rounding = 1e-9 * np.maximum(1, np.abs(truth))
        below, above = defined & (truth < low - rounding), defined & (truth > high + rounding)
        shown = defined & (effective >= SHOWN_FROM - 1e-9)
        self.repetitions += len(low)
        self.defined += int(defined.sum())
        self.below += int(below.sum())
        self.above += int(above.sum())
        self.length += float((high - low)[defined].sum())
        self.shown += int(shown.sum())
        self.missed_shown += int((shown & (below | above)).sum())
        varied = shown & (rarer >= RARER_FROM - 1e-9)
        self.varied += int(varied.sum())
        self.missed_varied += int((varied & (below | above)).sum())
        self.effective += float(effective.sum())
        self.at_edge += int((at_edge & defined).sum())


@dataclass(frozen=True)
class Cell:
    """Shares of one figure under one model with so many cases, by one method; ``truth`` says what is to be held.

    ``coverage``, the misses and ``length`` are over the defined intervals; ``coverage_shown`` over those with an
    effective number of cases of at least 5, which are ``shown`` of all; ``coverage_varied`` over those of them whose
    rarer class is mentioned in an effective number of at least 4, ``varied`` of all.
    """

    model: str
    figure: str
    truth: str
    cases: int
    method: str
    coverage: float
    below: float
    above: float
    length: float
    undefined: float
    shown: float
    coverage_shown: float
    varied: float
    coverage_varied: float
    effective: float
    at_edge: float
    value: float


@dataclass(eq=False)
class _Totals:
    """Sums of every resample, kept for the figures that are made from the same sums."""

    bootstrap: CaseBootstrap
    kept: dict[int, tuple[Array, Array]] = field(default_factory=dict)

    def of(self, sums: Array) -> Array:
        """(cases, repetitions, channels) to (repetitions, resamples, channels)."""
        if id(sums) not in self.kept:
            self.kept[id(sums)] = (sums, self.bootstrap.totals(sums))
        return np.moveaxis(self.kept[id(sums)][1], 1, -1)


Interval = tuple[Array, Array, Array, NDArray[np.bool_]]


def rule_interval(parts: Sequence[CaseFigures]) -> Interval:
    """Ends, effective number of cases and whether the edge rule was used, of each slice."""
    jacks = [jackknife(part) for part in parts]
    ends = [logit_ends(jack) for jack in jacks]
    effective: Array = np.min([jack.effective for jack in jacks], axis=0)
    if len(parts) == 1:
        return ends[0].low, ends[0].high, effective, ends[0].at_edge
    given = [(jack.values, own.low, own.high) for jack, own in zip(jacks, ends, strict=True)]
    r = correlations(jacks[0].deviations(), jacks[1].deviations())
    low, high = difference_ends(given[0], given[1], r)
    return low, high, effective, ends[0].at_edge | ends[1].at_edge


def percentile_interval(parts: Sequence[CaseFigures], totals: _Totals) -> tuple[Array, Array]:
    """Ends as `consilium.statistics.bootstrap` gives them, here with fewer than its ten cases as well."""
    replicates = [part.values(totals.of(np.asarray(part.sums))) for part in parts]
    values = replicates[0] - replicates[1] if len(parts) == 2 else replicates[0]
    intervals = percentile_intervals(values, MINIMUM_CASES)
    return intervals.low, intervals.high


def value_of(figure: Figure, study: Study) -> Array:
    """The figure of each repetition, or of expected sums its truth."""
    values = [part.whole() for part in figure.parts(study)]
    value = values[0] - values[1] if len(values) == 2 else values[0]
    return value if figure.shown is None else figure.shown(value)


def cells(
    model: Model,
    figures: Sequence[Figure],
    cases: int,
    *,
    repetitions: int,
    resamples: int,
    seed: int,
    methods: Sequence[str] = (RULE, PERCENTILE),
) -> Iterator[Cell]:
    """Every figure that the model has, with so many cases; ``seed`` fixes what is drawn."""
    rng = np.random.default_rng([seed, cases, *model.name.encode()])
    tallies: dict[tuple[str, str, str], Tally] = {}
    truths: dict[tuple[str, str], list[float]] = {}
    for start in range(0, repetitions, BLOCK):
        size = min(BLOCK, repetitions - start)
        drawn = model.draw(rng, cases, size)
        totals = _Totals(CaseBootstrap(cases, int(rng.integers(2**31)), resamples))
        for figure in figures:
            if figure.kind != model.kind or not all(name in drawn.study.sums for name in figure.needs):
                continue
            parts = figure.parts(drawn.study)
            low, high, effective, at_edge = rule_interval(parts)
            ends = {RULE: (low, high)}
            if PERCENTILE in methods:
                ends[PERCENTILE] = percentile_interval(parts, totals)
            rarer = effective if figure.rarer is None else figure.rarer(drawn.study)
            undefined = None if figure.undefined is None else figure.undefined(drawn.study)
            for truth, study in drawn.truths.items():
                value = np.broadcast_to(value_of(figure, study), size)
                truths.setdefault((figure.name, truth), []).append(float(value.mean()))
                for method, (lower, upper) in ends.items():
                    if undefined is not None:
                        lower, upper = (np.where(undefined, np.nan, end) for end in (lower, upper))
                    if figure.shown is not None:
                        lower, upper = figure.shown(lower), figure.shown(upper)
                    tally = tallies.setdefault((figure.name, truth, method), Tally())
                    own_edge = at_edge if method == RULE else np.zeros(size, dtype=bool)
                    tally.add(lower, upper, value, effective, own_edge, rarer)
    for (name, truth, method), tally in tallies.items():
        yield _cell(tally, model.name, name, truth, cases, method, float(np.mean(truths[name, truth])))


def _cell(tally: Tally, model: str, figure: str, truth: str, cases: int, method: str, value: float) -> Cell:
    defined = max(tally.defined, 1)
    return Cell(
        model,
        figure,
        truth,
        cases,
        method,
        coverage=1 - (tally.below + tally.above) / defined if tally.defined else float("nan"),
        below=tally.below / defined,
        above=tally.above / defined,
        length=tally.length / defined,
        undefined=1 - tally.defined / tally.repetitions,
        shown=tally.shown / tally.repetitions,
        coverage_shown=1 - tally.missed_shown / tally.shown if tally.shown else float("nan"),
        varied=tally.varied / tally.repetitions,
        coverage_varied=1 - tally.missed_varied / tally.varied if tally.varied else float("nan"),
        effective=tally.effective / tally.repetitions,
        at_edge=tally.at_edge / defined,
        value=value,
    )
