"""What the errors of a judge do to CACS@k and to Rubric Accuracy.

A judge is described by two rates against physicians, over positive criteria: its sensitivity, the share of criteria met
that it calls met, and its specificity, the share of criteria not met that it does not call met. Physicians' hits are
taken for the truth. A response that meets s of N criteria is then given

    s' = Bin(s, sensitivity) + Bin(N - s, 1 - specificity)

hits, the criteria erring independently of one another, with the same two rates on every response. 1,000 draws of all
responses, from `numpy.random.PCG64` with a seed, give each candidate's mean under the judge, its bias (that mean less
the truth), and the 2.5% and 97.5% quantiles (type 7) of the draws; and for the order of the candidates by CACS, the
mean Spearman correlation of a draw with the truth, and of each two neighbours in the true order the share of draws in
which the lower stands above the upper.

The range is that of the judge's errors alone: not of the sampling of cases, and not of the two rates, which are taken
as known. Errors that cluster in some responses or candidates make it wider than it is here.

The exact distribution of s' (`hits_distribution`) is the convolution of the two binomials, from which the mean of any
score of a response follows without simulation (`exact_mean`).

Undefined: a candidate without a response that the score takes; the Spearman mean with fewer than 3 candidates, constant
values, or none of the draws giving one; the order of neighbours whose true values are the same.
Source of the error model: Rogan and Gladen 1978, who estimate a prevalence through an imperfect test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.bootstrap import LEVEL
from consilium.statistics.cacs import cacs_at_k, cacs_values
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import (
    Estimate,
    Figure,
    Undefined,
    figures,
    nearly_equal,
    with_interval,
    with_note,
)
from consilium.statistics.rank_agreement import MINIMUM, ranks
from consilium.statistics.rubric_accuracy import rubric_accuracy

DRAWS = 1000
NO_RANGE = Reason.INTERVAL_DRAWS_NEARLY_AGREE()
# Draws are made in blocks of about 32 MB.
BLOCK_CELLS = 4_000_000

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ErrorRates:
    """A judge's sensitivity and specificity on positive criteria, 0 to 1."""

    sensitivity: float
    specificity: float

    def __post_init__(self) -> None:
        if not (0 <= self.sensitivity <= 1 and 0 <= self.specificity <= 1):
            raise ValueError("sensitivity and specificity are shares, 0 to 1")


@dataclass(frozen=True)
class UnderError:
    """A score of one candidate: by physicians (`true`), and under the judge's errors: the mean with the range of the
    draws, and the bias.
    """

    true: Figure
    judged: Figure
    bias: Figure


@dataclass(frozen=True)
class Neighbours:
    """Two candidates next to each other in the true order by CACS: `turned` is the share of draws in which `lower`
    ranks above `upper`, `tied` that in which they are level.
    """

    upper: str
    lower: str
    difference: float
    turned: Figure
    tied: Figure


@dataclass(frozen=True)
class Propagated:
    """What a judge's errors do: to each candidate's CACS@k and Rubric Accuracy, and to the order by CACS@k."""

    cacs: dict[str, UnderError]
    accuracy: dict[str, UnderError]
    spearman: Figure
    neighbours: list[Neighbours]


def sensitivity_values(counts: ConfusionCounts) -> Array:
    """Share of the reference's met that the judge called met, for each table; NaN where the reference has none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tp, counts.tp + counts.fn))


def specificity_values(counts: ConfusionCounts) -> Array:
    """Share of the reference's not met that the judge did not call met; NaN where the reference has none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.true_divide(counts.tn, counts.tn + counts.fp))


def sensitivity_figures(counts: ConfusionCounts) -> list[Figure]:
    """`sensitivity_values` as figures; n is the number of pairs that the reference calls met."""
    sizes = counts.tp + counts.fn
    return figures(sensitivity_values(counts), sizes, reason=lambda i: _absent(counts, i, Reason.REFERENCE_NEVER_MET))


def specificity_figures(counts: ConfusionCounts) -> list[Figure]:
    """`specificity_values` as figures; n is the number of pairs that the reference calls not met."""
    sizes = counts.tn + counts.fp
    return figures(
        specificity_values(counts), sizes, reason=lambda i: _absent(counts, i, Reason.REFERENCE_NEVER_NOT_MET)
    )


def _absent(counts: ConfusionCounts, i: int, reason: Reason) -> str:
    return reason() if counts.n.ravel()[i] else Reason.NO_PAIRS()


def hits_distribution(s: int, n_criteria: int, rates: ErrorRates) -> Array:
    """Probability of 0..N hits under the judge's errors, where physicians found s of N criteria met."""
    from scipy.stats import binom

    kept = binom.pmf(np.arange(s + 1), s, rates.sensitivity)
    gained = binom.pmf(np.arange(n_criteria - s + 1), n_criteria - s, 1 - rates.specificity)
    return np.asarray(np.convolve(kept, gained))


def exact_mean(
    hits: ArrayLike, n_criteria: ArrayLike, rates: ErrorRates, score: Callable[[NDArray[np.int64], int], Array]
) -> float:
    """Mean over responses of the expected `score(hits 0..N, N)`; ValueError without responses."""
    pairs = list(zip(np.asarray(hits).ravel().tolist(), np.asarray(n_criteria).ravel().tolist(), strict=True))
    if not pairs:
        raise ValueError("no responses")
    total = 0.0
    for s, present in pairs:
        total += float(hits_distribution(s, present, rates) @ score(np.arange(present + 1), present))
    return total / len(pairs)


