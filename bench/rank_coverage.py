"""How often a range of ranks holds the true rank, simulated.

    .venv/bin/python bench/rank_coverage.py [--repetitions 1000] [--resamples 500] [--only MODEL …] [--quick]

Candidates answer the same cases; each repetition draws new ones and asks for the ranges. Models:

* ``accuracy``, ``cacs``: 30 criteria a case. The logit of a criterion's being met is that of the candidate, a case
  effect (SD 1, correlated 0.7 between candidates) and a response effect (SD 0.5). Figures: Rubric Accuracy; CACS@10.
* ``mf1``: 30 criteria a case, of which physicians find a share met (logit -0.6, case effect SD 1). A judge's decision
  is right with the logit of the judge, a difficulty of the case (SD 0.7, the same for all judges) and an effect of its
  own (SD 0.4). Figure: MF1 of each judge with the physicians.
* ``unequal``: as ``accuracy``, with 5 to 30 criteria and 1 to 4 responses a case, and a fifth of the cases missing for
  each candidate.

*level*: logits of the candidates 0.02 below to 0.02 above their mean; *apart*: 0.8; *tied*: all the same, where a
range counts as right only if it is all of the places; *high*: 0.8 about a mean where most criteria are met.

A row is a method and has the least coverage of any candidate, its mean over candidates, the share of repetitions in
which all ranges hold at once, and the mean length of a range in places. Methods: paired comparisons with Holm's
correction, by MOVER (what the product shows) and by raw t (the jackknife standard error of the difference, t(G* - 1));
and percentiles of the bootstrap over cases.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, stdtrit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.cacs import cacs_values
from consilium.statistics.case_figures import CaseFigures, case_ratio, case_table
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.jackknife import jackknife
from consilium.statistics.macro_f1 import macro_f1_values
from consilium.statistics.rank_ranges import Comparison, holm_ranges, mover_comparison, places, rank_ranges

Array = NDArray[np.float64]
Ranges = tuple[NDArray[np.int64], NDArray[np.int64]]
Model = Callable[[np.random.Generator, int, Array], CaseFigures]
CRITERIA = 30
THRESHOLD = 10


def shared_effects(rng: np.random.Generator, cases: int, candidates: int, deviation: float, share: float) -> Array:
    """Case effects of shape (cases, candidates), correlated by ``share`` between candidates."""
    common, own = rng.normal(size=(cases, 1)), rng.normal(size=(cases, candidates))
    return np.asarray(deviation * (np.sqrt(share) * common + np.sqrt(1 - share) * own))


def hits(rng: np.random.Generator, cases: int, logits: Array, criteria: int = CRITERIA) -> NDArray[np.int64]:
    effects = shared_effects(rng, cases, len(logits), 1.0, 0.7) + rng.normal(0, 0.5, (cases, len(logits)))
    return rng.binomial(criteria, expit(logits + effects))


def accuracy(rng: np.random.Generator, cases: int, logits: Array) -> CaseFigures:
    met = hits(rng, cases, logits)
    return case_ratio(met, np.full(met.shape, CRITERIA), scale=100.0)


def cacs(rng: np.random.Generator, cases: int, logits: Array) -> CaseFigures:
    met = hits(rng, cases, logits)
    scores = cacs_values(met, np.full(met.shape, CRITERIA), THRESHOLD) / 100
    return case_ratio(scores, np.ones(met.shape), scale=100.0)


def mf1(rng: np.random.Generator, cases: int, logits: Array) -> CaseFigures:
    met = rng.binomial(CRITERIA, expit(-0.6 + rng.normal(size=(cases, 1))))
    effects = 0.7 * rng.normal(size=(cases, 1)) + 0.4 * rng.normal(size=(cases, len(logits)))
    right = expit(logits + 1.7 + effects)
    tp = rng.binomial(met, right)
    tn = rng.binomial(CRITERIA - met, right)
    return case_table(macro_f1_values, ConfusionCounts(tp, CRITERIA - met - tn, met - tp, tn))


def unequal(rng: np.random.Generator, cases: int, logits: Array) -> CaseFigures:
    criteria, responses = rng.integers(5, 31, (cases, 1)), rng.integers(1, 5, (cases, 1))
    effects = shared_effects(rng, cases, len(logits), 1.0, 0.7)
    met = np.zeros((cases, len(logits)), dtype=np.int64)
    for number in range(4):
        shares = expit(logits + effects + rng.normal(0, 0.5, met.shape))
        met += np.where(number < responses, rng.binomial(np.broadcast_to(criteria, met.shape), shares), 0)
    scored = rng.random(met.shape) > 0.2
    return case_ratio(np.where(scored, met, 0), np.where(scored, criteria * responses, 0), scale=100.0)


MODELS: dict[str, Model] = {"accuracy": accuracy, "cacs": cacs, "mf1": mf1, "unequal": unequal}
SPREADS = {"level": (0.02, 0.0), "apart": (0.8, 0.0), "high": (0.8, 2.5), "tied": (0.0, 0.0)}


@dataclass(frozen=True)
class Cell:
    model: str
    spread: str
    candidates: int
    cases: int

    @property
    def logits(self) -> Array:
        half, mean = SPREADS[self.spread]
        return mean + np.linspace(half, -half, self.candidates)


def cells(quick: bool) -> Iterator[Cell]:
    for model in MODELS:
        for spread in ("level", "apart"):
            for cases in (10, 30, 100):
                yield Cell(model, spread, 11, cases)
    if quick:
        return
    for model in ("accuracy", "cacs", "mf1"):
        yield from (Cell(model, "high", 11, cases) for cases in (10, 30))
        yield from (Cell(model, "tied", 11, cases) for cases in (10, 100))
    for candidates in (2, 3, 30):
        yield from (Cell("accuracy", spread, candidates, cases) for spread in ("level", "apart") for cases in (10, 30))
    yield from (Cell(model, "level", 11, cases) for model in ("accuracy", "cacs", "mf1") for cases in (5, 7))


def paired_t(figures: CaseFigures) -> Comparison:
    """Differences with their jackknife standard error and t(G* - 1), on the scale of the figures."""
    jack = jackknife(figures)
    deviations, n = jack.deviations(), jack.behind.sum(axis=0)
    squares = (deviations[:, :, None] - deviations[:, None, :]) ** 2
    error = np.sqrt((n.min() - 1) / n.min() * squares.sum(axis=0))
    difference = jack.values[:, None] - jack.values[None, :]
    free = np.maximum(np.minimum(jack.effective[:, None], jack.effective[None, :]) - 1, 1)

    def signs(level: float) -> NDArray[np.int64]:
        half = stdtrit(free, (1 + level) / 2) * error
        return np.where(difference > half, 1, np.where(difference < -half, -1, 0))

    return signs


def by_bootstrap(figures: CaseFigures, bootstrap: CaseBootstrap) -> Ranges:
    totals = bootstrap.totals(np.where(figures.behind[..., None], figures.sums, 0))
    replicates = figures.values(np.moveaxis(totals, 1, -1))
    ranges = rank_ranges(figures.whole().tolist(), replicates, figures.behind.sum(axis=0))
    low, high = ([getattr(figure, end) or 0 for figure in ranges] for end in ("low", "high"))
    return np.array(low, dtype=np.int64), np.array(high, dtype=np.int64)


def simulate(cell: Cell, repetitions: int, resamples: int, seed: int) -> dict[str, tuple[Array, float]]:
    """For each method: whether the range of each candidate holds its true rank, (repetitions, candidates), and the mean
    length of the ranges.
    """
    rng = np.random.default_rng([seed, cell.candidates, cell.cases, *cell.model.encode(), *cell.spread.encode()])
    size = cell.candidates
    first, last = places(cell.logits)
    held: dict[str, list[NDArray[np.bool_]]] = {}
    lengths: dict[str, list[float]] = {}
    for number in range(repetitions):
        figures = MODELS[cell.model](rng, cell.cases, cell.logits)
        ranges: dict[str, Ranges] = {
            "mover": holm_ranges(mover_comparison(jackknife(figures)), size),
            "raw t": holm_ranges(paired_t(figures), size),
        }
        if resamples and cell.cases >= 10 and figures.behind.sum(axis=0).min() >= 10:
            ranges["percentile"] = by_bootstrap(figures, CaseBootstrap(cell.cases, number, resamples))
        for name, (low, high) in ranges.items():
            held.setdefault(name, []).append((low <= first) & (last <= high))
            lengths.setdefault(name, []).append(float((high - low + 1).mean()))
    return {name: (np.array(rows, dtype=np.float64), float(np.mean(lengths[name]))) for name, rows in held.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=500, help="of the percentile bootstrap; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--only", nargs="*", choices=MODELS, help="these models")
    parser.add_argument("--quick", action="store_true", help="eleven candidates, level and apart, and nothing else")
    options = parser.parse_args()
    print("model     spread candidates cases method      least  mean   all at once  places  (coverage in %)")
    for cell in cells(options.quick):
        if options.only and cell.model not in options.only:
            continue
        for name, (held, length) in simulate(cell, options.repetitions, options.resamples, options.seed).items():
            each = 100 * held.mean(axis=0)
            print(
                f"{cell.model:<9} {cell.spread:<6} {cell.candidates:>10} {cell.cases:>5} {name:<10}"
                f" {each.min():6.1f} {each.mean():6.1f} {100 * held.all(axis=1).mean():12.1f} {length:8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
