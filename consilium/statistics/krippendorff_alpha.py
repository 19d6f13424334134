"""Krippendorff's alpha: any number of raters and categories, missing ratings, few units.

    alpha = 1 - Do / De
    Do = (sum of o[c, k]·d2[c, k]) / n          De = (sum of n[c]·n[k]·d2[c, k]) / (n(n - 1))

o is the coincidence matrix: in a unit with m >= 2 ratings each ordered pair of ratings adds 1/(m - 1) to its cell;
n[c] are its row sums and n their total, the number of ratings that can be paired. How far two ratings are apart
depends on what the categories are:

    nominal    d2[c, k] = 1 for c != k
    ordinal    d2[c, k] = (n[c] + … + n[k] - (n[c] + n[k]) / 2)²  for c <= k: the more ratings lie between, the further
    interval   d2[c, k] = (v[c] - v[k])²  with the values v of the categories

Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability". For two raters on binary data, all units
complete, alpha is a function of the 2x2 table: 1 - (2N - 1)·(fp + fn) / (met mentions · not-met mentions).

The interval over units, or over the cases that units belong to, is that of every figure over cases (`alpha_figures`,
`jackknife`): alpha is a function of the coincidences and of n[c], which are sums over units, whatever the distance. It
lies above -1, since the disagreement within units is at most twice that of ratings drawn anew. Cases of a few units
need more of it (`unit_agreement`).

Undefined: no unit with two ratings; all paired ratings in one category, or of one value (De = 0).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.phrases import Phrase
from consilium.core.reasons import Reason
from consilium.statistics.case_figures import CaseFigures
from consilium.statistics.coefficient import Coefficient
from consilium.statistics.confusion import ConfusionCounts
from consilium.statistics.estimate import Figure, Undefined, figures
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.unit_agreement import unit_chance

CONSTANT = Reason.CONSTANT_ALPHA()


def two_rater_alpha_values(counts: ConfusionCounts) -> NDArray[np.float64]:
    """Alpha of two raters for each table; NaN where undefined."""
    disagreements = counts.fp + counts.fn
    with np.errstate(invalid="ignore"):
        return np.asarray(
            1 - np.true_divide((2 * counts.n - 1) * disagreements, counts.met_mentions * counts.not_met_mentions)
        )


def two_rater_alpha_figures(counts: ConfusionCounts) -> list[Figure]:
    sizes = counts.n.ravel()
    return figures(
        two_rater_alpha_values(counts), counts.n, reason=lambda i: CONSTANT if sizes[i] else Reason.NO_PAIRS()
    )


def two_rater_alpha(counts: ConfusionCounts) -> Figure:
    """Alpha of two raters from one 2x2 table, each pair a unit; n is the number of pairs."""
    return two_rater_alpha_figures(counts)[0]


def value_counts(unit: ArrayLike, category: ArrayLike, n_units: int, n_categories: int) -> NDArray[np.int64]:
    """How often each unit got each category, shape (n_units, n_categories), from one row per rating."""
    flat = np.asarray(unit, dtype=np.int64).ravel() * n_categories + np.asarray(category, dtype=np.int64).ravel()
    return np.bincount(flat, minlength=n_units * n_categories).reshape(n_units, n_categories)


def coincidences(counts_by_unit: ArrayLike) -> NDArray[np.float64]:
    """The coincidence matrix of (units, categories) counts; units with fewer than two ratings add nothing."""
    table = np.asarray(counts_by_unit, dtype=np.float64)
    ratings = table.sum(axis=1)
    table, ratings = table[ratings >= 2], ratings[ratings >= 2]
    weighted = table / (ratings - 1)[:, None]
    matrix: NDArray[Any] = weighted.T @ table
    # A rating is not paired with itself.
    matrix[np.diag_indices_from(matrix)] -= weighted.sum(axis=0)
    return matrix


class Level(StrEnum):
    """What the categories are: names, names in an order, or numbers."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def krippendorff_alpha(
    counts_by_unit: ArrayLike,
    level: Level | str = Level.NOMINAL,
    values: ArrayLike | None = None,
    *,
    case: ArrayLike | None = None,
    n_cases: int = 0,
    rule: IntervalRule | None = None,
) -> Figure:
    """Alpha of many raters; n is the number of units with at least two ratings.

    `counts_by_unit` as `value_counts` makes it: a row for each unit, a column for each category, the lowest first where
    they have an order. `values`, of interval data only, are the categories' numbers; 0, 1, 2 … by default. With a
    `rule` the figure has an interval over the cases of `alpha_figures`.
    """
    table = np.asarray(counts_by_unit)
    table = table if table.size else np.zeros((0, 1), dtype=np.int64)
    kept = table.sum(axis=1) >= 2
    table = table[kept]
    units = len(table)
    if not units:
        return Undefined(Reason.NO_PAIRED_UNIT())
    places = _places(values, table.shape[1])
    # Every rating of a paired unit enters the margins exactly once, so these are whole numbers.
    margins = table.sum(axis=0).astype(np.float64)
    value = alpha_values(coincidences(table)[..., None], margins[:, None], Level(level), places)
    estimates = figures(value, [units], reason=lambda i: CONSTANT)
    if rule is None or not estimates[0].defined:
        return estimates[0]
    own = alpha_figures(table, level, values, case=None if case is None else np.asarray(case)[kept], n_cases=n_cases)
    return rule.intervals(own).attach(estimates)[0]


