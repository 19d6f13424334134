"""Intraclass correlations: variance between cases against variance between raters, for numeric ratings.

With n cases rated k times, and the mean squares between cases (B), within cases (W), between raters (J) and of the
residual (E), after Shrout and Fleiss 1979 (Psychological Bulletin 86:420):

    ICC(1)   = (B - W) / (B + (k - 1)W)                          any raters, other ones on each case
    ICC(2,1) = (B - E) / (B + (k - 1)E + k(J - E)/n)             the same raters, drawn from many: agreement
    ICC(3,1) = (B - E) / (B + (k - 1)E)                          the same raters, these alone: consistency
    ICC(1,k) = (B - W) / B     ICC(2,k) = (B - E) / (B + (J - E)/n)     ICC(3,k) = (B - E) / B     of the mean of k

with their intervals from the F distribution (ibid.; ICC(2,·) with Satterthwaite's degrees of freedom). They take
ratings as normal; on a bounded scale they are an approximation. With very few cases an interval of ICC(2,·) can miss
its own value; it is then left out, and the note says so.

Unequal numbers of ratings: only ICC(1), by the analysis of variance with k0 = (N - sum of k[i]²/N) / (n - 1) in the
place of k (Donner 1986), without an interval; the others are undefined, since the mean of k has no one k and the raters
are not the same on each case. Cases with one rating count between cases.

Undefined also: fewer than two cases; no case with two ratings; constant ratings (0/0); a denominator that is not
positive, where the formula would divide by chance. A value may be negative: raters differ more within cases than cases
do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.estimate import Estimate, Figure, Undefined, with_interval

LEVEL = 0.95
# A sum of squares below this share of the whole is rounding.
NEGLIGIBLE = 1e-12


@dataclass(frozen=True)
class IntraclassCorrelations:
    """All six, n being the number of cases."""

    one: Figure  # ICC(1)
    two: Figure  # ICC(2,1)
    three: Figure  # ICC(3,1)
    one_mean: Figure  # ICC(1,k)
    two_mean: Figure  # ICC(2,k)
    three_mean: Figure  # ICC(3,k)


def intraclass_correlations(case: ArrayLike, rater: ArrayLike, rating: ArrayLike) -> IntraclassCorrelations:
    """One row for each rating: numbers of the case and of the rater, and the rating. A rater rates a case once."""
    cases, at_case = np.unique(np.asarray(case), return_inverse=True)
    raters, at_rater = np.unique(np.asarray(rater), return_inverse=True)
    values = np.asarray(rating, dtype=np.float64).ravel()
    if len(np.unique(at_case * max(1, len(raters)) + at_rater)) != len(values):
        raise ValueError("a rater rates a case once")
    sizes = np.bincount(at_case, minlength=len(cases))
    reason = _refused(sizes, values)
    if reason:
        return _all(Undefined(reason, len(cases)))
    if (sizes != sizes[0]).any():
        fewest, most = int(sizes.min()), int(sizes.max())
        rest = Undefined(Reason.UNEQUAL_RATINGS_OF_CASES(low=fewest, high=most), len(cases))
        return replace(_all(rest), one=_one_way(at_case, values, sizes, interval=False)[0])
    one, one_mean = _one_way(at_case, values, sizes, interval=True)
    if len(raters) != sizes[0]:
        return replace(_all(Undefined(Reason.DIFFERENT_RATERS(), len(cases))), one=one, one_mean=one_mean)
    table = np.empty((len(cases), len(raters)))
    table[at_case, at_rater] = values
    two, three, two_mean, three_mean = _two_way(table)
    return IntraclassCorrelations(one, two, three, one_mean, two_mean, three_mean)


def _all(figure: Figure) -> IntraclassCorrelations:
    return IntraclassCorrelations(**{field.name: figure for field in fields(IntraclassCorrelations)})


def _refused(sizes: NDArray[np.int64], values: NDArray[np.float64]) -> str:
    if not np.isfinite(values).all():
        raise ValueError("leave out ratings without a number")
    if len(sizes) < 2:
        return Reason.CORRELATION_CASES(n=2)
    if sizes.max() < 2:
        return Reason.NO_PAIRED_CASE()
    return Reason.CONSTANT_RATINGS() if np.ptp(values) == 0 else ""


def _one_way(
    at_case: NDArray[np.int64], values: NDArray[np.float64], sizes: NDArray[np.int64], *, interval: bool
) -> tuple[Figure, Figure]:
    """ICC(1) and ICC(1,k), with intervals where the numbers of ratings are equal."""
    n, total = len(sizes), len(values)
    apart = values - values.mean()
    means = np.bincount(at_case, weights=apart) / sizes
    whole = float(apart @ apart)
    between = _settled(float(sizes @ means**2), whole) / (n - 1)
    within = _settled(float(((apart - means[at_case]) ** 2).sum()), whole) / (total - n)
    k = (total - float(sizes @ sizes) / total) / (n - 1)
    ends = _f_ends(between, within, n - 1, total - n) if interval else None
    single = _figure(between - within, between + (k - 1) * within, n, ends, lambda f: (f - 1) / (f + k - 1))
    return single, _figure(between - within, between, n, ends, lambda f: 1 - 1 / f)


def _two_way(table: NDArray[np.float64]) -> tuple[Figure, Figure, Figure, Figure]:
    """ICC(2,1), ICC(3,1), ICC(2,k), ICC(3,k) of a full table (cases, raters)."""
    n, k = table.shape
    apart = table - table.mean()
    whole = float((apart**2).sum())
    rows, columns = apart.mean(axis=1), apart.mean(axis=0)
    residual = apart - rows[:, None] - columns[None, :]
    b = _settled(k * float(rows @ rows), whole) / (n - 1)
    j = _settled(n * float(columns @ columns), whole) / (k - 1)
    e = _settled(float((residual**2).sum()), whole) / ((n - 1) * (k - 1))
    single = _figure(b - e, b + (k - 1) * e + k * (j - e) / n, n, None, None)
    mean = _figure(b - e, b + (j - e) / n, n, None, None)
    if isinstance(single, Estimate):
        ends = _agreement_ends(b, j, e, n, k, single.value)
        if ends is not None:
            single = with_interval(single, *ends)
            if isinstance(mean, Estimate) and all(1 + (k - 1) * end > 0 for end in ends):
                low, high = (k * end / (1 + (k - 1) * end) for end in ends)
                mean = with_interval(mean, low, high)
    ends_of_f = _f_ends(b, e, n - 1, (n - 1) * (k - 1))
    three = _figure(b - e, b + (k - 1) * e, n, ends_of_f, lambda f: (f - 1) / (f + k - 1))
    return single, three, mean, _figure(b - e, b, n, ends_of_f, lambda f: 1 - 1 / f)


def _settled(squares: float, whole: float) -> float:
    """A sum of squares, exactly 0 where it is nothing but rounding."""
    return squares if squares > NEGLIGIBLE * whole else 0.0


def _figure(
    above: float, below: float, n: int, ends: tuple[float, float] | None, of_f: Callable[[float], float] | None
) -> Figure:
    if below <= NEGLIGIBLE * abs(above) or below <= 0:
        return Undefined(Reason.CASES_DO_NOT_DIFFER(), n)
    figure = Estimate(above / below, n)
    return figure if ends is None or of_f is None else with_interval(figure, *map(of_f, ends))


def _f_ends(above: float, below: float, df_above: int, df_below: int) -> tuple[float, float] | None:
    """F over and times the quantiles of its distribution; None where there is no F, or none above 0."""
    from scipy.special import fdtri

    if below == 0 or above == 0:
        return None
    share = (1 + LEVEL) / 2
    ratio = above / below
    return ratio / float(fdtri(df_above, df_below, share)), ratio * float(fdtri(df_below, df_above, share))


def _agreement_ends(b: float, j: float, e: float, n: int, k: int, icc: float) -> tuple[float, float] | None:
    """The interval of ICC(2,1); None where nothing is left over or cases do not differ."""
    from scipy.special import fdtri

    if e == 0 or b == 0:
        return None
    ratio = j / e
    slack = n * (1 + (k - 1) * icc) - k * icc
    above = (k - 1) * (n - 1) * (k * icc * ratio + slack) ** 2
    below = (n - 1) * k**2 * icc**2 * ratio**2 + slack**2
    if above <= 0 or below <= 0:
        return None
    v = above / below
    share = (1 + LEVEL) / 2
    upper, lower = float(fdtri(n - 1, v, share)), float(fdtri(v, n - 1, share))
    others = k * j + (k * n - k - n) * e
    if not np.isfinite([upper, lower]).all() or upper * others + n * b <= 0 or others + n * lower * b <= 0:
        return None
    return n * (b - upper * e) / (upper * others + n * b), n * (lower * b - e) / (others + n * lower * b)
