"""The alternative annotator test: may this judge stand in for an annotator of this group?

For each annotator j in turn, the judge f and the annotator are held against the others, on every instance i that j and
at least one other annotator labelled. Alignment is the share of those others who said the same:

    S(f, i, j) = share of the others of i whose label is the judge's     S(h, i, j) = … whose label is that of j
    W_f = 1 where S(f) ≥ S(h), else 0      W_h = 1 where S(h) ≥ S(f), else 0      both are 1 on a tie
    ρ_f,j = mean of W_f      ρ_h,j = mean of W_h      d_i = W_h − W_f

The annotator costs more than the judge, so it must be ahead by ε to be worth it: H0 says ρ_h,j − ρ_f,j ≥ ε. A one-sided
t-test of the d_i against ε rejects it; with fewer than 30 instances, where the t-test has no footing, Wilcoxon's signed
ranks of d_i − ε, with the exact distribution (all signs equally likely, mid-ranks for ties). The p of all annotators
that were tested go through Benjamini and Yekutieli's procedure at q = 0.05, which holds whatever their dependence.

    winning rate ω = share of the tested annotators whose H0 is rejected      the judge passes where ω ≥ 0.5
    average advantage ρ = mean of ρ_f,j: how often the judge is at least as close to the others as an annotator

An answer of the judge that is invalid or missing agrees with nobody: S(f) = 0. ε by rule of thumb: 0.2 for experts,
0.15 for skilled annotators, 0.1 for crowds.

Instances of one case are not independent, and the test of the paper takes them for it. Beside it stands the same t-test
with a standard error over cases (Liang and Zeger 1986; G cases, G − 1 degrees of freedom):

    se² = G / (G − 1) · Σ_g (Σ_{i in g} (d_i − mean d))² / n²

With one instance to a case it is the t-test above.

Source: Calderon, Reichart and Dror 2025; Benjamini and Yekutieli 2001; Wilcoxon 1945. Where it differs: the authors'
code leaves out annotators with fewer than 30 instances, `minimum` = 30 does the same; where all d_i of 30 or more are
alike the t-test has no variance, and Wilcoxon's takes its place (it is then the sign test).

Undefined: an annotator with fewer than `minimum` instances is not tested, and is no part of ω and ρ; clustered, fewer
than 10 cases or no variation between them; ω and the verdict with fewer than 3 tested annotators, whom the paper asks
for as there is no group to speak of before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import MINIMUM_CASES
from consilium.statistics.case_figures import case_mean, case_ratio
from consilium.statistics.estimate import Estimate, Figure, Undefined
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated, ratio_figures

EPSILON = 0.2  # for experts
Q = 0.05
MINIMUM_INSTANCES = 10
ENOUGH_FOR_T = 30
MINIMUM_ANNOTATORS = 3
PASSING = 0.5
NO_ANSWER = -1  # of a judge whose answer is invalid or missing


@dataclass(frozen=True)
class Compared:
    """The judge and one annotator before the others. n of the shares and of ``p`` is the number of instances, that of
    ``p_clustered`` the number of cases. ``test`` is ``t``, ``wilcoxon``, or empty where there was none. ``wins`` and
    ``wins_clustered`` say whether the judge is ahead; None where it was not tested.
    """

    annotator: int
    n_instances: int
    n_cases: int
    advantage: Figure  # ρ_f
    annotators_advantage: Figure  # ρ_h
    difference: Figure  # ρ_f − ρ_h: the judge less the annotator, as every difference of a judge and a physician
    test: str
    p: Figure
    p_adjusted: Figure
    wins: bool | None
    p_clustered: Figure
    p_clustered_adjusted: Figure
    wins_clustered: bool | None


@dataclass(frozen=True)
class AlternativeAnnotator:
    """All annotators in the order of their numbers, and what they come to. n of the rates is the number of annotators
    that were tested. ``passes`` is None where the winning rate is undefined.
    """

    annotators: list[Compared]
    winning_rate: Figure
    winning_rate_clustered: Figure
    advantage: Figure
    epsilon: float
    q: float
    minimum: int

    @property
    def passes(self) -> bool | None:
        """Whether the judge may stand in, by the paper's own test."""
        return _passes(self.winning_rate)

    @property
    def passes_clustered(self) -> bool | None:
        """The same with standard errors over cases."""
        return _passes(self.winning_rate_clustered)


