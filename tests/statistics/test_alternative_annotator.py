"""The alternative annotator test against the paper's procedure in other words, SciPy, and arithmetic by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import false_discovery_control, ttest_1samp, wilcoxon

from consilium.statistics.alternative_annotator import (
    AlternativeAnnotator,
    alternative_annotator_test,
    benjamini_yekutieli,
    wilcoxon_below,
)
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intervals import DEFAULT_RULE, PercentileBootstrap

Labels = dict[str, dict[str, bool]]  # by annotator, then instance


def run(labels: Labels, judge: dict[str, int], *, case: dict[str, str] | None = None, **given) -> AlternativeAnnotator:
    items = sorted(judge)
    names = sorted(labels)
    rows = [(items.index(i), names.index(j), label) for j in names for i, label in labels[j].items() if i in judge]
    cases = [(case or {}).get(i, i) for i in items]
    numbers = sorted(set(cases))
    item, annotator, label = (np.array(column) for column in zip(*rows, strict=True))
    return alternative_annotator_test(
        item,
        annotator,
        label,
        [judge[i] for i in items],
        case=[numbers.index(name) for name in cases],
        n_annotators=len(names),
        n_cases=len(numbers),
        **given,
    )


def by_the_paper(labels: Labels, judge: dict[str, int], epsilon: float, minimum: int, by_t: int = 30) -> dict:
    """Calderon, Reichart and Dror 2025, section 3, label by label."""
    figures, p = {}, {}
    for j in sorted(labels):
        scored = []
        for i, own in labels[j].items():
            others = [labels[k][i] for k in labels if k != j and i in labels[k]]
            if others and i in judge:
                s_h = sum(label == own for label in others) / len(others)
                s_f = sum(int(label) == judge[i] for label in others) / len(others)
                scored.append((int(s_f >= s_h), int(s_h >= s_f)))
        if len(scored) < minimum:
            continue
        w_f, w_h = np.array(scored).T
        d = w_h - w_f
        p[j] = (
            ttest_1samp(d, epsilon, alternative="less").pvalue
            if len(d) >= by_t
            else wilcoxon(d - epsilon, alternative="less", method="approx", correction=False).pvalue
        )
        figures[j] = (len(d), w_f.mean(), w_h.mean(), d.mean())
    adjusted = dict(zip(p, false_discovery_control(list(p.values()), method="by"), strict=True)) if p else {}
    return {"figures": figures, "p": p, "adjusted": adjusted}


def drawn(seed: int, *, annotators: int, instances: int, each: float, judge_noise: float) -> tuple[Labels, dict]:
    rng = np.random.default_rng(seed)
    truth = rng.random(instances) < 0.6
    labels: Labels = {
        f"h{j:02d}": {
            f"i{i:03d}": bool(truth[i] ^ (rng.random() < 0.2)) for i in range(instances) if rng.random() < each
        }
        for j in range(annotators)
    }
    judge = {f"i{i:03d}": int(truth[i] ^ (rng.random() < judge_noise)) for i in range(instances)}
    return labels, judge


@pytest.mark.parametrize(
    "wrong", [{"epsilon": -0.01}, {"epsilon": 1.0}, {"q": 0.0}, {"q": 1.0}, {"minimum": 1}], ids=repr
)
def test_terms_outside_their_range_are_refused(wrong: dict[str, float]) -> None:
    labels = {name: {"a": True, "b": False} for name in "ABC"}
    run(labels, {"a": 1, "b": 0}, epsilon=0.0, q=0.01, minimum=2)
    with pytest.raises(ValueError, match="lies in"):
        run(labels, {"a": 1, "b": 0}, **wrong)


@pytest.mark.parametrize(
    ("seed", "judge_noise", "epsilon"), [(1, 0.1, 0.2), (2, 0.3, 0.2), (3, 0.25, 0.1), (4, 0.5, 0.15)]
)
def test_it_is_the_procedure_of_the_paper(seed: int, judge_noise: float, epsilon: float) -> None:
    labels, judge = drawn(seed, annotators=6, instances=120, each=0.7, judge_noise=judge_noise)
    expected = by_the_paper(labels, judge, epsilon, 30)
    result = run(labels, judge, epsilon=epsilon, minimum=30)
    assert len(expected["p"]) == 6
    for annotator, j in zip(result.annotators, sorted(labels), strict=True):
        n, rho_f, rho_h, d = expected["figures"][j]
        assert (annotator.n_instances, annotator.test) == (n, "t")
        assert annotator.advantage.value == pytest.approx(rho_f, abs=1e-12)
        assert annotator.annotators_advantage.value == pytest.approx(rho_h, abs=1e-12)
        assert annotator.difference.value == pytest.approx(-d, abs=1e-12)
        assert annotator.p.value == pytest.approx(expected["p"][j], rel=1e-9)
        assert annotator.p_adjusted.value == pytest.approx(expected["adjusted"][j], rel=1e-9)
        assert annotator.wins is bool(expected["adjusted"][j] <= 0.05)
        # One instance to a case: the standard error over cases is that of the t-test.
        assert annotator.p_clustered.value == pytest.approx(expected["p"][j], rel=1e-9)
    wins = [bool(value <= 0.05) for value in expected["adjusted"].values()]
    assert result.winning_rate.value == pytest.approx(sum(wins) / 6)
    assert result.passes is (sum(wins) >= 3)
    assert result.advantage.value == pytest.approx(np.mean([rho_f for _, rho_f, _, _ in expected["figures"].values()]))


def test_by_hand() -> None:
    """Three annotators, four instances; the judge says met, met, not met, met.

    i1: h1 + h2 + h3 −   i2: h1 + h2 − (h3 none)   i3: h1 − h2 − h3 −   i4: h1 alone, so nobody to compare with.
    h1: i1 the others are +−: S(f) = S(h) = 1/2; i2: others −: both 0; i3: both 1. ρ_f = ρ_h = 1, d = 0.
    h2: i1 others +−: both 1/2; i2 others +: S(f) = 1, S(h) = 0; i3: both 1. ρ_f = 1, ρ_h = 2/3, d = −1/3.
    h3: i1 others ++: S(f) = 1, S(h) = 0; i3: both 1. ρ_f = 1, ρ_h = 1/2, d = −1/2.
    """
    labels = {
        "h1": {"i1": True, "i2": True, "i3": False, "i4": True},
        "h2": {"i1": True, "i2": False, "i3": False},
        "h3": {"i1": False, "i3": False},
    }
    result = run(labels, {"i1": 1, "i2": 1, "i3": 0, "i4": 1}, minimum=2)
    shares = [
        (
            annotator.n_instances,
            annotator.advantage.value,
            annotator.annotators_advantage.value,
            annotator.difference.value,
        )
        for annotator in result.annotators
    ]
    assert shares == [
        (3, 1, 1, 0),
        (3, 1, pytest.approx(2 / 3), pytest.approx(1 / 3)),
        (2, 1, 0.5, 0.5),
    ]
    # h1: all three d − 0.2 are −0.2, so that all signs must fall below: 1/8. h2: the same, −1.2 and two −0.2.
    assert [annotator.p.value for annotator in result.annotators] == [1 / 8, 1 / 8, 1 / 4]
    # Three of them: 1 + 1/2 + 1/3 = 11/6; 1/8 · 3 · 11/6 / 2 = 0.34375, 1/4 · 3 · 11/6 / 3 = 0.4583…
    assert [annotator.p_adjusted.value for annotator in result.annotators] == [
        pytest.approx(0.34375),
        pytest.approx(0.34375),
        pytest.approx(11 / 24),
    ]
    assert (result.winning_rate.value, result.passes) == (0, False)
    assert result.advantage == Estimate(1.0, 3)


def test_an_answer_that_is_not_there_agrees_with_nobody() -> None:
    labels = {"h1": {"i1": True}, "h2": {"i1": True}, "h3": {"i1": False}}
    result = run(labels, {"i1": -1}, minimum=2)
    # h1 and h2 share a label with one of the two others, h3 with none: there the judge is no worse.
    assert [annotator.advantage.value for annotator in result.annotators] == [0, 0, 1]
    assert [annotator.annotators_advantage.value for annotator in result.annotators] == [1, 1, 1]


def test_wilcoxon_counts_every_sign_exactly() -> None:
    rng = np.random.default_rng(2)
    for n, epsilon in itertools.product((3, 7, 11), (0.0, 0.2, 0.5)):
        d = rng.integers(-1, 2, n)
        values = d - epsilon
        kept = values[values != 0]
        if not len(kept):
            continue
        magnitudes = np.round(np.abs(kept), 9)
        ranks = [((magnitudes < magnitude).sum() + (magnitudes <= magnitude).sum() + 1) / 2 for magnitude in magnitudes]
        reached = sum(rank for rank, value in zip(ranks, kept, strict=True) if value > 0)
        below = sum(
            sum(rank for rank, up in zip(ranks, signs, strict=True) if up) <= reached + 1e-9
            for signs in itertools.product((0, 1), repeat=len(kept))
        )
        assert wilcoxon_below(values).value == pytest.approx(below / 2 ** len(kept), rel=1e-12)
    # Without ties SciPy counts them, too.
    values = np.array([0.3, -1.2, -0.7, 0.9, -2.5, -0.1, -3.3, -4.0, 0.05, -1.9])
    expected = wilcoxon(values, alternative="less", method="exact").pvalue
    assert wilcoxon_below(values).value == pytest.approx(expected, rel=1e-12)


def test_benjamini_and_yekutieli_as_in_scipy() -> None:
    p = [0.04, 0.001, 0.2, 0.011, 0.9, 0.011, 0.0]
    assert benjamini_yekutieli(p) == pytest.approx(false_discovery_control(p, method="by"), rel=1e-12)
    assert benjamini_yekutieli([]) == []


def test_cases_with_many_instances_do_not_count_as_many() -> None:
    labels, judge = drawn(7, annotators=4, instances=60, each=1.0, judge_noise=0.2)
    plain = run(labels, judge)
    # Every instance ten times over, each ten being a case: nothing new was seen.
    copies = {f"{i}-{n}": verdict for i, verdict in judge.items() for n in range(10)}
    many = run(
        {j: {f"{i}-{n}": label for i, label in own.items() for n in range(10)} for j, own in labels.items()},
        copies,
        case={name: name.split("-")[0] for name in copies},
    )
    for annotator, other in zip(plain.annotators, many.annotators, strict=True):
        assert other.p_clustered.value == pytest.approx(annotator.p.value, rel=1e-9)
        assert (other.n_instances, other.n_cases) == (600, 60)
    assert any(
        other.p.value < annotator.p.value / 10
        for annotator, other in zip(plain.annotators, many.annotators, strict=True)
    )  # the test of the paper believes the copies
    assert many.winning_rate_clustered == plain.winning_rate


def test_what_is_undefined() -> None:
    labels, judge = drawn(9, annotators=3, instances=40, each=1.0, judge_noise=0.1)
    two = run({j: labels[j] for j in ("h00", "h01")}, judge)
    assert two.winning_rate == Undefined("2 of the 3 tested annotators needed", 2) and two.passes is None
    short = run({**labels, "h03": {"i001": True}, "h04": {}}, judge)
    assert short.annotators[3].p == Undefined("not tested: 1 of the 10 instances needed", 1)
    assert short.annotators[4].advantage == Undefined("no instance that another annotator labelled", 0)
    assert short.winning_rate.n == 3  # who was not tested is no part of it
    one_case = run(labels, judge, case=dict.fromkeys(judge, "c"))
    assert one_case.annotators[0].p_clustered == Undefined("no test: 1 of the 10 cases needed", 1)
    assert one_case.winning_rate_clustered.note == "0 of the 3 tested annotators needed"
    alike = run(
        dict.fromkeys(("h00", "h01", "h02"), labels["h00"]), {i: int(label) for i, label in labels["h00"].items()}
    )
    assert alike.annotators[0].test == "wilcoxon" and alike.annotators[0].p.value == 0.5**40
    assert "sign test" in alike.annotators[0].p.note and alike.winning_rate.value == 1
    same = run(dict.fromkeys(labels, labels["h00"]), {i: int(label) for i, label in labels["h00"].items()}, epsilon=0)
    assert same.winning_rate == Undefined("0 of the 3 tested annotators needed", 0)
    assert same.advantage == Undefined("no annotator was tested: 10 instances are needed", 0)


def test_intervals_and_order() -> None:
    labels, judge = drawn(11, annotators=4, instances=80, each=0.8, judge_noise=0.2)
    result = run(labels, judge, rule=PercentileBootstrap(3))
    assert result.advantage.low is not None and result.advantage.low < result.advantage.value < result.advantage.high
    first = result.annotators[0].difference
    assert first.low is not None and first.low < first.value < first.high
    backwards = {j: dict(reversed(own.items())) for j, own in labels.items()}
    assert run(backwards, judge, rule=PercentileBootstrap(3)) == result


@pytest.mark.parametrize(("rate", "passes"), [(0.5, True), (0.49, False), (1.0, True)])
def test_half_of_the_annotators_are_enough(rate: float, passes: bool) -> None:
    undefined = Undefined("2 of the 3 tested annotators needed", 2)
    result = AlternativeAnnotator([], Estimate(rate, 100), undefined, undefined, epsilon=0.2, q=0.05, minimum=30)
    assert (result.passes, result.passes_clustered) == (passes, None)


def test_an_advantage_with_one_instance_a_case_has_the_mid_p_interval():
    # The judge differs from A and B, who agree, on 7 of 10 cases.
    labels = {name: {f"{i}": True for i in range(10)} for name in "AB"}
    result = run(labels, {f"{i}": int(i < 3) for i in range(10)}, rule=DEFAULT_RULE)
    advantage = result.annotators[0].advantage
    # 3 of 10, as published.
    assert (advantage.value, advantage.low, advantage.high) == pytest.approx((0.3, 0.082600, 0.619919), abs=5e-7)
