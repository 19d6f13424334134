"""How often the intervals of acuity figures hold the truth, simulated.

    .venv/bin/python bench/acuity_coverage.py [--repetitions 2000] [--cases 10 20 30 100]

A study has cases with a clear reference on four levels, and a candidate whose reading is the reference plus a bias, an
effect of the case and an error of the sample, rounded to a level. Models: *even*, all levels alike and both kinds of
errors; *careful*, which errs upwards and rarely downwards; *rare*, one case in ten an emergency; *good*, right in nine
of ten. With one sample a case the figures are those of the mode, with five those of expected and pooled. The truth
comes from 200,000 cases.

Each row has the coverage of the intervals that are shown, the misses with the truth below and above, the mean length
and the share of studies without interval: by the rule of every figure over cases, and by percentiles of 1,000 resamples
of cases.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agreement.acuity.measures import MEASURES, Measure, Price, case_figures, intervals_of
from agreement.acuity.tables import Aggregate, CaseTables, weighed
from consilium.statistics.intervals import CaseJackknife, IntervalRule, PercentileBootstrap

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
LEVELS = 4
CASES = (10, 20, 30, 100)
PRICE = Price()
SHOWN = (
    "accuracy", "macro_f1", "qwk", "alpha", "over", "under", "severe_under", "bias", "inclination", "cost",
    "cost_normalised",
)  # fmt: skip
BLOCK = 250


@dataclass(frozen=True)
class Model:
    """``shares`` of the reference levels; the reading is the reference plus ``bias``, a case effect and an error."""

    name: str
    shares: tuple[float, float, float, float]
    bias: float
    case_effect: float
    error: float


MODELS = (
    Model("even", (0.25, 0.25, 0.25, 0.25), 0.0, 0.5, 0.5),
    Model("careful", (0.25, 0.25, 0.25, 0.25), 0.35, 0.4, 0.3),
    Model("rare", (0.4, 0.3, 0.2, 0.1), 0.0, 0.5, 0.5),
    Model("good", (0.25, 0.25, 0.25, 0.25), 0.0, 0.25, 0.2),
)


def drawn(model: Model, rng: np.random.Generator, cases: int, studies: int, samples: int) -> tuple[Ints, Array]:
    """References (cases, studies) and counts of the levels read (cases, studies, L)."""
    reference = np.asarray(rng.choice(LEVELS, size=(cases, studies), p=model.shares), dtype=np.int64)
    centre = reference + model.bias + rng.normal(0, model.case_effect, (cases, studies))
    latent = centre[..., None] + rng.normal(0, model.error, (cases, studies, samples))
    levels = np.clip(np.rint(latent), 0, LEVELS - 1).astype(np.int64)
    return reference, (levels[..., None] == np.arange(LEVELS)).sum(axis=2).astype(np.float64)


def tables_of(reference: Ints, counts: Array, aggregate: Aggregate) -> CaseTables:
    at_reference = np.eye(LEVELS)[reference][..., :, None]
    tables, readings = (at_reference * own[..., None, :] for own in (weighed(counts, aggregate), counts))
    n = counts.sum(axis=-1)
    return CaseTables(tables, readings, reference[:, 0], n, n, single=aggregate is not Aggregate.EXPECTED)


def truths(model: Model, samples: int, aggregate: Aggregate) -> dict[str, float]:
    reference, counts = drawn(model, np.random.default_rng(0), 200_000, 1, samples)
    whole = tables_of(reference, counts, aggregate).tables.sum(axis=(0, 1))
    return {measure.key: float(measure.values(whole, PRICE)) for measure in MEASURES}


def rows(
    model: Model, samples: int, aggregate: Aggregate, cases: int, repetitions: int, seed: int
) -> Iterator[tuple[str, str, list[float]]]:
    truth = truths(model, samples, aggregate)
    rng = np.random.default_rng([seed, cases, samples])
    tallies: dict[tuple[str, str], list[float]] = {}
    for start in range(0, repetitions, BLOCK):
        studies = min(BLOCK, repetitions - start)
        parts = tables_of(*drawn(model, rng, cases, studies, samples), aggregate)
        rules: tuple[IntervalRule, ...] = (CaseJackknife(), PercentileBootstrap(start))
        for measure in MEASURES:
            if measure.key not in SHOWN or (measure.of_counts and aggregate is Aggregate.EXPECTED):
                continue
            for rule in rules:
                tally = tallies.setdefault((measure.key, rule.key), [0.0] * 5)
                add(tally, rule, measure, parts, truth[measure.key])
    for (figure, method), (shown, below, above, length, n) in tallies.items():
        held = 1 - (below + above) / shown if shown else float("nan")
        shares = [held, below / max(shown, 1), above / max(shown, 1), length / max(shown, 1), 1 - shown / n]
        yield figure, method, shares


def add(tally: list[float], rule: IntervalRule, measure: Measure, parts: CaseTables, truth: float) -> None:
    own = case_figures(parts, measure, PRICE)
    ends = intervals_of(parts, measure, own, rule)
    defined = ~(np.isnan(ends.low) | np.isnan(own.whole()))
    tally[0] += defined.sum()
    tally[1] += (defined & (truth < ends.low - 1e-9)).sum()
    tally[2] += (defined & (truth > ends.high + 1e-9)).sum()
    tally[3] += (ends.high - ends.low)[defined].sum()
    tally[4] += len(defined)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--cases", type=int, nargs="+", default=CASES)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("model     aggregate  cases  figure            method      held   below  above  length  none")
    for model in MODELS:
        for samples, aggregate in ((1, Aggregate.MODE), (5, Aggregate.EXPECTED), (5, Aggregate.POOLED)):
            for cases in options.cases:
                for figure, method, shares in rows(model, samples, aggregate, cases, options.repetitions, options.seed):
                    numbers = "  ".join(f"{share:5.3f}" for share in shares)
                    print(f"{model.name:9} {aggregate:10} {cases:5}  {figure:17} {method:11} {numbers}", flush=True)


if __name__ == "__main__":
    main()