def alternative_annotator_test(
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    judge: ArrayLike,
    *,
    case: ArrayLike,
    n_annotators: int,
    n_cases: int,
    epsilon: float = EPSILON,
    q: float = Q,
    minimum: int = MINIMUM_INSTANCES,
    rule: IntervalRule | None = None,
) -> AlternativeAnnotator:
    """The test from one entry a label: its item, its annotator, and whether it is met.

    ``judge`` holds 1 (met), 0 (not met) or `NO_ANSWER` for each item, ``case`` the case of each item. With a
    ``rule`` the shares carry intervals. ValueError on an ε outside [0, 1), a ``q`` outside
    (0, 1), or a ``minimum`` below 2.
    """
    if not 0 <= epsilon < 1 or not 0 < q < 1 or minimum < 2:
        raise ValueError("epsilon lies in [0, 1), q in (0, 1), and the minimum is 2 instances or more")
    comparisons = _instances(item, annotator, label, judge, case)
    ends = np.searchsorted(comparisons.annotator, np.arange(n_annotators + 1))
    own = [slice(start, end) for start, end in pairwise(ends.tolist())]
    d = comparisons.d
    tests = [_tested(d[rows], epsilon, minimum) for rows in own]
    clustered = [
        _clustered(d[rows], comparisons.case[rows], epsilon) if name else p
        for rows, (name, p) in zip(own, tests, strict=True)
    ]
    shares = _shares(comparisons, n_annotators, n_cases, rule)
    adjusted, adjusted_clustered = _family([p for _, p in tests], q), _family(clustered, q)
    compared = [
        Compared(
            annotator=number,
            n_instances=rows.stop - rows.start,
            n_cases=len(np.unique(comparisons.case[rows])),
            advantage=shares["advantage"][number],
            annotators_advantage=shares["annotators_advantage"][number],
            difference=shares["difference"][number],
            test=tests[number][0],
            p=tests[number][1],
            p_adjusted=adjusted[number][0],
            wins=adjusted[number][1],
            p_clustered=clustered[number],
            p_clustered_adjusted=adjusted_clustered[number][0],
            wins_clustered=adjusted_clustered[number][1],
        )
        for number, rows in enumerate(own)
    ]
    tested = np.array([result.wins is not None for result in compared], dtype=bool)
    return AlternativeAnnotator(
        annotators=compared,
        winning_rate=_winning_rate([result.wins for result in compared]),
        winning_rate_clustered=_winning_rate([result.wins_clustered for result in compared]),
        advantage=_average(comparisons, tested, n_cases, minimum, rule),
        epsilon=epsilon,
        q=q,
        minimum=minimum,
    )


def benjamini_yekutieli(p: Sequence[float]) -> list[float]:
    """Adjusted p of each: the smallest q at which its hypothesis is rejected, at most 1.

    Of m sorted p: min over k ≥ i of p₍ₖ₎ · m · (1 + 1/2 + … + 1/m) / k.
    """
    m = len(p)
    if not m:
        return []
    order = np.argsort(np.asarray(p), kind="stable")
    harmonic = float((1 / np.arange(1, m + 1)).sum())
    scaled = np.asarray(p, dtype=np.float64)[order] * m * harmonic / np.arange(1, m + 1)
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return [float(value) for value in adjusted]


@dataclass(frozen=True, eq=False)
class _Instances:
    """One entry for each label whose item has another label, sorted by annotator."""

    annotator: NDArray[np.int64]
    case: NDArray[np.int64]
    judge_wins: NDArray[np.int64]  # W_f
    annotator_wins: NDArray[np.int64]  # W_h

    @property
    def d(self) -> NDArray[np.int64]:
        """W_h − W_f."""
        return self.annotator_wins - self.judge_wins

    def summed(self, values: NDArray[np.int64] | None, n_cases: int, n_annotators: int) -> NDArray[np.float64]:
        """Sums (or, without values, counts) of instances by case and annotator."""
        place = self.case * n_annotators + self.annotator
        sums = np.bincount(place, weights=values, minlength=n_cases * n_annotators)
        return np.asarray(sums, dtype=np.float64).reshape(n_cases, n_annotators)


def _instances(
    item: ArrayLike, annotator: ArrayLike, label: ArrayLike, judge: ArrayLike, case: ArrayLike
) -> _Instances:
    items, who = np.asarray(item, dtype=np.int64), np.asarray(annotator, dtype=np.int64)
    met, says = np.asarray(label).astype(np.int64), np.asarray(judge, dtype=np.int64)
    size = len(says)
    others = np.bincount(items, minlength=size)[items] - 1
    others_met = np.bincount(items, weights=met, minlength=size).astype(np.int64)[items] - met
    # The others are the same for both, so that their number need not divide either side.
    like_annotator = np.where(met == 1, others_met, others - others_met)
    verdict = says[items]
    like_judge = np.select([verdict == 1, verdict == 0], [others_met, others - others_met], default=0)
    judge_wins, annotator_wins = like_judge >= like_annotator, like_annotator >= like_judge
    beside = np.flatnonzero(others > 0)
    kept = beside[np.argsort(who[beside], kind="stable")]
    return _Instances(
        annotator=who[kept],
        case=np.asarray(case, dtype=np.int64)[items][kept],
        judge_wins=judge_wins[kept].astype(np.int64),
        annotator_wins=annotator_wins[kept].astype(np.int64),
    )


