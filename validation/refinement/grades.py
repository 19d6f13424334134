"""Grades of a run of refinement as a file, by which its figures come out elsewhere, where nobody has graded it. Pure.

A row is a criterion and a response: a base, which has no arm, or the refined text of an arm. It says who graded, and by
which models, so that figures from the file carry the same warnings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from consilium.core.limits import MAX_KEY_LENGTH
from consilium.core.out_folder import OutTable
from consilium.core.phrases import Phrase
from consilium.statistics.outcomes import Outcome
from rubrics.parsing.fields import Fields
from scoring.models import EndpointKind
from validation.files.table_rows import TableRows, name_in, set_name_in, whole_number_in
from validation.refinement.inputs import Graded, Grader, RefinementInputs

GRADE_COLUMNS = (
    *("arm", "case", "response", "criterion", "points", "axis", "text", "outcome"),
    *("rater", "judge", "judge_model", "endpoint_kind"),
)
TEXT_COLUMNS = (*GRADE_COLUMNS[:3], *GRADE_COLUMNS[5:])
OUTCOMES = {outcome.word: outcome for outcome in Outcome}
JOINT = "; "  # between the judges of a jury
MAX_POINTS = 1000


@dataclass
class Grades:
    """The grades of a file, in the form of `RefinementInputs`.

    ``responses``: the public id of the refined response of an arm to a case.
    """

    grader: Grader = field(default_factory=lambda: Grader(""))
    criteria: dict[int, Graded] = field(default_factory=dict)
    outcomes: dict[str, dict[int, int]] = field(default_factory=dict)
    responses: dict[tuple[str, str], str] = field(default_factory=dict)


def grades_file(inputs: RefinementInputs) -> OutTable:
    """Every grading criterion of every graded response, with an empty outcome where nobody judged it."""
    return OutTable("refinement_grades", GRADE_COLUMNS, list(_grade_rows(inputs)), TEXT_COLUMNS)


def _grade_rows(inputs: RefinementInputs) -> Iterator[dict[str, Any]]:
    words = {int(outcome): outcome.word for outcome in Outcome}
    by_case: dict[str, list[int]] = {}
    for criterion in sorted(inputs.criteria, key=lambda pk: inputs.criteria[pk].position):
        by_case.setdefault(inputs.criteria[criterion].case, []).append(criterion)
    grader = {
        "rater": inputs.grader.label,
        "judge": JOINT.join(name for name, _model in inputs.grader.judges),
        "judge_model": JOINT.join(model for _name, model in inputs.grader.judges),
        "endpoint_kind": inputs.endpoint_kind,
    }
    bases = {text.base_id: ("", text.case, text.base_id) for text in inputs.texts}
    refined = [(inputs.names[text.arm], text.case, text.response) for text in inputs.texts if text.response]
    for arm, case, response in (*bases.values(), *refined):
        outcomes = inputs.outcomes.get(response, {})
        for criterion in by_case.get(case, []):
            own = inputs.criteria[criterion]
            yield {
                "arm": arm,
                "case": case,
                "response": response,
                "criterion": own.position,
                "points": own.points,
                "axis": own.axis,
                "text": own.text,
                "outcome": words[outcomes[criterion]] if criterion in outcomes else "",
                **grader,
            }


def read_grades(path: Path) -> Grades:
    """Read a file whole, or raise `ImportRefused` with its faults."""
    table, grades = TableRows(path, GRADE_COLUMNS), Grades()
    places: dict[tuple[str, int], int] = {}
    for fields in table:
        _read(fields, grades, places)
    return grades


def _read(fields: Fields, grades: Grades, places: dict[tuple[str, int], int]) -> None:
    arm = set_name_in(fields, "arm") if fields.text("arm", required=False) else ""
    case, response = name_in(fields, "case"), fields.text("response", longest=MAX_KEY_LENGTH)
    outcome = fields.choice("outcome", OUTCOMES, required=False)
    criterion = Graded(
        case,
        fields.text("text"),
        _points(fields),
        fields.text("axis", required=False, longest=MAX_KEY_LENGTH),
        whole_number_in(fields, "criterion"),
    )
    grader = _grader(fields)
    if not fields.sound:
        return  # the file is refused once all of its rows were read
    number = places.setdefault((case, criterion.position), len(places))
    if grades.criteria.setdefault(number, criterion) != criterion:
        fields.fault("criterion", Phrase("This criterion has a different text, axis or points in an earlier row."))
    if grades.outcomes and grades.grader != grader:
        fields.fault("rater", Phrase("All rows of a file must be by the same rater."))
    own = grades.outcomes.setdefault(response, {})
    if number in own:
        fields.fault("criterion", Phrase("This response already has this criterion in an earlier row."))
    if arm and grades.responses.setdefault((arm, case), response) != response:
        fields.fault("response", Phrase("This arm has a different response to this case in an earlier row."))
    grades.grader = grader
    if outcome:
        own[number] = int(OUTCOMES[outcome])


def _grader(fields: Fields) -> Grader:
    rater = fields.text("rater")
    names, models = (fields.text(name, required=False) for name in ("judge", "judge_model"))
    judges = list(zip(names.split(JOINT), models.split(JOINT), strict=False)) if names else []
    kind = fields.choice("endpoint_kind", [str(own) for own in EndpointKind], required=False)
    return Grader(rater, tuple(judges), kind == EndpointKind.RULES)


def _points(fields: Fields) -> int:
    text = fields.text("points").strip()
    number = int(text) if text.removeprefix("-").isdecimal() and len(text) < 6 else 0
    if not 0 < abs(number) <= MAX_POINTS:
        fields.fault("points", Phrase("“%(value)s” is not a valid number of points.", value=text[:40]))
    return number
