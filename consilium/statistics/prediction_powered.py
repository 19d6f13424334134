"""Prediction-powered means: a judge on every response, physicians on a random sample of them.

A response has the judge's score f, a size d (1 for a mean over responses, the number N of positive criteria for a share
pooled over criteria), and, where physicians graded it, their score y with a weight w (the inverse of the probability by
which it was drawn; 1 where all had the same). With sums over the responses of all cases

    J = Σ d·f / Σ d  (all)       Y = Σ w·d·y / Σ w·d       F = Σ w·d·f / Σ w·d  (labelled)

    estimate = Y + λ·(J − F)         the judge's mean λ·J, put right by the mean of y − λ·f over the labelled responses

What is estimated: the mean (or the pooled share) by the physicians' decisions, over the cases that the benchmark's own
cases stand for, as the bootstrap over cases elsewhere has it. For the mean over the benchmark's own cases alone the
interval is valid too, and longer than need be. The bias of the judge cancels; it need not resemble the physicians.

Variance: cases are the independent units, since responses to one case are not. The influence of a case, linearised as
for any ratio of sums, is u = a + λ·b with

    a = Σ w·d·(y − Y) / Σ w·d     g = Σ w·d·(f − F) / Σ w·d     b = Σ d·(f − J) / Σ d − g     (inner sums over the case)

and the power-tuned λ is what makes Σ u² over all cases smallest, −Σ ab / Σ b², held within 0 (physicians alone) to 1
(PPI as it was first proposed).

Source: Angelopoulos, Duchi and Zrnic 2023 (PPI++). There the judge's mean is taken over the n' unlabelled units, which
is the same estimator: their λ is this one times n'/(n + n'), and Σ u² is their variance up to the centring of f. With
weights it is Hájek's ratio estimator.

The interval is that of every figure over cases (`jackknife`): the estimate is a function of sums over cases, λ among
it, and is computed anew without each case, labelled or not, with its own λ. G* is that of the labelled cases, by Σ w·d,
and G in (G - 1)/G is their number m. Where everything is labelled this is the interval of the physicians' figure to the
last digit. The variance needs no correction for λ, as λ is fitted anew each time. At the edge the ends are the mid-p
ends of the estimate over G* cases. Simulated with 5 to 100 labelled of 200 and 2,000 judged cases (Rubric Accuracy,
CACS, Pass; judges good, middling and poor) these ends cover at least 93.5%, also near a bound. With the ends of
Student's t on m − 2 degrees of freedom, and 10 to 30 labelled cases, it was 88 to 94% near a bound and 77 to 89% for a
CACS that is 0 almost everywhere.

Physicians alone (Y, over the labelled cases) and the judge alone (J, over all of them) are ratios of sums. Undefined
without a labelled response, without a judged one. No interval: fewer than 5 effective labelled cases; a judge whose
errors in the sample are all alike (none, say), since those elsewhere are then unknown.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case
from consilium.statistics.case_numbers import MINIMUM_PILOT_CASES, ROUNDING
from consilium.statistics.estimate import Figure, figures, with_note
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.jackknife import Jackknife, effective_cases, jackknife

# Sums of squares below this share of what they are the difference of are rounding.
NOTHING = 1e-20

Array = NDArray[Any]

NO_LABEL = Reason.NO_LABELLED_RESPONSE()
NO_JUDGED = Reason.NO_JUDGED_RESPONSE()
NO_ERROR_SEEN = Reason.INTERVAL_ERRORS_ALIKE()
ALL_LABELLED = Reason.ALL_LABELLED()
CONSTANT = Reason.CONSTANT_JUDGE()


@dataclass(frozen=True, eq=False)
class CaseSums:
    """Sums by case, each of shape (cases, columns); a column is one figure (a candidate in a slice).

    ``size`` Σ d and ``judged`` Σ d·f over all judged responses; ``weight`` Σ w·d, ``labels`` Σ w·d·y and
    ``predictions`` Σ w·d·f over the labelled ones, ``n_labelled`` their number, and ``n_judged`` that of all.
    """

    size: Array
    judged: Array
    weight: Array
    labels: Array
    predictions: Array
    n_judged: Array
    n_labelled: Array


def case_sums(
    *,
    case: ArrayLike,
    n_cases: int,
    prediction: ArrayLike,
    label: ArrayLike,
    size: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    column: ArrayLike | None = None,
    n_columns: int = 1,
) -> CaseSums:
    """From one row per judged response; ``label`` is NaN where physicians did not grade it."""
    f, y = np.asarray(prediction, dtype=np.float64), np.asarray(label, dtype=np.float64)
    d = np.ones(f.shape) if size is None else np.asarray(size, dtype=np.float64)
    labelled = ~np.isnan(y)
    w = np.where(labelled, d if weight is None else d * np.asarray(weight, dtype=np.float64), 0.0)

    def summed(values: Array) -> Array:
        return sums_by_case(values, case, n_cases, column, n_columns)

    return CaseSums(
        size=summed(d),
        judged=summed(d * f),
        weight=summed(w),
        labels=summed(w * np.where(labelled, y, 0.0)),
        predictions=summed(w * f),
        n_judged=summed(np.ones(f.shape)),
        n_labelled=summed(labelled.astype(np.float64)),
    )


@dataclass(frozen=True, eq=False)
class Powered:
    """One figure three ways.

    n of ``powered`` and ``physicians`` is the number of labelled responses, n of ``judge`` that of judged ones.
    ``power`` is λ, None where it makes no difference. ``width_ratio`` is the length of the interval over that of the
    physicians alone. The variances are per labelled case, of the labels and of what λ·f leaves of them: a plan needs
    them (`label_budget`).
    """

    powered: Figure
    physicians: Figure
    judge: Figure
    power: float | None
    width_ratio: float | None
    n_labelled: int
    n_labelled_cases: int
    n_judged: int
    n_cases: int
    label_variance: float | None = None
    residual_variance: float | None = None


def prediction_powered(
    sums: CaseSums,
    *,
    power: float | None = None,
    scale: float = 1.0,
    bounds: tuple[ArrayLike, ArrayLike] = (0.0, 1.0),
    clip: tuple[float, float] | None = None,
) -> list[Powered]:
    """One `Powered` for each column. ``power`` fixes λ; ``bounds``, numbers or (columns,), are those of the score.

    Values, ends, bounds and variances are multiplied by ``scale`` (its square); after that ``clip`` bounds estimates
    and ends.
    """
    fitted = fit(sums, power=power)
    n_labelled, n_judged = (
        np.rint(counts.sum(axis=0)).astype(np.int64).tolist() for counts in (sums.n_labelled, sums.n_judged)
    )
    parts = {
        "powered": _powered_jackknife(sums, fitted, power, bounds),
        "physicians": jackknife(case_ratio(sums.labels, sums.weight, bounds=bounds)),
        "judge": jackknife(case_ratio(sums.judged, sums.size, bounds=bounds)),
    }
    parts = {name: jack.scaled(scale) for name, jack in parts.items()}
    intervals = {
        name: DEFAULT_RULE.of_jackknife(jack, clip=clip, n_cases=fitted.m if name == "powered" else None)
        for name, jack in parts.items()
    }
    intervals["powered"] = intervals["powered"].without(fitted.perfect, lambda i: NO_ERROR_SEEN)
    empty = {"powered": NO_LABEL, "physicians": NO_LABEL, "judge": NO_JUDGED}
    columns = {
        name: intervals[name].attach(
            _estimates(jack.values, n_judged if name == "judge" else n_labelled, n_judged, empty[name], clip)
        )
        for name, jack in parts.items()
    }
    estimates = []
    for i, (powered, physicians, judge) in enumerate(zip(*columns.values(), strict=True)):
        tuned = float(fitted.power[i])
        if np.isnan(tuned) and powered.defined:  # λ is idle
            powered = with_note(physicians, ALL_LABELLED if n_labelled[i] == n_judged[i] else CONSTANT)
        enough = parts["physicians"].effective[i] >= MINIMUM_PILOT_CASES - ROUNDING
        estimates.append(
            Powered(
                powered=powered,
                physicians=physicians,
                judge=judge,
                power=None if np.isnan(tuned) else tuned,
                width_ratio=_width_ratio(powered, physicians),
                n_labelled=n_labelled[i],
                n_labelled_cases=int(fitted.m[i]),
                n_judged=n_judged[i],
                n_cases=int(fitted.n_cases[i]),
                label_variance=float(scale**2 * fitted.label_variance[i]) if enough else None,
                residual_variance=float(scale**2 * fitted.residual_variance[i]) if enough else None,
            )
        )
    return estimates


def _estimates(
    values: Array, n: list[int], n_judged: list[int], empty: str, clip: tuple[float, float] | None
) -> list[Figure]:
    clipped = values if clip is None else np.clip(values, *clip)
    return figures(
        clipped,
        n,
        reason=lambda i: empty if n_judged[i] else NO_JUDGED,
        noted=clipped != values,
        note=lambda i: Reason.CLIPPED(value=f"{values[i]:.6g}"),
    )


def _width_ratio(powered: Figure, physicians: Figure) -> float | None:
    ends = (powered.low, powered.high, physicians.low, physicians.high)
    low, high, alone_low, alone_high = ends
    if low is None or high is None or alone_low is None or alone_high is None or alone_low == alone_high:
        return None  # the interval of physicians alone has no length where it is clipped to a bound
    return (high - low) / (alone_high - alone_low)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The same as arrays, one entry a column; NaN where there is none."""

    value: Array
    power: Array
    physicians: Array
    judge: Array
    m: Array  # cases with a labelled response
    n_cases: Array
    label_variance: Array
    residual_variance: Array
    perfect: NDArray[np.bool_]  # the judge's errors in the sample are all alike
    variance: Array  # Σ u²


