"""Decisions of trials and pairs by hand; `tests/validation` has the figures, through the command."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc

from consilium.statistics.auroc import pooled_auroc, self_consistency
from consilium.statistics.estimate import Estimate, Undefined
from consilium.statistics.intervals import DEFAULT_RULE
from consilium.statistics.trials import (
    Decision,
    DecisionRule,
    PairFacts,
    Trials,
    pair_results,
    trial_decisions,
    trial_figures,
)

NAN = float("nan")
WIN, TIE, LOSS = Decision.WIN, Decision.TIE, Decision.LOSS


def trials(*rows: tuple[int, bool, float, float, Decision | None]) -> Trials:
    pair, first, reference, candidate, stated = (np.array(column) for column in zip(*rows, strict=True))
    return Trials(
        pair=pair,
        is_reference_first=first.astype(bool),
        reference=reference.astype(float),
        candidate=candidate.astype(float),
        stated=np.array([int(own or 0) for own in stated]),
        has_stated=np.array([own is not None for own in stated]),
        points=np.full(len(rows), 20.0),
    )


OWN = trials(
    (0, True, 5, 4, LOSS),
    (0, False, 5, 5, WIN),
    (1, True, 3, 9, TIE),
    (1, False, NAN, NAN, None),
    (1, False, 4, 1, None),
)


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (DecisionRule.SIGN, [WIN, TIE, LOSS, TIE, WIN]),
        (DecisionRule.MARGIN, [TIE, TIE, LOSS, TIE, WIN]),  # up to 0.1 of 20 points
        (DecisionRule.STATED, [LOSS, WIN, TIE, TIE, TIE]),
    ],
)
def test_decisions_of_trials(rule: DecisionRule, expected: list[Decision]) -> None:
    good = OWN.good(rule)
    assert good.tolist() == [True, True, True, False, rule is not DecisionRule.STATED]
    assert [own for own, is_good in zip(trial_decisions(OWN, rule, margin=0.1), good, strict=True) if is_good] == [
        own for own, is_good in zip(expected, good, strict=True) if is_good
    ]


def test_pairs() -> None:
    results = pair_results(OWN, DecisionRule.SIGN, n_pairs=3, n_due=2)
    assert results.is_decided.tolist() == [True, True, False]
    assert results.n_good.tolist() == [2, 2, 0]
    # A win and a tie, and a loss and a win: no answer leads, so both are ties.
    assert results.decision.tolist() == [TIE, TIE, TIE]
    assert results.delta[:2].tolist() == [0.5, -1.5]
    assert (results.apart_first[:2].tolist(), results.apart_second[:2].tolist()) == ([1, -6], [0, 3])
    assert (results.reference[:2].tolist(), results.candidate[:2].tolist()) == ([5, 3.5], [4.5, 5])
    assert np.isnan(results.delta[2])


def test_three_questions_have_three_auroc() -> None:
    assert pooled_auroc([3, 1], [2, 1]).value == 2.5 / 4  # 3 above both, 1 level with one
    assert self_consistency([True, False], [1, 2]).value == 0
    assert pooled_auroc([], []) == Undefined("no pair with a decision")
    assert self_consistency([True], [1]) == Undefined("all pairs are won, or none is", 1)
    assert self_consistency([], []) == Undefined("no pair with a decision")


@pytest.mark.parametrize("n", [5, 12, 30])
def test_a_mean_of_alike_differences_has_the_interval_of_the_number_of_cases(n: int) -> None:
    """The mean lies between ±Σ|points|, so its interval at the edge is that of a share one half, spread over these."""
    alike = trials(*((pair, first, 4, 4, None) for pair in range(n) for first in (True, False)))
    results = pair_results(alike, DecisionRule.SIGN, n_pairs=n, n_due=2)
    known = np.full(n, 9.0)
    facts = PairFacts(case=np.arange(n), n_cases=n, points=known, least=0 * known, greatest=known, span=9.0)
    (own,) = trial_figures(results, facts, member=np.ones((n, 1), dtype=bool), rule=DEFAULT_RULE)
    x = n / 2
    low = brentq(lambda p: (betainc(x, n - x + 1, p) + betainc(x + 1, n - x, p)) / 2 - 0.025, 1e-9, 0.5)
    assert isinstance(own.mean_delta, Estimate)
    assert own.mean_delta.value == 0
    assert (own.mean_delta.low, own.mean_delta.high) == pytest.approx((18 * low - 9, 9 - 18 * low))
    assert "all cases are alike" in own.mean_delta.note
    # One of twelve that differs is enough for an interval by the differences.
    if n == 12:
        apart = trials(*((pair, first, 4 + (pair == 0), 4, None) for pair in range(n) for first in (True, False)))
        results = pair_results(apart, DecisionRule.SIGN, n_pairs=n, n_due=2)
        (other,) = trial_figures(results, facts, member=np.ones((n, 1), dtype=bool), rule=DEFAULT_RULE)
        assert isinstance(other.mean_delta, Estimate)
        assert (own.mean_delta.high or 0) > 4 > 0.5 > (other.mean_delta.high or 0)
