"""Coefficients of two raters against scikit-learn, krippendorff, published examples and arithmetic by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilium.statistics.cohen_kappa import cohen_kappa
from consilium.statistics.confusion import ConfusionCounts, confusion_counts
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.gwet_ac1 import gwet_ac1
from consilium.statistics.intervals import PercentileBootstrap
from consilium.statistics.krippendorff_alpha import two_rater_alpha
from consilium.statistics.macro_f1 import f1_met, f1_not_met, macro_f1
from consilium.statistics.prevalence import prevalence_a, prevalence_b
from consilium.statistics.raw_agreement import raw_agreement
from consilium.statistics.two_raters import two_rater_agreement

COEFFICIENTS = {
    "mf1": macro_f1,
    "f1_met": f1_met,
    "f1_not_met": f1_not_met,
    "raw": raw_agreement,
    "kappa": cohen_kappa,
    "ac1": gwet_ac1,
    "alpha": two_rater_alpha,
    "prevalence_a": prevalence_a,
    "prevalence_b": prevalence_b,
}
SYMMETRIC = ("mf1", "f1_met", "f1_not_met", "raw", "kappa", "ac1", "alpha")

ratings = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)
cells = st.tuples(*[st.integers(0, 40)] * 4)


@pytest.mark.slow
def test_macro_f1_and_kappa_equal_scikit_learn():
    from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

    rng = np.random.default_rng(7)
    for _ in range(60):
        n = int(rng.integers(5, 200))
        a = rng.random(n) < rng.uniform(0.1, 0.9)
        b = np.where(rng.random(n) < 0.7, a, ~a)
        if len({*a.tolist()}) < 2 or len({*b.tolist()}) < 2:
            continue
        table = confusion_counts(a, b)
        assert macro_f1(table).value == pytest.approx(f1_score(a, b, average="macro"), abs=1e-12)
        assert f1_met(table).value == pytest.approx(f1_score(a, b), abs=1e-12)
        assert f1_not_met(table).value == pytest.approx(f1_score(a, b, pos_label=False), abs=1e-12)
        assert cohen_kappa(table).value == pytest.approx(cohen_kappa_score(a, b), abs=1e-12)
        assert raw_agreement(table).value == pytest.approx(accuracy_score(a, b), abs=1e-12)
        assert prevalence_a(table).value == pytest.approx(a.mean(), abs=1e-12)
        assert prevalence_b(table).value == pytest.approx(b.mean(), abs=1e-12)


@pytest.mark.slow
@given(ratings)
def test_two_rater_alpha_equals_the_krippendorff_package(pairs):
    import krippendorff

    a, b = np.array(pairs).T
    ours = two_rater_alpha(confusion_counts(a, b))
    if len({*a.tolist(), *b.tolist()}) < 2:
        assert isinstance(ours, Undefined)
    else:
        theirs = krippendorff.alpha(np.array([a, b], dtype=float), level_of_measurement="nominal")
        assert ours.value == pytest.approx(theirs, abs=1e-9)


def test_worked_example_of_gwet_2008():
    # 125 subjects: 118 both +, 5 only the first, 2 only the second, 0 both -.
    # pa = 118/125 = 0.944; prevalences 123/125 and 120/125, mean 0.972; pe = 2 · 0.972 · 0.028 = 0.054432;
    # AC1 = (0.944 - 0.054432) / 0.945568 = 0.9408. Kappa's pe = 0.984 · 0.96 + 0.016 · 0.04 = 0.94528, kappa = -0.0234.
    table = ConfusionCounts.single(tp=118, fp=2, fn=5, tn=0)
    assert gwet_ac1(table).value == pytest.approx(0.9408, abs=5e-5)
    assert gwet_ac1(table).value == pytest.approx(0.889568 / 0.945568, abs=1e-12)
    assert cohen_kappa(table).value == pytest.approx(-0.00128 / 0.05472, abs=1e-12)
    assert cohen_kappa(table).value == pytest.approx(-0.0234, abs=5e-5)


def test_published_counts_of_the_healthbench_labels():
    judge = ConfusionCounts.single(tp=137, fp=36, fn=30, tn=47)
    assert f1_met(judge).value == pytest.approx(0.805882, abs=5e-7)
    assert f1_not_met(judge).value == pytest.approx(0.587500, abs=5e-7)
    assert macro_f1(judge) == Estimate((274 / 340 + 94 / 160) / 2, 250)
    assert macro_f1(judge).value == pytest.approx(0.696691, abs=5e-7)
    assert cohen_kappa(judge).value == pytest.approx(0.393784, abs=5e-7)
    ceiling = ConfusionCounts.single(tp=148, fp=36, fn=36, tn=62)
    assert f1_met(ceiling).value == pytest.approx(0.804348, abs=5e-7)
    assert f1_not_met(ceiling).value == pytest.approx(0.632653, abs=5e-7)
    assert macro_f1(ceiling).value == pytest.approx(0.718500, abs=5e-7)
    assert cohen_kappa(ceiling).value == pytest.approx(0.437001, abs=5e-7)
    assert raw_agreement(ceiling).n == 282


def test_a_class_that_neither_rater_used():
    table = ConfusionCounts.single(tp=0, fp=0, fn=0, tn=9)
    default = macro_f1(table)
    assert default.value == 1.0
    assert "F1 of not met alone" in default.note
    assert macro_f1(table, "zero").value == 0.5
    assert macro_f1(table, "one").value == 1.0
    assert "set to 0" in macro_f1(table, "zero").note
    assert f1_met(table) == Undefined("neither rater said met", 9)
    # A class that one rater used has an F1, and it is 0: here tp = 0 with one false positive; 2·8/(16+1) for the other.
    used_once = macro_f1(ConfusionCounts.single(tp=0, fp=1, fn=0, tn=8))
    assert used_once == Estimate((0 + 16 / 17) / 2, 9)


def test_unused_class_options_equal_scikit_learn_zero_division():
    from sklearn.metrics import f1_score

    a = b = np.zeros(6, dtype=bool)
    table = confusion_counts(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for option, zero_division in (("zero", 0.0), ("one", 1.0)):
            expected = f1_score(a, b, labels=[0, 1], average="macro", zero_division=zero_division)
            assert macro_f1(table, option).value == expected


@pytest.mark.slow
@given(cells)
def test_every_coefficient_is_a_finite_value_or_a_reason(numbers):
    table = ConfusionCounts.single(*numbers)
    for name, coefficient in COEFFICIENTS.items():
        figure = coefficient(table)
        assert figure.n == sum(numbers)
        if isinstance(figure, Undefined):
            assert figure.reason
        else:
            assert figure.n > 0
            assert -1 - 1e-12 <= figure.value <= 1, name


@pytest.mark.slow
@given(cells)
def test_swapping_raters_swaps_only_what_must(numbers):
    table = ConfusionCounts.single(*numbers)
    for name in SYMMETRIC:
        figure, other = COEFFICIENTS[name](table), COEFFICIENTS[name](table.swapped())
        assert (figure.value, figure.n) == (other.value, other.n), name
    assert prevalence_a(table) == prevalence_b(table.swapped())
    assert prevalence_b(table) == prevalence_a(table.swapped())


@pytest.mark.slow
@given(cells)
def test_exchanging_the_classes_exchanges_their_f1(numbers):
    tp, fp, fn, tn = numbers
    table, mirrored = ConfusionCounts.single(tp, fp, fn, tn), ConfusionCounts.single(tn, fn, fp, tp)
    assert f1_met(table).value == f1_not_met(mirrored).value
    for name in ("mf1", "raw", "kappa", "ac1", "alpha"):
        assert COEFFICIENTS[name](table).value == pytest.approx(COEFFICIENTS[name](mirrored).value), name


@pytest.mark.slow
@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_permuted_rows_change_nothing(seed):
    rng = np.random.default_rng(3)
    n, n_cases, n_slices = 400, 20, 3
    a, b = rng.random(n) < 0.6, rng.random(n) < 0.6
    case, slice_of = rng.integers(n_cases, size=n), rng.integers(n_slices, size=n)
    rule = PercentileBootstrap(5, resamples=50)

    def figures(order):
        counts = confusion_counts(
            a[order], b[order], case=case[order], n_cases=n_cases, slice_of=slice_of[order], n_slices=n_slices
        )
        return two_rater_agreement(counts, rule=rule)

    assert figures(np.random.default_rng(seed).permutation(n)) == figures(np.arange(n))


def test_slices_equal_the_same_pairs_counted_alone():
    rng = np.random.default_rng(11)
    n = 500
    a, b = rng.random(n) < 0.5, rng.random(n) < 0.5
    case, slice_of = rng.integers(30, size=n), rng.integers(4, size=n)
    together = two_rater_agreement(
        confusion_counts(a, b, case=case, n_cases=30, slice_of=slice_of, n_slices=4),
    )
    for number, agreement in enumerate(together):
        mine = slice_of == number
        table = confusion_counts(a[mine], b[mine])
        for name, coefficient in COEFFICIENTS.items():
            assert getattr(agreement, name) == coefficient(table), name
        assert agreement.n_pairs == mine.sum()
        assert agreement.n_cases == len(set(case[mine].tolist()))


def test_kappa_is_undefined_where_a_rater_is_constant():
    # The formula would give 0 for each of these, whatever the other rater said.
    assert "rater B gave one answer" in cohen_kappa(ConfusionCounts.single(tp=7, fp=3, fn=0, tn=0)).reason
    assert "rater A gave one answer" in cohen_kappa(ConfusionCounts.single(tp=7, fp=0, fn=3, tn=0)).reason
    assert "both raters" in cohen_kappa(ConfusionCounts.single(tp=0, fp=4, fn=0, tn=0)).reason
    assert cohen_kappa(ConfusionCounts.single(tp=7, fp=1, fn=3, tn=2)).note == ""


def test_invalid_verdicts_count_in_mf1_and_nowhere_else():
    valid = ConfusionCounts(*(np.array([[cell]]) for cell in (4, 1, 1, 4)))
    counted = ConfusionCounts(*(np.array([[cell]]) for cell in (4, 2, 3, 4)))
    agreement = two_rater_agreement(valid, counted=counted)[0]
    assert (agreement.n_pairs, agreement.n_valid, agreement.n_invalid) == (13, 10, 3)
    assert agreement.invalid_rate == pytest.approx(3 / 13)
    assert agreement.mf1 == Estimate(8 / 13, 13)  # 2·4 / (2·4 + 2 + 3) for either class
    assert agreement.mf1_valid == Estimate(0.8, 10)
    assert agreement.raw == Estimate(0.8, 10)
    assert agreement.kappa.value == pytest.approx(0.6)


def test_counts_refuse_what_they_cannot_count():
    with pytest.raises(ValueError, match="only met and not met"):
        confusion_counts([1, 2], [0, 1])
    with pytest.raises(ValueError, match="one outcome for each pair"):
        confusion_counts([1, 0], [0])
    with pytest.raises(ValueError, match="same shape"):
        ConfusionCounts(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(3))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_an_estimate_is_never_nan(value):
    with pytest.raises(ValueError, match="finite"):
        Estimate(value, 3)
    with pytest.raises(ValueError, match="finite"):
        Estimate(0.5, 3, low=value)
    with pytest.raises(ValueError, match="rest on"):
        Estimate(0.5, 0)