def propagate(
    responses: Sequence[tuple[str, ArrayLike, ArrayLike]],
    rates: ErrorRates,
    k: int,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> Propagated:
    """`responses` gives, for each candidate, its name, and of each of its responses the hits (s) that physicians found
    and the positive criteria (N).
    """
    names = [name for name, _s, _present in responses]
    sizes = [np.asarray(s).size for _name, s, _present in responses]
    none: NDArray[np.int64] = np.array([], dtype=np.int64)
    hits = np.concatenate([*(np.asarray(s, dtype=np.int64).ravel() for _n, s, _p in responses), none])
    present = np.concatenate([*(np.asarray(p, dtype=np.int64).ravel() for _n, _s, p in responses), none])
    if hits.shape != present.shape or (hits < 0).any() or (hits > present).any():
        raise ValueError("each response needs hits between 0 and its number of criteria")
    ends = np.cumsum(sizes).tolist()
    places = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    cacs, accuracy = _simulate(hits, present, places, rates, k, seed, draws)
    true = {
        "cacs": [cacs_at_k(s, present, k) for _name, s, present in responses],
        "accuracy": [rubric_accuracy(s, present) for _name, s, present in responses],
    }
    under = {
        name: {candidate: _under(true[name][i], drawn[i]) for i, candidate in enumerate(names)}
        for name, drawn in (("cacs", cacs), ("accuracy", accuracy))
    }
    scored = [i for i, figure in enumerate(true["cacs"]) if figure.defined]
    values = np.array([float(true["cacs"][i].value or 0) for i in scored])
    # Two candidates that are level must not differ by the last bit of a float.
    levels, drawn = np.round(values, 9), np.round(cacs[scored], 9)
    return Propagated(
        cacs=under["cacs"],
        accuracy=under["accuracy"],
        spearman=_mean_spearman(levels, drawn),
        neighbours=list(_neighbours([names[i] for i in scored], values, levels, drawn)),
    )


def _simulate(
    hits: NDArray[np.int64],
    present: NDArray[np.int64],
    places: Sequence[slice],
    rates: ErrorRates,
    k: int,
    seed: int,
    draws: int,
) -> tuple[Array, Array]:
    """CACS@k and Rubric Accuracy of each candidate, whose responses stand at its place, in each draw: (candidates,
    draws), NaN where undefined.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    scored = present >= k
    cacs, accuracy = (np.full((len(places), draws), np.nan) for _ in range(2))
    step = max(1, BLOCK_CELLS // max(1, len(hits)))
    for start in range(0, draws, step):
        rows = slice(start, min(start + step, draws))
        shape = (rows.stop - rows.start, len(hits))
        judged = rng.binomial(hits, rates.sensitivity, size=shape)
        judged += rng.binomial(present - hits, 1 - rates.specificity, size=shape)
        for i, own in enumerate(places):  # the scores of one candidate at a time, which take far less memory
            if n_scored := int(scored[own].sum()):
                values = np.where(scored[own], cacs_values(judged[:, own], present[own], k), 0.0)
                cacs[i, rows] = values.sum(axis=1) / n_scored
            if n_present := int(present[own].sum()):
                accuracy[i, rows] = 100 * judged[:, own].sum(axis=1) / n_present
    return cacs, accuracy


def _under(true: Figure, drawn: Array) -> UnderError:
    if isinstance(true, Undefined):
        return UnderError(true, true, true)
    mean = Estimate(float(drawn.mean()), true.n)
    return UnderError(true, _with_range(mean, drawn), Estimate(mean.value - true.value, true.n))


def _with_range(mean: Estimate, drawn: Array) -> Figure:
    """The mean of the draws with the range that holds 95% of them; none where it has no width or misses the mean."""
    low, high = (float(end) for end in np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]))
    return with_note(mean, NO_RANGE) if nearly_equal(low, high) else with_interval(mean, low, high)


def _mean_spearman(values: Array, drawn: Array) -> Figure:
    n = len(values)
    if n < MINIMUM:
        return Undefined(Reason.CORRELATION_UNITS(n=MINIMUM), n)
    if np.ptp(values) == 0:
        return Undefined(Reason.CONSTANT_VALUES(), n)
    truth = ranks(values) - (n + 1) / 2
    correlations = []
    for draw in drawn.T:
        deviations = ranks(draw) - (n + 1) / 2
        spread = float(deviations @ deviations)
        if spread > 0:
            correlations.append(float(truth @ deviations) / sqrt(spread * float(truth @ truth)))
    if not correlations:
        return Undefined(Reason.CONSTANT_VALUES(), n)
    left_out = drawn.shape[1] - len(correlations)
    note = Reason.DRAWS_LEFT_OUT(n=left_out) if left_out else ""
    kept = np.clip(correlations, -1, 1)
    return _with_range(Estimate(float(np.mean(kept)), n, note=note), kept)


def _neighbours(names: list[str], values: Array, levels: Array, drawn: Array) -> Iterator[Neighbours]:
    """Each candidate beside the next lower one, the highest first; level candidates by name."""
    order = sorted(range(len(names)), key=lambda i: (-levels[i], names[i]))
    draws = drawn.shape[1] if len(names) else 0
    for upper, lower in pairwise(order):
        difference = float(values[upper] - values[lower])
        if levels[upper] == levels[lower]:
            level = Undefined(Reason.EQUAL_TRUE_VALUES(), draws)
            yield Neighbours(names[upper], names[lower], 0.0, level, level)
            continue
        turned = int((drawn[lower] > drawn[upper]).sum())
        tied = int((drawn[lower] == drawn[upper]).sum())
        yield Neighbours(
            names[upper],
            names[lower],
            difference,
            Estimate(turned / draws, draws),
            Estimate(tied / draws, draws),
        )
