"""How often intervals hold the truth for figures that are no function of one 2×2 table or ratio, simulated.

    .venv/bin/python bench/special_coverage.py [--repetitions 2000] [--only FIGURE …]

* ``alpha nominal``, ``alpha ordinal``, ``Fleiss``: three raters, one unit a case. Nominal and Fleiss: 3 categories, the
  first true in 40% or 85% of the cases, a rater right in 80%. Ordinal: a normal case value and a rater's error (SD
  0.7), cut into 4 levels, even ones or 85% in the lowest. The product's rule, percentiles of 1,000 resamples of cases.
* ``ICC(1)``, ``ICC(2,1)``, ``ICC(3,1)``: normal cases (SD 1), raters (SD 0.5) and errors (SD 1). The F distribution
  (the product's), the rule of figures over cases.
* ``median``: lognormal times (SD 0.8). Order statistics (the product's), the rule.
* ``Spearman, cases``: five pairs a case, case effects on both sides. The product's rule, Fisher's z for as many
  independent pairs.
* ``Spearman, candidates``: one pair a candidate, as if the candidates were drawn. The rule, Fisher's z.
* ``Spearman, graders``: eight given candidates whose means two graders estimate on the same cases (case effects of SD 1
  shared by the graders, errors of SD 1); candidates spread by 0.3 or 1, graders differ by 0.2 in what they think of
  each. One case is left out at a time. The product shows no interval.

Each row has the coverage of the intervals that are shown, the misses with the truth below and above, the mean length
and the share of studies without interval.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from math import atanh, isnan, pi, sqrt, tanh
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, spearmanr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from consilium.statistics.case_correlation import spearman_jackknife
from consilium.statistics.estimate import Estimate, Figure
from consilium.statistics.fleiss_kappa import fleiss_kappa
from consilium.statistics.intervals import CaseJackknife, IntervalRule, PercentileBootstrap
from consilium.statistics.intraclass_correlation import intraclass_correlations
from consilium.statistics.jackknife import Jackknife, logit_ends
from consilium.statistics.krippendorff_alpha import krippendorff_alpha
from consilium.statistics.median import median_figure

Array = NDArray[np.float64]
Ends = tuple[float, float] | None
# One study: the ends of each method.
Study = Callable[[np.random.Generator, int], dict[str, Ends]]
JACKKNIFE = CaseJackknife()
CASES = (10, 20, 30, 100)
RATERS = 3
Z = 1.959964


def ends_of(figure: Figure) -> Ends:
    if not isinstance(figure, Estimate) or figure.low is None or figure.high is None:
        return None
    return figure.low, figure.high


def by_cases(statistic: Callable[[NDArray[np.int64]], float], n: int, low: float, high: float) -> Ends:
    """The rule, for a figure of the cases whose numbers it is given."""
    every = np.arange(n)
    without = np.array([[statistic(np.delete(every, i))] for i in range(n)])
    jack = Jackknife(
        np.array([statistic(every)]),
        without,
        np.ones((n, 1), dtype=bool),
        np.array([float(n)]),
        np.array([low]),
        np.array([high]),
    )
    ends = logit_ends(jack)
    return None if isnan(ends.low[0]) else (float(ends.low[0]), float(ends.high[0]))


def fisher(correlation: float, n: int) -> Ends:
    if n < 4 or isnan(correlation) or abs(correlation) >= 1:
        return None
    half = Z / sqrt(n - 3)
    return tanh(atanh(correlation) - half), tanh(atanh(correlation) + half)


def categories(rng: np.random.Generator, cases: int, share: float) -> Array:
    """(cases, 3) counts of the ratings of each case."""
    true = rng.choice(3, size=cases, p=[share, (1 - share) / 2, (1 - share) / 2])
    wrong = rng.random((cases, RATERS)) > 0.8
    rated = np.where(wrong, (true[:, None] + rng.integers(1, 3, (cases, RATERS))) % 3, true[:, None])
    return np.stack([(rated == category).sum(axis=1) for category in range(3)], axis=1)


def levels(rng: np.random.Generator, cases: int, share: float) -> Array:
    """(cases, 4) counts; ``share`` of the ratings are in the lowest level."""
    value = rng.normal(size=(cases, 1)) + rng.normal(0, 0.7, (cases, RATERS))
    cuts = sqrt(1 + 0.7**2) * norm.ppf([share, share + (1 - share) / 3, share + 2 * (1 - share) / 3])
    rated = (value[..., None] > cuts).sum(axis=-1)
    return np.stack([(rated == level).sum(axis=1) for level in range(4)], axis=1)


def agreement(kind: str, share: float) -> tuple[float, Study]:
    draw = levels if kind == "ordinal" else categories

    def figure(counts: Array, rule: IntervalRule | None) -> Figure:
        return fleiss_kappa(counts, rule=rule) if kind == "Fleiss" else krippendorff_alpha(counts, kind, rule=rule)

    def study(rng: np.random.Generator, cases: int) -> dict[str, Ends]:
        counts, percentile = draw(rng, cases, share), PercentileBootstrap(int(rng.integers(2**31)))
        return {"rule": ends_of(figure(counts, JACKKNIFE)), "percentile": ends_of(figure(counts, percentile))}

    truth = figure(draw(np.random.default_rng(0), 400_000, share), None)
    assert isinstance(truth, Estimate)
    return truth.value, study


def intraclass(form: str, raters: int) -> tuple[float, Study]:
    rater_variance = 0.0 if form == "three" else 0.25

    def correlation(table: Array) -> Figure:
        case, rater = np.indices(table.shape)
        figure: Figure = getattr(intraclass_correlations(case.ravel(), rater.ravel(), table.ravel()), form)
        return figure

    def study(rng: np.random.Generator, cases: int) -> dict[str, Ends]:
        rater = rng.normal(0, 0.5, (cases if form == "one" else 1, raters))
        table = rng.normal(size=(cases, 1)) + rater + rng.normal(size=(cases, raters))

        def of(chosen: NDArray[np.int64]) -> float:
            figure = correlation(table[chosen])
            return figure.value if isinstance(figure, Estimate) else float("nan")

        return {"F": ends_of(correlation(table)), "rule": by_cases(of, cases, -1.0, 1.0)}

    return 1 / (1 + rater_variance + 1), study


def median() -> tuple[float, Study]:
    def study(rng: np.random.Generator, cases: int) -> dict[str, Ends]:
        times = rng.lognormal(3, 0.8, cases)
        return {
            "order": ends_of(median_figure(times.tolist())),
            "rule": by_cases(lambda chosen: float(np.median(times[chosen])), cases, 0.0, 10_000.0),
        }

    return float(np.exp(3)), study


def pairs_in_cases(rng: np.random.Generator, cases: int, share: float) -> tuple[Array, Array, NDArray[np.int64]]:
    case = np.repeat(np.arange(cases), 5)
    x = rng.normal(size=cases)[case] + rng.normal(size=len(case))
    y = share * x + sqrt(1 - share**2) * (rng.normal(size=cases)[case] + rng.normal(size=len(case)))
    return x, y, case


def spearman_over_cases(share: float) -> tuple[float, Study]:
    def study(rng: np.random.Generator, cases: int) -> dict[str, Ends]:
        x, y, case = pairs_in_cases(rng, cases, share)
        jack = spearman_jackknife(x, y, case=case, n_cases=cases)
        ends = JACKKNIFE.of_jackknife(jack)
        return {"rule": (float(ends.low[0]), float(ends.high[0])), "Fisher": fisher(float(jack.values[0]), len(x))}

    x, y, _case = pairs_in_cases(np.random.default_rng(0), 100_000, share)
    return float(spearmanr(x, y).statistic), study


def spearman_over_candidates(share: float) -> tuple[float, Study]:
    def study(rng: np.random.Generator, candidates: int) -> dict[str, Ends]:
        x, own = rng.normal(size=candidates), rng.normal(size=candidates)
        y = share * x + sqrt(1 - share**2) * own
        jack = spearman_jackknife(x, y, case=np.arange(candidates), n_cases=candidates)
        ends = logit_ends(jack)
        return {"rule": (float(ends.low[0]), float(ends.high[0])), "Fisher": fisher(float(jack.values[0]), candidates)}

    return 6 / pi * float(np.arcsin(share / 2)), study


def spearman_of_graders(spread: float) -> tuple[float, Study]:
    drawn = np.random.default_rng(1)
    first = spread * drawn.normal(size=8)
    second = first + 0.2 * drawn.normal(size=8)

    def study(rng: np.random.Generator, cases: int) -> dict[str, Ends]:
        shared = rng.normal(size=(cases, 8))
        graded = [mean + shared + rng.normal(size=(cases, 8)) for mean in (first, second)]

        def of(chosen: NDArray[np.int64]) -> float:
            return float(spearmanr(*(scores[chosen].mean(axis=0) for scores in graded)).statistic)

        return {"rule": by_cases(of, cases, -1.0, 1.0)}

    return float(spearmanr(first, second).statistic), study


def designs() -> Iterator[tuple[str, tuple[int, ...], Callable[[], tuple[float, Study]]]]:
    """Name, numbers of cases, and what makes truth and study."""
    for name, kind in (("alpha nominal", "nominal"), ("alpha ordinal", "ordinal"), ("Fleiss", "Fleiss")):
        for share in (0.4, 0.85):
            yield f"{name}, {share:.0%}", CASES, lambda kind=kind, share=share: agreement(kind, share)
    for name, form in (("ICC(1)", "one"), ("ICC(2,1)", "two"), ("ICC(3,1)", "three")):
        for raters in (2, 5):
            yield f"{name}, {raters} raters", CASES, lambda form=form, raters=raters: intraclass(form, raters)
    yield "median", (6, *CASES), median
    for share in (0.3, 0.8):
        yield f"Spearman, cases, {share}", (5, *CASES), lambda share=share: spearman_over_cases(share)
        yield (
            f"Spearman, candidates, {share}",
            (5, 8, 12, 20),
            lambda share=share: spearman_over_candidates(share),
        )
    for spread in (0.3, 1.0):
        yield f"Spearman, graders, {spread}", CASES, lambda spread=spread: spearman_of_graders(spread)


def summary(drawn: list[Ends], truth: float) -> str:
    """Coverage, misses below and above, mean length of the intervals, share of studies without any."""
    none = f"{100 * drawn.count(None) / len(drawn):6.1f}"
    ends = np.array([ends for ends in drawn if ends])
    if not len(ends):
        return f"{'–':>6} {'–':>6} {'–':>6} {'–':>8} {none}"
    low, high = ends.T
    shares = ((low <= truth) & (truth <= high)).mean(), (truth < low).mean(), (truth > high).mean()
    return " ".join(f"{100 * share:6.1f}" for share in shares) + f" {(high - low).mean():8.3f} {none}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=2000)
    parser.add_argument("--only", nargs="*", default=[""], help="beginnings of names")
    options = parser.parse_args()
    print(f"{'':28} {'cases':>5}  {'method':12} {'cover':>6} {'below':>6} {'above':>6} {'length':>8} {'none':>6}")
    for name, numbers, make in designs():
        if not name.startswith(tuple(options.only)):
            continue
        truth, study = make()
        for cases in numbers:
            rng = np.random.default_rng(cases)
            drawn = [study(rng, cases) for _ in range(options.repetitions)]
            for method in drawn[0]:
                print(f"{name:28} {cases:5}  {method:12} {summary([row[method] for row in drawn], truth)}", flush=True)


if __name__ == "__main__":
    main()
