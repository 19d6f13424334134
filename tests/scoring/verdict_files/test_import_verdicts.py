"""Verdicts made elsewhere: rows, and HealthBench's graded responses. Other shapes have tests of their own."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from rubrics.models import Benchmark, Case, Response, Rubric, RubricItem
from scoring.models import Judge, JudgeRun, Verdict
from scoring.selectors.raters import resolve_rater
from tests.factories import CaseFactory, JudgeFactory, ResponseFactory
from tests.scoring.verdict_files.verdict_lists import Row, load, put_lines, refused

# Shape (a): a row a verdict ---------------------------------------------------------------------------------------


@pytest.fixture
def rows(answered: Benchmark) -> list[Row]:
    """All verdicts on alpha: first criterion met, second not, third invalid."""
    return [
        {"case": f"case-{case}", "candidate": "alpha", "sample": 0, "criterion": position, "outcome": outcome}
        for case in range(4)
        for position, outcome in enumerate(["met", "not_met", "invalid"], start=1)
    ]


def test_rows_become_a_finished_run(answered: Benchmark, rows: list[Row], tmp_path: Path) -> None:
    rows[0]["explanation"] = "Says so."
    rows[1]["criterion"] = "Criterion 2 of case-0"  # the exact text
    output = load(put_lines(tmp_path / "v.jsonl", rows), "answered")
    assert "verdicts: 12 created, 0 unchanged" in output
    assert "4 verdicts are invalid" in output
    run = JudgeRun.objects.get()
    assert (run.status, run.imported, run.expected, run.judge.kind) == ("finished", True, 12, "imported")
    assert Counter(Verdict.objects.values_list("outcome", flat=True)) == {"met": 4, "not_met": 4, "invalid": 4}
    first = Verdict.objects.get(explanation="Says so.")
    item = RubricItem.objects.get(criterion=first.criterion, rubric__status="published")
    assert (item.position, first.outcome) == (1, "met")
    assert len(resolve_rater(answered, "elsewhere").ratings()) == 12


@pytest.mark.slow
def test_a_second_time_changes_nothing_and_other_verdicts_are_another_run(
    answered: Benchmark, rows: list[Row], tmp_path: Path
) -> None:
    load(put_lines(tmp_path / "v.jsonl", rows), "answered")
    again = load(put_lines(tmp_path / "v.jsonl", rows[::-1]), "answered")
    assert "runs: 0 created, 1 unchanged" in again
    assert "verdicts: 0 created, 12 unchanged" in again
    assert (JudgeRun.objects.count(), Verdict.objects.count()) == (1, 12)
    rows[0]["outcome"] = "not_met"
    load(put_lines(tmp_path / "v.jsonl", rows), "answered")
    assert (JudgeRun.objects.count(), Judge.objects.count()) == (2, 1)
    newest = resolve_rater(answered, "elsewhere").ratings()
    assert Counter(newest.outcome.tolist())[1] == 3


def test_csv_and_booleans_and_a_candidate_from_outside(answered: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    text = "case,criterion,criteria_met,model\ncase-0,1,true,\ncase-0,2,false,alpha\n"  # the option decides
    path.write_text(text, encoding="utf-8")
    output = load(path, "answered", candidate="beta")
    assert "verdicts: 2 created" in output
    assert "1 criterion of these responses has no verdict" in output
    assert set(Verdict.objects.values_list("response__candidate__name", "outcome")) == {
        ("beta", "met"),
        ("beta", "not_met"),
    }


def test_broken_rows_import_nothing_and_are_all_named(answered: Benchmark, rows: list[Row], tmp_path: Path) -> None:
    rows[1]["outcome"] = "maybe"
    rows[2]["criterion"] = 4
    rows[3]["case"] = "case-9"
    rows[4]["candidate"] = "gamma"
    rows[6] = {**rows[5]}
    rows[7] = {"case": "case-2", "candidate": "alpha", "criterion": 2, "criteria_met": "yes"}
    rows[8]["outcome"] = "cannot_assess"  # physicians may; a judge may not
    errors = refused(put_lines(tmp_path / "v.jsonl", rows), "answered")
    for line, field in (
        (2, "outcome"),
        (3, "criterion"),
        (4, "case"),
        (5, "candidate"),
        (7, "criterion"),
        (8, "criteria_met"),
        (9, "outcome"),
    ):
        assert f"line {line}, {field}:" in errors
    assert not JudgeRun.objects.exists()
    assert not Judge.objects.exists()


def test_a_text_that_occurs_twice_needs_its_position(answered: Benchmark, tmp_path: Path) -> None:
    case = CaseFactory(benchmark=answered, key="twins", rubric=[1, 1], rubric__texts=["Same.", "Same."])
    ResponseFactory(case=case, candidate=answered.candidates.get(name="alpha"))
    row = {"case": "twins", "candidate": "alpha", "criterion": "Same.", "outcome": "met"}
    assert "appears twice" in refused(put_lines(tmp_path / "v.jsonl", [row]), "answered")
    load(put_lines(tmp_path / "v.jsonl", [{**row, "criterion": 2}]), "answered")
    assert Verdict.objects.get().criterion.items.get().position == 2


def test_the_name_of_a_judge_that_runs_here_is_taken(answered: Benchmark, rows: list[Row], tmp_path: Path) -> None:
    JudgeFactory(benchmark=answered, name="elsewhere")
    path = put_lines(tmp_path / "v.jsonl", rows)
    with pytest.raises(CommandError, match="another kind"):
        load(path, "answered")
    with pytest.raises(CommandError, match="1 to 100 characters"):
        load(path, "answered", judge="a+b")


# Shape (b): graded responses --------------------------------------------------------------------------------------


def graded(key: str, completion: str, met: list[Any], points: list[int] | None = None, **more: Any) -> Row:
    """A row as HealthBench's runs write them, with its own score."""
    points = points or [5, 3, -4]
    rubrics = [
        {
            "criterion": f"Criterion {i} of {key}",
            "points": p,
            "tags": ["axis:accuracy" if i < 3 else "axis:completeness"],
        }
        for i, p in enumerate(points, start=1)
    ]
    reached = sum(p for p, is_met in zip(points, met, strict=True) if is_met is True)
    return {
        "score": reached / sum(p for p in points if p > 0),
        "prompt_id": key,
        "rubrics": rubrics,
        "example_tags": ["theme:hedging"],
        "prompt_response": [
            {"role": "user", "content": f"I feel dizzy ({key})."},
            {"role": "assistant", "content": completion},
        ],
        "responses": [
            {
                "response_dict": {"explanation": f"Because {i}.", "criteria_met": is_met},
                "points": rubric["points"],
                "tags": rubric["tags"],
            }
            for i, (is_met, rubric) in enumerate(zip(met, rubrics, strict=True), start=1)
        ],
        **more,
    }


