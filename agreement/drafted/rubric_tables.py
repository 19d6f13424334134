"""Figures of the rubrics that suggestions went into, and of the time of their authors and reviewers. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from agreement.drafted.inputs import DecidedSuggestion, DraftedCase, DraftedInputs
from agreement.drafted.slices import ALL, few_cases, kind_of_rows
from consilium.core.phrases import joined
from consilium.core.reasons import Reason
from consilium.statistics.estimate import Figure, Undefined, each_note_of, with_note
from consilium.statistics.intervals import IntervalRule
from consilium.statistics.median import median_figure
from consilium.statistics.ratios import ratio_figures
from drafting.models import RejectionReason

Row = dict[str, Any]
RUBRIC_COLUMNS = (
    *("slice", "n_cases", "n_criteria", "n_from_suggestions", "share_of_rubric", "share_of_rubric_low"),
    *("share_of_rubric_high", "n_points", "n_missed", "missed", "missed_low", "missed_high"),
    *("n_timed", "author_minutes", "author_minutes_low", "author_minutes_high"),
    *("n_reviewed", "reviewer_minutes", "reviewer_minutes_low", "reviewer_minutes_high"),
    *(
        "n_lists",
        "own_criteria",
        "own_criteria_low",
        "own_criteria_high",
        "n_added",
        "n_double",
        "endpoint_kind",
        "note",
    ),
)
CASE_COLUMNS = (
    *("case", "version", "n_criteria", "n_from_suggestions", "n_decided", "n_accepted", "n_edited", "n_rejected"),
    *("n_points", "n_missed", "author_minutes", "reviewer_minutes", "n_lists", "own_criteria", "endpoint_kind"),
)


@dataclass(frozen=True)
class Missed:
    """What a run of coverage says: of each case its gold points, those not covered in full, those without an answer."""

    points: Mapping[str, int]
    missed: Mapping[str, int]
    unanswered: Mapping[str, int]

    def as_json(self) -> list[dict[str, int]]:
        """For a digest."""
        return [dict(self.points), dict(self.missed), dict(self.unanswered)]


def rubric_rows(inputs: DraftedInputs, *, rule: IntervalRule, missed: Missed | None) -> list[Row]:
    """`RUBRIC_COLUMNS` of all cases, and of those with decided suggestions of each recipe."""
    recipes = sorted({recipe for own in inputs.recipes_of.values() for recipe in own})
    slices: dict[str, set[str] | None] = {ALL: None, **{f"recipe:{recipe}": {recipe} for recipe in recipes}}
    return [_rubric_row(inputs, name, recipe, rule, missed) for name, recipe in slices.items()]


def _rubric_row(
    inputs: DraftedInputs, name: str, recipe: set[str] | None, rule: IntervalRule, missed: Missed | None
) -> Row:
    cases = [row for row in inputs.cases if recipe is None or recipe & inputs.recipes_of[row.case]]
    rows = [row for row in inputs.suggestions if recipe is None or row.recipe in recipe]
    listed = {row.case for row in cases if row.own_criteria}
    figures: dict[str, Figure] = {
        "share_of_rubric": _share(
            [_from_suggestions(row, rows) if recipe else row.n_from_suggestions for row in cases],
            [row.n_criteria for row in cases],
            rule,
            Reason.NO_PUBLISHED_CRITERION(),
        ),
        "missed": _missed(cases, rule, missed),
        "author_minutes": _minutes([row.author_seconds for row in cases]),
        "reviewer_minutes": _minutes([row.reviewer_seconds for row in cases]),
        "own_criteria": median_figure(
            [float(n) for row in cases for n in row.own_criteria], empty=Reason.NO_OWN_LIST()
        ),
    }
    return {
        "slice": name,
        "n_cases": len(cases),
        "n_criteria": sum(row.n_criteria for row in cases),
        "n_from_suggestions": sum(_from_suggestions(row, rows) if recipe else row.n_from_suggestions for row in cases),
        "n_points": sum(missed.points.get(row.case, 0) for row in cases) if missed else None,
        "n_missed": sum(missed.missed.get(row.case, 0) for row in cases) if missed else None,
        "n_timed": sum(row.author_seconds is not None for row in cases),
        "n_reviewed": sum(row.reviewer_seconds is not None for row in cases),
        "n_lists": sum(len(row.own_criteria) for row in cases),
        "n_added": sum(row.is_taken and row.case in listed for row in rows),
        "n_double": sum(row.reason == RejectionReason.DOUBLE and row.case in listed for row in rows),
        **{
            f"{column}{end}": value
            for column, figure in figures.items()
            for end, value in (("", figure.value), ("_low", figure.low), ("_high", figure.high))
        },
        "endpoint_kind": kind_of_rows(rows),
        "note": joined(each_note_of(figures), few_cases(len(cases))),
    }


def _from_suggestions(case: DraftedCase, rows: Collection[DecidedSuggestion]) -> int:
    """The suggestions among ``rows`` that stand in the rubric of a case."""
    return sum(row.stands for row in rows if row.case == case.case)


def _share(above: list[int], below: list[int], rule: IntervalRule, empty: str) -> Figure:
    columns = [np.array(own, dtype=np.float64).reshape(-1, 1) for own in (above, below)]
    (figure,) = ratio_figures(*columns, rule=rule, empty=empty)
    return figure


def _missed(cases: Collection[DraftedCase], rule: IntervalRule, missed: Missed | None) -> Figure:
    if missed is None:
        return Undefined(Reason.NO_COVERAGE_NAMED())
    below = [missed.points.get(row.case, 0) for row in cases]
    figure = _share([missed.missed.get(row.case, 0) for row in cases], below, rule, Reason.NO_POINT_OF_CASES())
    unanswered = sum(missed.unanswered.get(row.case, 0) for row in cases)
    return with_note(figure, Reason.ANSWERS_NOT_VALID.counted(unanswered))


def _minutes(seconds: Collection[int | None]) -> Figure:
    """The median over cases, with an interval from order statistics."""
    return median_figure([own / 60 for own in seconds if own is not None], empty=Reason.NO_TIME_RECORDED())


def case_rows(inputs: DraftedInputs, missed: Missed | None) -> Iterator[Row]:
    """`CASE_COLUMNS` of each case; ``own_criteria`` are the longest list of an author's own."""
    for case in inputs.cases:
        rows = [row for row in inputs.suggestions if row.case == case.case]
        minutes = {
            "author_minutes": case.author_seconds,
            "reviewer_minutes": case.reviewer_seconds,
        }
        yield {
            "case": case.case,
            "version": case.version,
            "n_criteria": case.n_criteria,
            "n_from_suggestions": case.n_from_suggestions,
            "n_decided": len(rows),
            "n_accepted": sum(row.state == "accepted" for row in rows),
            "n_edited": sum(row.state == "edited" for row in rows),
            "n_rejected": sum(not row.is_taken for row in rows),
            "n_points": missed.points.get(case.case) if missed else None,
            "n_missed": missed.missed.get(case.case) if missed else None,
            **{name: None if own is None else own / 60 for name, own in minutes.items()},
            "n_lists": len(case.own_criteria),
            "own_criteria": max(case.own_criteria, default=None),
            "endpoint_kind": kind_of_rows(rows),
        }