def fit(sums: CaseSums, *, power: float | None = None) -> Fitted:
    """`prediction_powered` on arrays, without words; simulations call it with a column for each repetition."""
    m, n_cases = (sums.n_labelled > 0).sum(axis=0), (sums.n_judged > 0).sum(axis=0)
    sizes, weights = sums.size.sum(axis=0), sums.weight.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        size = np.where(sizes > 0, sizes, np.nan)
        judge = sums.judged.sum(axis=0) / size
        total = np.where(weights > 0, weights, np.nan)
        physicians, sampled = sums.labels.sum(axis=0) / total, sums.predictions.sum(axis=0) / total
        whole = (sums.judged - judge * sums.size) / size
        constant = ~(_squares(whole) > NOTHING * _squares(sums.judged / size))
        a = (sums.labels - physicians * sums.weight) / total
        alike = ~(_squares(a) > NOTHING * _squares(sums.labels / total))
        g = (sums.predictions - sampled * sums.weight) / total
        # Rounding must never be taken for a difference.
        a, g, whole = np.where(alike, 0.0, a), np.where(constant, 0.0, g), np.where(constant, 0.0, whole)
        b = whole - g
        aa, bb, gg, ww, ag = _squares(a), _squares(b), _squares(g), _squares(whole), np.einsum("ij,ij->j", a, g)
        moves = bb > NOTHING * (ww + gg)
        best = -np.einsum("ij,ij->j", a, b) / np.where(moves, bb, 1.0)
        tuned = np.where(moves, np.clip(best, 0.0, 1.0) + 0.0 if power is None else power, np.nan)
        used = np.where(np.isnan(tuned), 0.0, tuned)
        value = physicians + used * (judge - sampled)
        variance = _squares(a + used * b)
        residual = _squares(a - used * g)
        perfect = moves & (used > 0) & ~alike & (aa * gg - ag**2 <= 1e-12 * aa * gg)
        # Two degrees of freedom where λ is fitted, one where everything is labelled and λ is idle.
        free = m - np.where(moves, 2, 1)
        return Fitted(
            value=value,
            power=tuned,
            physicians=physicians,
            judge=judge,
            m=m,
            n_cases=n_cases,
            label_variance=aa * m**2 / (m - 1),
            residual_variance=residual * m**2 / free,
            perfect=perfect,
            variance=variance,
        )