def test_graded_responses_make_what_is_missing(db: None, tmp_path: Path) -> None:
    rows = [
        graded("p-1", "Sit down.", [True, False, True]),
        graded("p-2", "Drink.", [True, True, False]),
        graded("p-1", "Lie down.", [False, False, False]),
    ]
    path = put_lines(tmp_path / "b.jsonl", rows)
    output = load(path, "fresh", candidate="omega")
    assert "cases: 2 created" in output
    assert "responses: 3 created" in output
    assert "verdicts: 9 created" in output
    assert list(Response.objects.order_by("case__key", "sample").values_list("case__key", "sample", "text")) == [
        ("p-1", 0, "Sit down."),
        ("p-1", 1, "Lie down."),
        ("p-2", 0, "Drink."),
    ]
    case = Case.objects.get(key="p-1")
    assert case.conversation == [{"role": "user", "content": "I feel dizzy (p-1)."}]
    assert case.tags == ["theme:hedging"]
    assert Rubric.objects.filter(status="published").count() == 2
    outcomes = Verdict.objects.filter(response__text="Sit down.").order_by("criterion__items__position")
    assert list(outcomes.values_list("outcome", flat=True)) == ["met", "not_met", "met"]
    again = load(path, "fresh", candidate="omega")
    assert "cases: 0 created, 2 unchanged" in again
    assert "verdicts: 0 created, 9 unchanged" in again
    assert JudgeRun.objects.count() == 1


