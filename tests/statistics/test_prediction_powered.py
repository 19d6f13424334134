"""Prediction-powered means: the paper's formulas written out, arithmetic by hand, and coverage by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from consilium.statistics.estimate import Undefined
from consilium.statistics.prediction_powered import (
    ALL_LABELLED,
    NO_ERROR_SEEN,
    NO_JUDGED,
    NO_LABEL,
    CaseSums,
    case_sums,
    fit,
    prediction_powered,
)

NAN = float("nan")


def ppi_plus_plus(y, f_labelled, f_unlabelled, power=None):
    """Estimate, variance and λ of PPI++ (sections 2 and 6 of the paper; `ppi_py` computes the same)."""
    y, f, rest = (np.asarray(values, dtype=float) for values in (y, f_labelled, f_unlabelled))
    n, unlabelled = len(y), len(rest)
    if power is None:
        covariance = np.mean((y - y.mean()) * (f - f.mean()))
        power = np.clip(covariance / ((1 + n / unlabelled) * np.var(np.concatenate([f, rest]))), 0, 1)
    value = power * rest.mean() + (y - power * f).mean()
    return value, np.var(power * rest) / unlabelled + np.var(y - power * f) / n, power


def of(labels, predictions, **more):
    return case_sums(case=np.arange(len(labels)), n_cases=len(labels), prediction=predictions, label=labels, **more)


def test_by_hand():
    # y = 1, 0 of four; f = 0.8, 0.4, 0.6, 0.2. J = 0.5, Y = 0.5, F = 0.6.
    # The four cases have a: 0.25, -0.25, 0, 0; and g: 0.1, -0.1, 0, 0; (f - J)/4: 0.075, -0.025, 0.025, -0.075;
    # b: -0.025, 0.075, 0.025, -0.075. Sum ab = -0.025, sum b² = 0.0125: -ab/b² = 2, held at 1.
    # Estimate 0.5 + 1 · (0.5 - 0.6) = 0.4; u = a + b = (0.225, -0.175, 0.025, -0.075), sum of squares 0.0875.
    sums = of([1, 0, NAN, NAN], [0.8, 0.4, 0.6, 0.2])
    estimates = prediction_powered(sums)[0]
    assert estimates.powered.value == pytest.approx(0.4, abs=1e-12)
    assert (estimates.power, estimates.physicians.value, estimates.judge.value) == pytest.approx(
        (1.0, 0.5, 0.5), abs=1e-12
    )
    assert (estimates.n_labelled, estimates.n_judged, estimates.n_labelled_cases, estimates.n_cases) == (2, 4, 2, 4)
    assert fit(sums).variance == pytest.approx(0.0875, abs=1e-12)
    # At λ = 1/2: 0.5 + 0.5 · (-0.1) = 0.45.
    assert prediction_powered(sums, power=0.5)[0].powered.value == pytest.approx(0.45, abs=1e-12)


def test_weights_and_sizes_by_hand():
    # Two cases labelled of three, inverse probabilities 4 and 1, sizes 10 and 30: w·d = 40 and 30.
    # Y = (40·0.5 + 30·0.9) / 70 = 47/70; F = (40·0.4 + 30·0.8) / 70 = 40/70; J = (10·0.4 + 30·0.8 + 10·0.2) / 50 = 0.6.
    sums = of([0.5, 0.9, NAN], [0.4, 0.8, 0.2], size=[10, 30, 10], weight=[4, 1, 1])
    estimates = prediction_powered(sums, power=1.0, scale=100)[0]
    assert estimates.powered.value == pytest.approx(100 * (47 / 70 + 0.6 - 40 / 70), abs=1e-9)
    assert estimates.physicians.value == pytest.approx(4700 / 70, abs=1e-9)


@pytest.mark.parametrize("power", [0.0, 0.3, 0.75, None])
def test_is_ppi_plus_plus(power):
    """The same estimate and variance where labelled and unlabelled predictions have the same mean and spread."""
    y = [1, 0, 0.8, 0.1, 0.9, 0.3, 1, 0.2, 0.7, 0.4, 0.6, 0.5]
    f = [0.9, 0.1, 0.7, 0.2, 0.6, 0.4, 1.0, 0.3, 0.5, 0.8, 0.7, 0.2]
    theirs = ppi_plus_plus(y, f, f * 3, power)
    ours = None if power is None else power * 4 / 3  # λ over all = λ over the unlabelled · (n + n') / n'
    sums = of([*y, *[NAN] * 36], f * 4)
    estimates, fitted = prediction_powered(sums, power=ours)[0], fit(sums, power=ours)
    assert estimates.powered.value == pytest.approx(theirs[0], abs=1e-9)
    assert fitted.variance[0] == pytest.approx(theirs[1], abs=1e-9)
    assert estimates.power * 3 / 4 == pytest.approx(theirs[2], abs=1e-9)


def test_estimates_are_those_of_ppi_plus_plus_on_any_numbers():
    rng = np.random.default_rng(5)
    y, f, rest = rng.random(15), rng.random(15), rng.random(40)
    for power in (0.2, 0.7):
        value, variance, _ = ppi_plus_plus(y, f, rest, power)
        sums = of([*y, *[NAN] * 40], [*f, *rest])
        assert prediction_powered(sums, power=power * 55 / 40)[0].powered.value == pytest.approx(value, abs=1e-12)
        assert fit(sums, power=power * 55 / 40).variance[0] == pytest.approx(variance, rel=0.05)


def test_the_variance_of_labels_is_that_of_a_sample():
    rng = np.random.default_rng(6)
    y, f = rng.random(12), rng.random(40)
    estimates = prediction_powered(of([*y, *[NAN] * 28], f))[0]
    assert estimates.label_variance == pytest.approx(np.var(y, ddof=1), abs=1e-12)


def test_a_scale_multiplies_values_and_its_square_variances():
    rng = np.random.default_rng(8)
    sums = of([*rng.random(12), *[NAN] * 28], rng.random(40))
    plain, scaled = (prediction_powered(sums, scale=scale)[0] for scale in (1, 100))
    for name in ("powered", "physicians", "judge"):
        figure, other = getattr(plain, name), getattr(scaled, name)
        ends = (100 * figure.value, 100 * figure.low, 100 * figure.high)
        assert (other.value, other.low, other.high) == pytest.approx(ends)
    assert scaled.label_variance == pytest.approx(10_000 * plain.label_variance)
    assert scaled.residual_variance == pytest.approx(10_000 * plain.residual_variance)
    assert (scaled.power, scaled.width_ratio) == pytest.approx((plain.power, plain.width_ratio))


def test_responses_to_one_case_count_as_one_unit():
    """Every response twice over changes no estimate and no interval, only n."""
    rng = np.random.default_rng(7)
    y, f = np.where(np.arange(40) < 15, rng.random(40), NAN), rng.random(40)
    once = prediction_powered(of(y, f))[0]
    twice = prediction_powered(
        case_sums(case=np.tile(np.arange(40), 2), n_cases=40, prediction=np.tile(f, 2), label=np.tile(y, 2))
    )[0]
    assert (twice.n_labelled, twice.n_labelled_cases) == (30, 15)
    for first, second in (
        (once.powered, twice.powered),
        (once.physicians, twice.physicians),
        (once.judge, twice.judge),
    ):
        assert (first.value, first.low, first.high) == pytest.approx((second.value, second.low, second.high), abs=1e-12)


def test_order_of_rows_changes_nothing_and_equal_weights_cancel():
    rng = np.random.default_rng(8)
    y, f, size = np.where(np.arange(30) < 12, rng.random(30), NAN), rng.random(30), rng.integers(1, 9, 30)
    first = prediction_powered(of(y, f, size=size))[0]
    order = rng.permutation(30)
    second = prediction_powered(
        case_sums(
            case=order, n_cases=30, prediction=f[order], label=y[order], size=size[order], weight=np.full(30, 3.5)
        )
    )[0]
    assert (first.powered.low, first.powered.high) == pytest.approx(
        (second.powered.low, second.powered.high), abs=1e-12
    )


def degenerate():
    some = np.linspace(0.1, 0.9, 30)
    none, ten = np.full(30, NAN), np.where(np.arange(30) < 10, some, NAN)
    four = np.where(np.arange(30) < 4, some, NAN)
    same = np.where(np.arange(30) < 10, 0.3, NAN)
    yield "no label", of(none, some), NO_LABEL
    yield "no response", of([], []), NO_JUDGED
    yield "four cases", of(four, some[::-1]), "no interval: 4.0 of the 5 effective cases needed"
    yield "one label", of(np.where(np.arange(30) < 1, some, NAN), some), "no interval: 1.0 of the 5 effective cases"
    yield "labels alike", of(same, some), "all cases are alike: interval by the number of cases"
    yield "both alike", of(same, np.full(30, 0.1 + 0.2)), "all cases are alike: interval by the number of cases"
    yield "a perfect judge", of(ten, some), NO_ERROR_SEEN
    yield "a constant bias", of(ten, some + 0.2), NO_ERROR_SEEN
    yield "all labelled", of(some, some[::-1]), ALL_LABELLED
    yield "constant judge", of(ten, np.full(30, 0.7)), "the judge gave every response the same result"


@pytest.mark.parametrize(("sums", "expected_note"), [pytest.param(*rest, id=name) for name, *rest in degenerate()])
def test_degenerate(sums: CaseSums, expected_note: str):
    estimates = prediction_powered(sums)[0]
    notes = "; ".join(figure.note for figure in (estimates.powered, estimates.judge))
    assert expected_note in notes
    if expected_note.startswith("no interval"):
        assert estimates.powered.value is not None
        assert (estimates.powered.low, estimates.powered.high, estimates.width_ratio) == (None, None, None)
    if expected_note in (NO_LABEL, NO_JUDGED):
        assert isinstance(estimates.powered, Undefined)
    if expected_note in (ALL_LABELLED,) or "same of all" in expected_note:
        assert estimates.power is None
        assert (estimates.powered.value, estimates.powered.low) == (
            estimates.physicians.value,
            estimates.physicians.low,
        )
        assert estimates.width_ratio == 1.0


def test_clipping():
    rng = np.random.default_rng(9)
    sums = of([*rng.random(12), *[NAN] * 10], rng.random(22))
    free = prediction_powered(sums)[0].powered
    held = prediction_powered(sums, clip=(0, free.value - 0.01))[0].powered
    assert (held.low, held.value, held.high) == (free.low, free.value - 0.01, free.value - 0.01)
    assert held.note == (f"clipped from {free.value:.6g}; interval before clipping: {free.low:.6g} to {free.high:.6g}")


# Coverage ---------------------------------------------------------------------------------------------------------

REPETITIONS = 2000
# Three standard errors of a share of 0.95 over the repetitions.
MARGIN = 3 * np.sqrt(0.95 * 0.05 / REPETITIONS)


def judged(rng, quality, kind):
    """A judge's score of responses whose quality is given, from 20 criteria."""
    if kind == "uninformative":
        return rng.random(quality.shape)
    seen = rng.binomial(20, quality) / 20
    return {"informative": seen, "biased": np.minimum(1, seen + 0.25), "adversarial": 1 - seen}[kind]


