"""Trials on near-miss pairs: does a set of criteria tell a good response from one with a single dangerous error?

A pair is a reference and a candidate with one error. In a trial both are scored side by side, the reference first or
the candidate first; V is the total of a response. A trial without both totals is left out. For each pair, over its good
trials in both orders:

    Δ           mean of V(reference) - V(candidate)
    V           of a response, its mean
    decision    of a trial: win, tie or loss of the reference, by the sign of its difference; by the sign where the
                difference is above m·Σ|points| (margin), else a tie; or as stated. Of the pair: the answer that more
                trials gave than each of the others, else tie.

A pair with fewer good trials than are due, or none in one of the orders, has no decision and counts in no figure. Over
the pairs with a decision:

    win, tie, loss      shares of pairs
    μ                   mean Δ
    μ100                mean of 100·Δ / Σ|points|: sets with more points have larger Δ, so this alone compares sets
    AUROC               paired, pooled, self-consistency: see `auroc`
    position effect     mean of (Δ of trials with the reference first - Δ of those with it second)
    same sign           share of pairs whose Δ has the same sign in both orders; 0 in both is the same

Pooled takes V of each case scaled to (V - least)/(greatest - least) of what the set can give, and raw totals where
that is not known. Totals that differ by rounding alone are the same.

Undefined: no pair with a decision; μ100, a pair whose points are not known; self-consistency, all or none of the pairs
won. The bounds of μ are ± the mean of Σ|points|; where that is not known, ± the range of all totals of the set.

Source: Chen et al. 2026, whose text and code compute two of the three AUROC.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilium.core.reasons import Reason
from consilium.statistics.auroc import paired_auroc, pooled_auroc, self_consistency
from consilium.statistics.case_figures import CaseFigures, case_ratio, sums_by_case_and_slice
from consilium.statistics.estimate import ROUNDING, Figure, Undefined, with_note
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.ratios import estimated, ratio_figures

Array = NDArray[np.float64]
NO_DECIDED_PAIR = Reason.NO_DECIDED_PAIR()
MARGIN = 0.02


class Decision(IntEnum):
    """Of the reference against the candidate."""

    LOSS = -1
    TIE = 0
    WIN = 1


class DecisionRule(StrEnum):
    """How a trial is decided."""

    SIGN = "sign"
    MARGIN = "margin"
    STATED = "stated"


@dataclass(frozen=True, eq=False)
class Trials:
    """One entry for each trial of a set, sorted by pair, order and number.

    ``reference`` and ``candidate`` are totals, NaN in both where the trial has none. ``stated`` holds decisions, and
    ``has_stated`` says where there is one. ``points`` is Σ|points| of the set for the case, NaN where not known.
    """

    pair: NDArray[np.int64]
    is_reference_first: NDArray[np.bool_]
    reference: Array
    candidate: Array
    stated: NDArray[np.int64]
    has_stated: NDArray[np.bool_]
    points: Array

    def good(self, rule: DecisionRule) -> NDArray[np.bool_]:
        """Which trials count: those with both totals and, where the stated decision counts, with that."""
        has_totals = ~np.isnan(self.reference) & ~np.isnan(self.candidate)
        return has_totals & self.has_stated if rule is DecisionRule.STATED else has_totals


@dataclass(frozen=True, eq=False)
class PairResults:
    """One entry for each pair; NaN, and a tie, where it has no decision.

    ``apart_first`` and ``apart_second`` are Δ of the trials with the reference first, and second; ``n_good`` counts the
    good trials.
    """

    is_decided: NDArray[np.bool_]
    decision: NDArray[np.int64]
    delta: Array
    apart_first: Array
    apart_second: Array
    reference: Array
    candidate: Array
    n_good: NDArray[np.int64]

    def of_pairs(self, chosen: ArrayLike) -> PairResults:
        """The results of some pairs, by their numbers or by a mask."""
        where = np.asarray(chosen)
        return PairResults(**{name: getattr(self, name)[where] for name in self.__dataclass_fields__})


@dataclass(frozen=True)
class TrialFigures:
    """The figures of a set in one slice; n of each is the number of pairs with a decision, ``n_pairs``."""

    n_pairs: int
    win: Figure
    tie: Figure
    loss: Figure
    mean_delta: Figure
    mean_delta_100: Figure
    auroc_paired: Figure
    auroc_pooled: Figure
    auroc_self: Figure
    position_effect: Figure
    order_consistent: Figure


def trial_decisions(trials: Trials, rule: DecisionRule, *, margin: float = MARGIN) -> NDArray[np.int64]:
    """The decision of each trial; what it is of a trial that is not good means nothing."""
    if rule is DecisionRule.STATED:
        return trials.stated
    apart = np.nan_to_num(trials.reference - trials.candidate)
    size = np.maximum(np.maximum(np.abs(trials.reference), np.abs(trials.candidate)), 1.0)
    slack = ROUNDING * np.nan_to_num(size, nan=1.0)
    limit = slack + margin * trials.points if rule is DecisionRule.MARGIN else slack
    return np.where(np.abs(apart) <= limit, 0, np.sign(apart)).astype(np.int64)


def pair_results(
    trials: Trials, rule: DecisionRule, *, n_pairs: int, n_due: ArrayLike, margin: float = MARGIN
) -> PairResults:
    """What each pair comes to; ``n_due`` is the number of trials that a pair needs, one for all or for each."""
    good = trials.good(rule)
    pair, first = trials.pair[good], trials.is_reference_first[good]
    reference, candidate = trials.reference[good], trials.candidate[good]

    def count(of: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(pair[of], minlength=n_pairs)

    def mean(values: Array, of: NDArray[np.bool_]) -> Array:
        sums, n = np.bincount(pair[of], weights=values[of], minlength=n_pairs), count(of)
        return np.divide(sums, n, out=np.full(n_pairs, np.nan), where=is_decided & (n > 0))

    every = np.ones(len(pair), dtype=bool)
    n_good = count(every)
    is_decided = (n_good >= np.asarray(n_due)) & (count(first) > 0) & (count(~first) > 0)
    decisions = trial_decisions(trials, rule, margin=margin)[good]
    votes = np.stack([count(decisions == int(decision)) for decision in Decision])
    leads = (votes == votes.max(axis=0)).sum(axis=0) == 1
    decided = np.where(leads & is_decided, votes.argmax(axis=0) + int(Decision.LOSS), int(Decision.TIE))
    apart = reference - candidate
    return PairResults(
        is_decided=is_decided,
        decision=decided.astype(np.int64),
        delta=_without_rounding(mean(apart, every), mean(np.abs(reference), every)),
        apart_first=_without_rounding(mean(apart, first), mean(np.abs(reference), first)),
        apart_second=_without_rounding(mean(apart, ~first), mean(np.abs(reference), ~first)),
        reference=mean(reference, every),
        candidate=mean(candidate, every),
        n_good=n_good,
    )


def _without_rounding(apart: Array, size: Array) -> Array:
    """Differences, 0 where rounding alone made them."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(apart) <= ROUNDING * np.maximum(size, 1.0), 0.0, apart)


