"""Grades of a refinement as a file: what is written reads back to the same, and a file with one fault is refused."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilium.core.csvfile import write_csv
from consilium.core.errors import ImportRefused
from consilium.statistics.outcomes import Outcome
from validation.refinement.grades import grades_file, read_grades
from validation.refinement.inputs import Graded, Grader, Refined, RefinementInputs

TEXTS = st.text("aé中 =-+@'\",;\n", min_size=1, max_size=12).filter(lambda text: text.strip() == text)
GRADERS = st.builds(
    Grader,
    label=st.sampled_from(["group:A", "run:x1", "jury:A+B"]),
    judges=st.sampled_from([(), (("A", "m"),), (("A", "m"), ("B", "")), (("=A", ""),)]),
    is_by_rules=st.booleans(),
)
CODES = st.sampled_from([None, *map(int, Outcome)])
CRITERION = st.tuples(TEXTS, st.integers(-10, 10).filter(bool), st.sampled_from(["", "accuracy"]), CODES, CODES)
ROW = {
    "arm": "A", "case": "c", "response": "r1", "criterion": "1", "points": "5", "axis": "", "text": "Names a doctor.",
    "outcome": "met", "rater": "run:x", "judge": "J", "judge_model": "m", "endpoint_kind": "model",
}  # fmt: skip


def inputs_of(grader: Grader, criteria: list[tuple[Any, ...]], *, kind: str = "model") -> RefinementInputs:
    """One case with its base and the text of the arm *A*."""
    text = Refined(0, "c", "base", "b1", "text", "r1", [], None, None)
    own = {
        place: Graded("c", words, points, axis, place + 1) for place, (words, points, axis, *_) in enumerate(criteria)
    }
    outcomes = {
        response: {place: row[3 + column] for place, row in enumerate(criteria) if row[3 + column] is not None}
        for column, response in enumerate(("b1", "r1"))
    }
    config: Any = SimpleNamespace(arms=[SimpleNamespace(name="A", rubric_set=None)], models=["m"])
    run: Any = SimpleNamespace(endpoint_kind=kind)
    return RefinementInputs(run, config, grader, [text], own, outcomes, {})


@pytest.mark.slow
@given(grader=GRADERS, criteria=st.lists(CRITERION, min_size=1, max_size=4), kind=st.sampled_from(["model", "rules"]))
def test_what_is_written_reads_back(grader: Grader, criteria: list[tuple[Any, ...]], kind: str) -> None:
    inputs = inputs_of(grader, criteria, kind=kind)
    table = grades_file(inputs)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grades.csv"
        write_csv(path, table.columns, table.rows, text_columns=table.text_columns)
        grades = read_grades(path)
    assert (grades.criteria, grades.outcomes) == (inputs.criteria, inputs.outcomes)
    assert grades.responses == {("A", "c"): "r1"}
    assert (grades.grader.label, grades.grader.judges) == (grader.label, grader.judges)
    # Rules that refined or graded are named in either case.
    assert grades.grader.is_by_rules == (grader.is_by_rules or kind == "rules") == (inputs.endpoint_kind == "rules")


def test_who_graded_own_texts_is_known_from_the_file() -> None:
    judges = (("A", "M"), ("B", "other"))
    assert inputs_of(Grader("jury:A+B", judges), []).refining_judges == ["A"]  # names of models ignore case


@pytest.mark.parametrize(
    ("second", "field"),
    [
        ({"outcome": "yes"}, "outcome"),
        ({"points": "0"}, "points"),
        ({"points": "5.0"}, "points"),
        ({"points": "²"}, "points"),
        ({"criterion": "one"}, "criterion"),
        ({"case": ""}, "case"),
        ({"response": ""}, "response"),
        ({"arm": "all"}, "arm"),
        ({"rater": "run:y", "criterion": "2"}, "rater"),
        ({"endpoint_kind": "person", "criterion": "2"}, "endpoint_kind"),
        ({"text": "Names nobody.", "response": "r2", "arm": ""}, "criterion"),
        ({}, "criterion"),
        ({"criterion": "2", "response": "r2"}, "response"),
    ],
)
def test_a_fault_is_named_with_its_line_and_field(tmp_path: Path, second: dict[str, str], field: str) -> None:
    path = tmp_path / "grades.csv"
    write(path, [ROW, {**ROW, **second}])
    with pytest.raises(ImportRefused) as refused:
        read_grades(path)
    assert {(fault.line, fault.field) for fault in refused.value.errors} == {(3, field)}


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    write(path, [{name: cell for name, cell in ROW.items() if name != "outcome"}])
    with pytest.raises(ImportRefused, match="outcome"):
        read_grades(path)


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
