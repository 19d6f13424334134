"""Coverage of the rule's intervals and of percentile intervals, over many repetitions of a simulated study.

The repetitions stand where the slices of a report stand, so that one call makes the intervals of all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.simulated.figures import Figure
from bench.simulated.study import Array, Model, Study
from consilium.statistics.bootstrap import MINIMUM_CASES, CaseBootstrap, percentile_intervals
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.intervals import CaseJackknife

RULE, PERCENTILE = "rule", "percentile"
# Repetitions that are drawn at once; those of one block share the weights of their resamples.
BLOCK = 500


@dataclass
class Tally:
    """How the intervals of one cell did, in numbers of repetitions."""

    repetitions: int = 0
    shown: int = 0
    below: int = 0  # the truth lies below the low end
    above: int = 0
    length: float = 0.0
    effective: float = 0.0

    def add(self, low: Array, high: Array, truth: Array, effective: Array) -> None:
        """``low`` and ``high`` are NaN where no interval is shown."""
        shown = ~(np.isnan(low) | np.isnan(high))
        rounding = 1e-9 * np.maximum(1, np.abs(truth))
        self.repetitions += len(low)
        self.shown += int(shown.sum())
        self.below += int((shown & (truth < low - rounding)).sum())
        self.above += int((shown & (truth > high + rounding)).sum())
        self.length += float((high - low)[shown].sum())
        self.effective += float(effective.sum())


@dataclass(frozen=True)
class Cell:
    """Shares of one figure under one model with so many cases, by one method; ``truth`` says what is to be held.

    ``coverage``, the misses and ``length`` are over the intervals that are shown, NaN without any; ``undefined`` is
    the share of studies without interval, ``effective`` the mean effective number of cases.
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
    effective: float
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


def rule_interval(parts: Sequence[CaseFigures]) -> tuple[Array, Array, Array]:
    """Ends and effective number of cases of each slice, as a report shows them."""
    rule = CaseJackknife()
    intervals = rule.intervals(parts[0]) if len(parts) == 1 else rule.differences(*parts)
    return intervals.low, intervals.high, intervals.effective


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
            low, high, effective = rule_interval(parts)
            ends = {RULE: (low, high)}
            if PERCENTILE in methods:
                ends[PERCENTILE] = percentile_interval(parts, totals)
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
                    tally.add(lower, upper, value, effective)
    for (name, truth, method), tally in tallies.items():
        yield _cell(tally, model.name, name, truth, cases, method, float(np.mean(truths[name, truth])))


def _cell(tally: Tally, model: str, figure: str, truth: str, cases: int, method: str, value: float) -> Cell:
    shown = tally.shown or float("nan")
    return Cell(
        model,
        figure,
        truth,
        cases,
        method,
        coverage=1 - (tally.below + tally.above) / shown,
        below=tally.below / shown,
        above=tally.above / shown,
        length=tally.length / shown,
        undefined=1 - tally.shown / tally.repetitions,
        effective=tally.effective / tally.repetitions,
        value=value,
    )