@dataclass(frozen=True, eq=False)
class PairFacts:
    """What is known of each pair: its case, by number, and Σ|points|, the least and the greatest total of the set for
    that case, NaN where not known. ``span`` is the range of all totals of the set.
    """

    case: NDArray[np.int64]
    n_cases: int
    points: Array
    least: Array
    greatest: Array
    span: float

    def of_pairs(self, chosen: ArrayLike) -> PairFacts:
        """The facts of some pairs, by their numbers or by a mask."""
        where = np.asarray(chosen)
        columns = {name: getattr(self, name)[where] for name in ("case", "points", "least", "greatest")}
        return replace(self, **columns)


@dataclass(frozen=True, eq=False)
class TrialShares:
    """What a set's figures over cases are made of, each for every slice; all pairs have a decision."""

    win: CaseFigures
    mean_delta: CaseFigures
    mean_delta_100: CaseFigures
    auroc_paired: CaseFigures

    @classmethod
    def of(cls, results: PairResults, facts: PairFacts, member: NDArray[np.bool_]) -> TrialShares:
        """``member`` (pairs, slices) says which pair is in which slice. μ100 is NaN where points are not known."""

        def sums(values: ArrayLike) -> Array:
            return sums_by_case_and_slice(values, facts.case, facts.n_cases, member)

        pairs = sums(np.ones(len(facts.case)))
        ends = _mean_bounds(facts, member)
        return cls(
            win=case_ratio(sums(results.decision == int(Decision.WIN)), pairs, trials=True),
            mean_delta=case_ratio(sums(results.delta), pairs, bounds=(-ends, ends)),
            mean_delta_100=case_ratio(sums(100 * results.delta / facts.points), pairs, bounds=(-100.0, 100.0)),
            auroc_paired=paired_auroc(sums(np.sign(results.delta)), pairs),
        )