def test_scores_of_a_run_made_elsewhere_are_those_it_carries(db: None, tmp_path: Path) -> None:
    rows = [graded(f"p-{n}", f"Answer {n}.", [bool(n & 1), bool(n & 2), bool(n & 4)], [7, 3, -9]) for n in range(8)]
    load(put_lines(tmp_path / "b.jsonl", rows), "fresh", candidate="omega")
    call_command("scores", benchmark="fresh", rater="elsewhere", k=1, out=tmp_path, stdout=StringIO())
    import csv

    with (tmp_path / "responses.csv").open(encoding="utf-8") as file:
        ours = {row["case"]: float(row["rubric_score"]) for row in csv.DictReader(file)}
    for row in rows:
        assert ours[row["prompt_id"]] == pytest.approx(row["score"], abs=1e-9)
    with (tmp_path / "scores.csv").open(encoding="utf-8") as file:
        overall = next(row for row in csv.DictReader(file) if row["slice"] == "overall_score")
    mean = sum(row["score"] for row in rows) / len(rows)
    assert float(overall["rubric_score"]) == pytest.approx(min(1, max(0, mean)), abs=1e-9)


def test_grades_follow_the_rows_own_order_of_criteria(answered: Benchmark, tmp_path: Path) -> None:
    row = graded("case-0", "New answer.", [True, False, True])
    row["rubrics"] = row["rubrics"][::-1]
    row["responses"] = row["responses"][::-1]
    load(put_lines(tmp_path / "b.jsonl", [row]), "answered", candidate="omega")
    outcomes = Verdict.objects.order_by("criterion__items__position").values_list("outcome", flat=True)
    assert list(outcomes) == ["met", "not_met", "met"]


@pytest.mark.parametrize("met", ["true", 1, None, [True], {"value": True}])
def test_a_grade_that_is_no_boolean_is_invalid(answered: Benchmark, tmp_path: Path, met: Any) -> None:
    path = put_lines(tmp_path / "b.jsonl", [graded("case-0", "New answer.", [met, False, True])])
    assert "1 verdict is invalid" in load(path, "answered", candidate="omega")
    assert Verdict.objects.filter(outcome="invalid").count() == 1


@pytest.mark.slow
def test_a_completion_instead_of_turns(answered: Benchmark, tmp_path: Path) -> None:
    row = graded("case-0", "unused", [True, True, True])
    del row["prompt_response"]
    row |= {"completion": "The answer.", "candidate": "omega", "sample": 3}
    load(put_lines(tmp_path / "b.jsonl", [row]), "answered")
    response = Response.objects.get(candidate__name="omega")
    assert (response.text, response.sample) == ("The answer.", 3)
    row["prompt_id"] = "p-unknown"
    assert "no prompt from which to create it" in refused(put_lines(tmp_path / "b.jsonl", [row]), "answered")


def test_broken_graded_responses_import_nothing(answered: Benchmark, tmp_path: Path) -> None:
    good = graded("case-0", "x", [True, True, True])
    short = graded("case-1", "x", [True, True, True])
    short["responses"].pop()
    other_points = graded("case-2", "x", [True, True, True])
    other_points["responses"][1]["points"] = 4
    other_rubric = graded("case-3", "x", [True, True, True])
    other_rubric["rubrics"][0]["criterion"] = "Something else"
    no_reply = graded("p-9", "x", [True, True, True])
    no_reply["prompt_response"].pop()
    nameless = {**graded("p-8", "x", [True, True, True]), "prompt_id": ""}
    path = put_lines(tmp_path / "b.jsonl", [good, short, other_points, other_rubric, no_reply, nameless])
    errors = refused(path, "answered", candidate="omega")
    for line, field in (
        (2, "responses"),
        (3, "responses[1].points"),
        (4, "rubrics"),
        (5, "prompt_response"),
        (6, "prompt_id"),
    ):
        assert f"line {line}, {field}:" in errors
    assert errors.count("line 6") == 1
    assert not Response.objects.filter(candidate__name="omega").exists()
    assert not Case.objects.filter(key__startswith="p-").exists()


