"""Figures of a slice: each has the reason why it has no interval; a reason that several share appears once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from consilium.statistics.intervals import DEFAULT_RULE, IntervalRule, PercentileBootstrap
from consilium.statistics.outcomes import Outcome
from scoring.scores.grid import grid_of
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_columns import Columns
from scoring.scores.sheet import OVERALL, Sheet, Slice
from tests.statistics.by_hand import effective_number, logit_jackknife, ratio_ends

ALL = "rubric_score, rubric_accuracy, pass_at_k, cacs_at_k"


def sheet(n_criteria: list[int]) -> Sheet:
    """One candidate with one response to each case, of so many positive criteria, every second one met."""
    response = np.repeat(np.arange(len(n_criteria)), n_criteria)
    size, cases = len(response), np.arange(len(n_criteria))
    return Sheet(
        response=response,
        criterion=np.arange(size),
        points=np.ones(size, dtype=np.int64),
        answer=np.where(np.arange(size) % 5 != 0, int(Outcome.MET), int(Outcome.NOT_MET)),
        open=np.zeros(size, dtype=bool),
        criterion_ids=np.arange(size),
        response_ids=cases,
        response_case=cases,
        response_candidate=np.zeros(len(cases), dtype=np.int64),
        response_sample=np.zeros(len(cases), dtype=np.int64),
        case_ids=cases,
        candidate_ids=np.array([1]),
    )


def row_of(n_criteria: list[int], k: int, rule: IntervalRule = DEFAULT_RULE) -> dict[str, object]:
    score_sheet = sheet(n_criteria)
    grid = grid_of(score_sheet, [Slice(OVERALL)], DEFAULT_RULES)
    row = Columns(score_sheet, grid, k, "group", rule=rule, seed=1).row(0, 0)
    assert row is not None
    return row


def test_a_figure_with_fewer_cases_than_the_others_says_so() -> None:
    # Twelve cases; three of them have two criteria only, so that CACS@3 rests on nine.
    row = row_of([2] * 3 + [4] * 9, 3, PercentileBootstrap(1))
    assert row["rubric_score_low"] is not None
    assert row["cacs_at_k_low"] is None
    assert row["note"] == (
        "cacs_at_k: no interval: 9 of the 10 cases needed; 3 responses with fewer than k positive criteria"
    )


def test_effective_cases_are_those_of_each_figure() -> None:
    # Six cases; two have two criteria only, so that CACS@3 rests on four. Rubric Accuracy weighs cases by criteria.
    row = row_of([2] * 2 + [4] * 4, 3)
    assert row["rubric_score_effective"] == row["pass_at_k_effective"] == 6
    assert row["rubric_accuracy_effective"] == pytest.approx(effective_number([2, 2, 4, 4, 4, 4]))
    assert row["cacs_at_k_effective"] == 4
    assert row["rubric_accuracy_low"] is not None
    assert row["cacs_at_k_low"] is None
    assert row["note"] == (
        "cacs_at_k: no interval: 4.0 of the 5 effective cases needed; 2 responses with fewer than k positive criteria"
    )


def test_intervals_by_hand() -> None:
    # Of 25 criteria numbers 0, 5, 10, 15 and 20 are not met: cases of 3, 5, 2, 6, 4 and 5 meet 2, 4, 2, 4, 4 and 4.
    met, of = [2, 4, 2, 4, 4, 4], [3, 5, 2, 6, 4, 5]
    row = row_of(of, 1)
    low, high = ratio_ends(met, of)
    assert (row["rubric_accuracy_low"], row["rubric_accuracy_high"]) == pytest.approx((100 * low, 100 * high))
    low, high = ratio_ends([2 / 3, 4 / 5, 1, 4 / 6, 1, 4 / 5], [1] * 6)
    assert (row["rubric_score_low"], row["rubric_score_high"]) == pytest.approx((low, high))


def test_a_reason_that_all_figures_share_is_given_once_for_all_of_them() -> None:
    percentile = row_of([4] * 5, 2, PercentileBootstrap(1))
    assert percentile["note"] == f"{ALL}: no interval: 5 of the 10 cases needed"
    assert row_of([4] * 4, 2)["note"] == f"{ALL}: no interval: 4.0 of the 5 effective cases needed"


def scored_rubrics(rubrics: list[list[int]], met: list[list[int]]) -> dict[str, object]:
    """The row of one response to each case, by the points of its criteria, of which those with 1 in ``met`` are met."""
    plain = sheet([len(points) for points in rubrics])
    outcomes = np.array([outcome for case in met for outcome in case])
    score_sheet = replace(
        plain,
        points=np.array([points for case in rubrics for points in case]),
        answer=np.where(outcomes == 1, int(Outcome.MET), int(Outcome.NOT_MET)),
    )
    row = Columns(
        score_sheet, grid_of(score_sheet, [Slice(OVERALL)], DEFAULT_RULES), 1, "group", rule=DEFAULT_RULE, seed=1
    ).row(0, 0)
    assert row is not None
    return row


def test_the_score_lies_above_the_least_that_its_rubrics_allow() -> None:
    rubrics = [[2, 2, -1]] * 4 + [[3, -3]] * 2
    row = scored_rubrics(rubrics, [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 1, 1], [1, 1], [0, 0]])
    scores = [1, 2 / 4, 3 / 4, 1 / 4, 0, 0]
    least = (4 * -1 / 4 + 2 * -1) / 6
    without = [(sum(scores) - score) / 5 for score in scores]
    ends = logit_jackknife(without, sum(scores) / 6, [1] * 6, least, 1.0)
    assert row["rubric_score"] == pytest.approx(sum(scores) / 6)
    assert (row["rubric_score_low"], row["rubric_score_high"]) == pytest.approx((max(0, ends[0]), ends[1]))
    assert ends[0] < 0 and f"interval before clipping: {ends[0]:.6g} to {ends[1]:.6g}" in str(row["note"])


def test_a_score_below_zero_is_clipped_with_its_interval() -> None:
    row = scored_rubrics([[1, -5]] * 6, [[0, 1], [1, 1], [0, 1], [0, 1], [1, 1], [0, 0]])
    assert (row["rubric_score"], row["rubric_score_low"], row["rubric_score_high"]) == (0, 0, 0)
    scores = [-5, -4, -5, -5, -4, 0]
    without = [(sum(scores) - score) / 5 for score in scores]
    low, high = logit_jackknife(without, sum(scores) / 6, [1] * 6, -5.0, 1.0)
    assert f"clipped from -3.83333; rubric_score: interval before clipping: {low:.6g} to {high:.6g}" in str(row["note"])