def _mean_bounds(facts: PairFacts, member: NDArray[np.bool_]) -> Array:
    """The greatest mean Δ that the set can give in each slice, (slices,)."""
    if np.isnan(facts.points).any():
        return np.full(member.shape[1], facts.span or 1.0)
    n = member.sum(axis=0)
    return np.where(n > 0, facts.points @ member / np.maximum(n, 1), 1.0)


def trial_figures(
    results: PairResults, facts: PairFacts, *, member: NDArray[np.bool_], rule: IntervalRule
) -> list[TrialFigures]:
    """The figures of a set in each slice, over the pairs with a decision; arguments are of all pairs."""
    decided = np.flatnonzero(results.is_decided)
    results, facts, member = results.of_pairs(decided), facts.of_pairs(decided), member[decided]
    shares = TrialShares.of(results, facts, member)

    def mean(values: ArrayLike) -> list[Figure]:
        above = sums_by_case_and_slice(values, facts.case, facts.n_cases, member)
        return ratio_figures(above, pairs, empty=NO_DECIDED_PAIR, bounds=(-np.inf, np.inf))

    pairs = sums_by_case_and_slice(np.ones(len(decided)), facts.case, facts.n_cases, member)
    n = member.sum(axis=0)
    with_interval = {
        name: estimated(getattr(shares, name), n=n, rule=rule, empty=NO_DECIDED_PAIR)
        for name in ("win", "mean_delta", "auroc_paired")
    }
    without = {
        "tie": mean(results.decision == int(Decision.TIE)),
        "loss": mean(results.decision == int(Decision.LOSS)),
        "position_effect": mean(results.apart_first - results.apart_second),
        "order_consistent": mean(np.sign(results.apart_first) == np.sign(results.apart_second)),
    }
    rows = []
    for i, own in enumerate(member.T):
        own_results, own_facts = results.of_pairs(own), facts.of_pairs(own)
        rows.append(
            TrialFigures(
                n_pairs=int(n[i]),
                **{name: figures[i] for name, figures in (with_interval | without).items()},
                mean_delta_100=_mean_delta_100(own_results, own_facts),
                auroc_pooled=_pooled(own_results, own_facts),
                auroc_self=self_consistency(own_results.decision == int(Decision.WIN), own_results.delta),
            )
        )
    return rows


def _mean_delta_100(results: PairResults, facts: PairFacts) -> Figure:
    n = len(facts.points)
    if n and np.isnan(facts.points).any():
        return Undefined(Reason.PAIRS_WITHOUT_POINTS(), n)
    ones = np.ones((n, 1))
    scaled = (100 * results.delta / facts.points)[:, None]
    return ratio_figures(scaled, ones, empty=NO_DECIDED_PAIR, bounds=(-100.0, 100.0))[0]


def _pooled(results: PairResults, facts: PairFacts) -> Figure:
    if np.isnan(facts.least).any() or np.isnan(facts.greatest).any():
        return with_note(pooled_auroc(results.reference, results.candidate), Reason.ON_RAW_TOTALS())
    width = facts.greatest - facts.least
    return pooled_auroc(*((total - facts.least) / width for total in (results.reference, results.candidate)))