def _shares(
    comparisons: _Instances, n_annotators: int, n_cases: int, rule: IntervalRule | None
) -> dict[str, list[Figure]]:
    """Both shares and the judge's less the annotator's, for each annotator."""
    instances = comparisons.summed(None, n_cases, n_annotators)
    values = {
        "advantage": comparisons.judge_wins,
        "annotators_advantage": comparisons.annotator_wins,
        "difference": -comparisons.d,
    }
    return {
        name: ratio_figures(
            comparisons.summed(column, n_cases, n_annotators),
            instances,
            rule=rule,
            bounds=(-1.0 if name == "difference" else 0.0, 1.0),
            empty=Reason.NO_SHARED_INSTANCE(),
            trials=name != "difference",
        )
        for name, column in values.items()
    }


def _average(
    comparisons: _Instances, tested: NDArray[np.bool_], n_cases: int, minimum: int, rule: IntervalRule | None
) -> Figure:
    """The judge's advantage, averaged over the annotators that were tested: each counts alike."""
    n = int(tested.sum())
    if not n:
        return Undefined(Reason.NO_TESTED_ANNOTATOR(n=minimum))
    wins, instances = (
        comparisons.summed(column, n_cases, len(tested))[:, tested] for column in (comparisons.judge_wins, None)
    )
    parts = [case_ratio(wins[:, [i]], instances[:, [i]]) for i in range(n)]
    return estimated(case_mean(*parts), n=[n], rule=rule)[0]


def _tested(d: NDArray[np.int64], epsilon: float, minimum: int) -> tuple[str, Figure]:
    """Which test, and its p of mean d < ε."""
    from scipy.special import stdtr

    n = len(d)
    if not n:
        return "", Undefined(Reason.NO_SHARED_INSTANCE())
    if n < minimum:
        return "", Undefined(Reason.TEST_INSTANCES(n=n, needed=minimum), n)
    if n < ENOUGH_FOR_T:
        p = wilcoxon_below(d - epsilon)
        return ("", p) if isinstance(p, Undefined) else ("wilcoxon", p)
    if (d == d[0]).all():
        if d[0] == epsilon:
            return "", Undefined(Reason.TEST_DIFFERENCES_EQUAL_EPSILON(), n)
        p = Estimate(0.5**n if d[0] < epsilon else 1.0, n, note=Reason.SIGN_TEST())
        return "wilcoxon", p
    t = (d.mean() - epsilon) / (d.std(ddof=1) / np.sqrt(n))
    return "t", Estimate(float(stdtr(n - 1, t)), n)


def wilcoxon_below(values: NDArray[np.floating[Any]]) -> Figure:
    """One-sided p of Wilcoxon's signed ranks that the values lie below 0: P(W₊ ≤ w₊) with every sign a fair coin.

    Exact with ties: magnitudes that are the same share their mid-rank. Zeros are left out; n counts the others.
    """
    moved = values[np.abs(values) > 1e-12]
    n = len(moved)
    if not n:
        return Undefined(Reason.TEST_DIFFERENCES_EQUAL_EPSILON(), len(values))
    _, place, count = np.unique(np.round(np.abs(moved), 9), return_inverse=True, return_counts=True)
    # Twice the mid-rank is a whole number, so that sums of ranks can be counted.
    doubled = (2 * np.cumsum(count) - count + 1)[place]
    ways = np.zeros(int(doubled.sum()) + 1, dtype=object)
    ways[0] = 1
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[:-rank]
    reached = int(doubled[moved > 0].sum())
    return Estimate(float(Fraction(int(ways[: reached + 1].sum()), 2**n)), n)


def _clustered(d: NDArray[np.int64], case: NDArray[np.int64], epsilon: float) -> Figure:
    """p of mean d < ε with a standard error over cases; n is the number of cases."""
    from scipy.special import stdtr

    _, place = np.unique(case, return_inverse=True)
    n, n_cases = len(d), int(place.max()) + 1
    if n_cases < MINIMUM_CASES:
        return Undefined(Reason.TEST_CASES(cases=n_cases, needed=MINIMUM_CASES), n_cases)
    residual = np.bincount(place, weights=d - d.mean())
    se = np.sqrt(n_cases / (n_cases - 1) * (residual**2).sum()) / n
    if se < 1e-12:
        return Undefined(Reason.TEST_CONSTANT(), n_cases)
    return Estimate(float(stdtr(n_cases - 1, (d.mean() - epsilon) / se)), n_cases)


def _family(figures: Sequence[Figure], q: float) -> list[tuple[Figure, bool | None]]:
    given = [figure.value for figure in figures if isinstance(figure, Estimate)]
    adjusted = iter(benjamini_yekutieli(given))
    results: list[tuple[Figure, bool | None]] = []
    for figure in figures:
        if isinstance(figure, Undefined):
            results.append((figure, None))
        else:
            value = next(adjusted)
            results.append((Estimate(value, figure.n), value <= q))
    return results


def _winning_rate(wins: Sequence[bool | None]) -> Figure:
    tested = [win for win in wins if win is not None]
    n = len(tested)
    if n < MINIMUM_ANNOTATORS:
        return Undefined(Reason.TESTED_ANNOTATORS(n=n, needed=MINIMUM_ANNOTATORS), n)
    return Estimate(sum(tested) / n, n)


def _passes(rate: Figure) -> bool | None:
    return None if rate.value is None else rate.value >= PASSING