def test_every_line_may_be_poison(answered: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "b.jsonl"
    path.write_bytes(
        b'{"responses": '
        + b"[" * 100_000
        + b"\n"
        + b'{"responses": [], "responses": []}\n'
        + b'{"prompt_id": "\\u0000"}\n'
    )
    errors = refused(path, "answered", candidate="omega")
    assert all(f"line {line}" in errors for line in (1, 2, 3))


def test_verdicts_with_semicolons_and_a_heading_that_is_not_known(
    answered: Benchmark, rows: list[Row], tmp_path: Path
) -> None:
    path = tmp_path / "v.csv"
    lines = [";".join(map(str, row.values())) for row in rows]
    path.write_text("\n".join([";".join(rows[0]), *lines]), encoding="utf-8")
    assert "verdicts: 12 created" in load(path, "answered")
    path.write_text("one;two\n1;2\n", encoding="utf-8")
    faults = refused(path, "answered")
    assert "must name the columns: case, candidate, sample, criterion, outcome, explanation." in faults


def test_labels_of_a_judge_without_case_and_criterion_are_one_fault(answered: Benchmark, tmp_path: Path) -> None:
    path = put_lines(tmp_path / "judge_labels.jsonl", [{"item_id": f"i{n}", "criteria_met": True} for n in range(60)])
    faults = refused(path, "answered")
    assert "Lines that lack case, candidate, criterion: 60, this one is the first." in faults
    assert "agreement_file" in faults and "line 2" not in faults


# Criteria of a meta-evaluation ------------------------------------------------------------------------------------


@pytest.fixture
def labelled(answered: Benchmark, tmp_path: Path) -> Response:
    """A completion to a case with a rubric of its own, whose labels are about a criterion that is not in it."""
    label = {
        "prompt_id": "case-0",
        "prompt": Case.objects.get(benchmark=answered, key="case-0").conversation,
        "completion_id": "c-1",
        "completion": "Take care.",
        "rubric": "Asks about pain",
        "category": "cluster:context_seeking",
        "binary_labels": [True, False],
        "anonymized_physician_ids": ["p1", "p2"],
    }
    path = put_lines(tmp_path / "labels.jsonl", [label])
    call_command("import_meta_eval", path, "--benchmark", "answered", verbosity=0)
    assert Rubric.objects.filter(case__key="case-0", track="meta_eval", status="published").count() == 1
    return Response.objects.get(external_id="c-1")


def test_verdicts_reach_the_criteria_of_a_meta_evaluation_beside_a_rubric(
    answered: Benchmark, labelled: Response, rows: list[Row], tmp_path: Path
) -> None:
    own = {"case": "case-0", "candidate": labelled.candidate.name, "sample": labelled.sample}
    line = {**own, "criterion": "Asks about pain", "outcome": "met"}
    load(put_lines(tmp_path / "v.jsonl", [*rows, line]), "answered")
    verdict = Verdict.objects.get(response=labelled)
    rubric = Rubric.objects.get(items__criterion=verdict.criterion)
    assert (rubric.track, verdict.outcome) == ("meta_eval", "met")
    run = JudgeRun.objects.get()
    assert run.items.get(response=labelled).rubric == rubric
    assert run.expected == 13
    # The verdict stands beside the physicians' labels.
    judged = resolve_rater(answered, "elsewhere").ratings()
    decided = resolve_rater(answered, "group:meta-evaluation").ratings()
    assert set(decided.keys()) <= set(judged.keys())


def test_verdicts_on_one_response_are_about_one_rubric(answered: Benchmark, labelled: Response, tmp_path: Path) -> None:
    own = {"case": "case-0", "candidate": labelled.candidate.name, "sample": labelled.sample, "outcome": "met"}
    lines = [{**own, "criterion": "Asks about pain"}, {**own, "criterion": 1}]
    errors = refused(put_lines(tmp_path / "v.jsonl", lines), "answered")
    assert "line 2, criterion: Other lines about this response name criteria of another rubric" in errors
    assert not Verdict.objects.exists()


def test_decisions_are_still_about_the_rubric_of_the_case_alone(
    answered: Benchmark, labelled: Response, tmp_path: Path
) -> None:
    line = {"case": "case-0", "candidate": labelled.candidate.name, "sample": labelled.sample, "rater": "A"}
    path = put_lines(tmp_path / "d.jsonl", [{**line, "criterion": "Asks about pain", "outcome": "met"}])
    err = StringIO()
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("import_decisions", path, "--benchmark", "answered", "--group", "G", stderr=err, verbosity=0)
    assert "line 1, criterion: The rubric of this case has no criterion with this text." in err.getvalue()