def covered(estimates, truth):
    """The share of the intervals that hold the truth."""
    return np.mean([estimate.powered.low <= truth <= estimate.powered.high for estimate in estimates])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["informative", "biased", "uninformative", "adversarial"])
@pytest.mark.parametrize("labelled", [30, 100])
def test_coverage(kind, labelled):
    rng = np.random.default_rng([labelled, len(kind)])
    shape = (250, REPETITIONS)
    quality = rng.beta(2, 3, shape)  # mean 0.4
    y, f = rng.binomial(20, quality) / 20, judged(rng, quality, kind)
    in_sample = np.zeros((250, 1))
    in_sample[:labelled] = 1
    ones = np.ones(shape)
    sums = CaseSums(ones, f, ones * in_sample, y * in_sample, f * in_sample, ones, ones * in_sample)
    estimates = prediction_powered(sums)
    assert covered(estimates, 0.4) >= 0.95 - MARGIN
    ratio = np.mean([estimate.width_ratio for estimate in estimates])
    if kind in ("informative", "biased"):
        assert ratio < 0.85
        assert np.abs(np.mean([estimate.powered.value for estimate in estimates]) - 0.4) < 0.005
    else:
        assert ratio < 1.03


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["informative", "uninformative"])
def test_coverage_of_clustered_pooled_shares_with_unequal_probabilities(kind):
    """A ratio of sums: four responses a case with a common part, N from 5 to 30 and tied to quality; responses drawn
    one by one, those of large N three times as often, so that an unweighted mean would be off.
    """
    rng = np.random.default_rng(11)
    n_cases, repetitions = 120, REPETITIONS
    common = rng.beta(2, 2, (n_cases, repetitions, 1))
    quality = np.clip(common + rng.normal(0, 0.1, (n_cases, repetitions, 4)), 0, 1)
    size = 5 + np.rint(25 * quality)
    y = rng.binomial(20, quality) / 20
    f = judged(rng, quality, kind)
    probability = np.where(size > 17, 0.3, 0.1)
    drawn = rng.random(y.shape) < probability
    weight = np.where(drawn, size / probability, 0.0)
    sums = CaseSums(
        *(array.sum(axis=-1) for array in (size, size * f, weight, weight * y, weight * f, np.ones(y.shape), drawn))
    )
    estimates = prediction_powered(sums)
    many = rng.beta(2, 2, (200_000, 1))
    many = np.clip(many + rng.normal(0, 0.1, (200_000, 4)), 0, 1)
    truth = (many * (5 + np.rint(25 * many))).sum() / (5 + np.rint(25 * many)).sum()
    assert 40 < np.mean([estimate.n_labelled_cases for estimate in estimates]) < 100
    assert covered(estimates, truth) >= 0.95 - MARGIN
    ratio = np.mean([estimate.width_ratio for estimate in estimates])
    assert ratio < (0.85 if kind == "informative" else 1.03)
