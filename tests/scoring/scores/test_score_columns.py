"""Figures of a slice: each has the reason why it has no interval; a reason that several share appears once."""

from __future__ import annotations

import numpy as np

from consilium.statistics.bootstrap import CaseBootstrap
from consilium.statistics.outcomes import Outcome
from scoring.scores.grid import grid_of
from scoring.scores.points import DEFAULT_RULES
from scoring.scores.score_columns import Columns
from scoring.scores.sheet import OVERALL, Sheet, Slice


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


def row_of(n_criteria: list[int], k: int) -> dict[str, object]:
    score_sheet = sheet(n_criteria)
    grid = grid_of(score_sheet, [Slice(OVERALL)], DEFAULT_RULES)
    row = Columns(score_sheet, grid, k, CaseBootstrap(len(n_criteria), 1), "group").row(0, 0)
    assert row is not None
    return row


def test_a_figure_with_fewer_cases_than_the_others_says_so() -> None:
    # Twelve cases; three of them have two criteria only, so that CACS@3 rests on nine.
    row = row_of([2] * 3 + [4] * 9, 3)
    assert row["rubric_score_low"] is not None
    assert row["cacs_at_k_low"] is None
    assert row["note"] == (
        "cacs_at_k: no interval: 9 of the 10 cases needed; 3 responses with fewer than k positive criteria"
    )


def test_a_reason_that_all_figures_share_is_shown_once() -> None:
    assert row_of([4] * 5, 2)["note"] == "rubric_score: no interval: 5 of the 10 cases needed"