def alpha_figures(
    counts_by_unit: ArrayLike,
    level: Level | str = Level.NOMINAL,
    values: ArrayLike | None = None,
    *,
    case: ArrayLike | None = None,
    n_cases: int = 0,
) -> CaseFigures:
    """Alpha of many raters as a function of sums over cases, one slice; arguments as `krippendorff_alpha`.

    ``case`` holds the case of each unit, of ``n_cases``; by default each unit is a case. The size of a case is the
    number of its ratings that can be paired. Units with fewer than two ratings add nothing.
    """
    table = np.asarray(counts_by_unit, dtype=np.float64)
    units, size = table.shape
    ratings = table.sum(axis=1)
    paired = np.where((ratings >= 2)[:, None], table, 0.0)
    weighted = paired / np.maximum(ratings - 1, 1)[:, None]
    # A rating's pair with itself is in the diagonal, where nothing is apart and nothing counts.
    matrices = weighted[:, :, None] * paired[:, None, :]
    channels = np.concatenate([matrices.reshape(units, size * size), paired], axis=1)
    if case is not None:
        by_case = np.zeros((n_cases, channels.shape[1]))
        np.add.at(by_case, np.asarray(case, dtype=np.int64), channels)
        channels = by_case
    places, kind = _places(values, size), Level(level)

    def alphas(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = sums.reshape(-1, size * size + size).T
        return alpha_values(flat[: size * size].reshape(size, size, -1), flat[size * size :], kind, places).reshape(
            sums.shape[:-1]
        )

    by_case = channels[:, size * size :]
    margins = by_case.sum(axis=0)
    n, distance = margins.sum(), _distances(margins[:, None], kind, places)[..., 0]
    largest = n * (n - 1) * distance.max()
    expected = float(margins @ distance @ margins) / largest if largest > 0 else 0.0
    chance = unit_chance(expected, table[ratings >= 2], None if case is None else np.asarray(case)[ratings >= 2])
    return CaseFigures(
        channels[:, None, :], alphas, channels[:, None, size * size :].sum(axis=2), -1.0, 1.0, chance=chance
    )


def _places(values: ArrayLike | None, n_categories: int) -> NDArray[np.float64]:
    """The numbers of the categories of interval data."""
    places = np.arange(n_categories, dtype=np.float64) if values is None else np.asarray(values, dtype=np.float64)
    if places.shape != (n_categories,) or not np.isfinite(places).all():
        raise ValueError("interval data need one finite value for each category")
    return places


def alpha_values(
    matrix: NDArray[np.float64], margins: NDArray[np.float64], level: Level, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Alpha of many samples, from coincidences (c, c, samples) and margins (c, samples); NaN where undefined."""
    distance = _distances(margins, level, values)
    observed = (matrix * distance).sum(axis=(0, 1))
    expected = (margins[:, None] * margins[None, :] * distance).sum(axis=(0, 1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - (margins.sum(axis=0) - 1) * observed / expected, np.nan)


def _distances(margins: NDArray[np.float64], level: Level, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """d2 of each two categories, (c, c, samples), with one sample where margins play no part."""
    if level is Level.NOMINAL:
        return (1.0 - np.eye(len(margins)))[..., None]
    # Ratings below or in each category, counting half of its own: the difference of two is what lies between them.
    places = np.cumsum(margins, axis=0) - margins / 2 if level is Level.ORDINAL else values[:, None]
    return np.asarray((places[:, None] - places[None, :]) ** 2)


def two_rater_alpha_expected(counts: ConfusionCounts) -> NDArray[np.float64]:
    """De of the alpha of two raters for each table."""
    n = np.maximum(counts.n, 1).astype(np.float64)
    return np.asarray((counts.met_mentions / n) * (counts.not_met_mentions / (2 * n - 1)))


TWO_RATER_ALPHA = Coefficient(
    key="alpha",
    figures=two_rater_alpha_figures,
    values=two_rater_alpha_values,
    heading="Krippendorff’s α",
    plain_name="Krippendorff's alpha",
    plain_heading="alpha",
    symbol="α",
    name=Phrase("Krippendorff’s α"),
    in_methods="Krippendorff’s nominal α (Krippendorff 2011)",
    sources={"Krippendorff 2011": "Krippendorff 2011: Computing Krippendorff’s Alpha-Reliability."},
    needs_variety=True,
    beside_reports=False,  # label files have the alpha of all raters
    bounds=(-1.0, 1.0),
    expected=two_rater_alpha_expected,
)