def _squares(values: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->j", values, values))


def _powered_jackknife(
    sums: CaseSums, fitted: Fitted, power: float | None, bounds: tuple[ArrayLike, ArrayLike]
) -> Jackknife:
    """What the estimate would be without each case; its effective cases are those with labels."""
    jack = jackknife(_powered_figures(sums, fitted, power, bounds))
    return replace(jack, effective=effective_cases(sums.weight))


def _powered_figures(
    sums: CaseSums, fitted: Fitted, power: float | None, bounds: tuple[ArrayLike, ArrayLike]
) -> CaseFigures:
    """The estimate as a function of sums over cases: λ takes sums of products.

    The products are of scores less their means, which changes no estimate, and keeps small differences of large sums
    away.
    """
    y, f, j = sums.labels, sums.predictions, sums.judged
    centre = np.nan_to_num(fitted.physicians), np.nan_to_num(fitted.judge)
    y, f, j = y - centre[0] * sums.weight, f - centre[1] * sums.weight, j - centre[1] * sums.size
    w, d = sums.weight, sums.size
    linear = [sums.labels, w, d, y, f, j]
    if power is None:
        linear += [y * j, y * d, w * j, w * d, y * f, y * w, w * f, w * w]
        linear += [f * f, f * j, f * d, j * j, j * d, d * d]

    def values(totals: Array) -> Array:
        labels, w, d, y, f, j, *products = np.moveaxis(totals, -1, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            y, f, j = y / w, f / w, j / d
            tuned = _tuned(w, d, y, f, j, products) if products else power
            return np.asarray(labels / w + tuned * (j - f))

    return CaseFigures(np.stack(linear, axis=-1), values, sums.size, *bounds)


def _tuned(w: Array, d: Array, y: Array, f: Array, j: Array, products: list[Array]) -> Array:
    """λ from totals of weights and sizes, the three means, and sums of products."""
    yj, yd, wj, wd, yf, yw, wf, ww, ff, fj, fd, jj, jd, dd = products
    whole_a = (yj - j * yd - y * wj + y * j * wd) / (w * d)
    sample_a = (yf - y * wf - f * yw + y * f * ww) / w**2
    sample = (ff - 2 * f * wf + f * f * ww) / w**2
    crossed = (fj - j * fd - f * wj + f * j * wd) / (w * d)
    whole = (jj - 2 * j * jd + j * j * dd) / d**2
    below = whole - 2 * crossed + sample
    return np.clip(np.divide(sample_a - whole_a, below, out=np.zeros_like(below), where=below > 0), 0.0, 1.0)
