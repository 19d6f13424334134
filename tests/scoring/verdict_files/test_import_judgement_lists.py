"""Shape (c): ClinConsensus' judgement lists."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from rubrics.models import Benchmark
from scoring.models import JudgeRun, Verdict
from scoring.selectors.raters import resolve_rater
from tests.factories import CaseFactory, ResponseFactory
from tests.scoring.verdict_files.verdict_lists import Row, load, put_json, put_lines, refused


def element(number: int, *met: object) -> Row:
    """What was said of the first criteria of a case of `answered`."""
    return {
        "case_id": f"case-{number}",
        "criteria_results": [
            {
                "criterion": f"Criterion {place} of case-{number}",
                "criteria_met": each,
                "explanation": f"Because {place}.",
            }
            for place, each in enumerate(met, start=1)
        ],
    }


def outcomes(case: str) -> list[str]:
    verdicts = Verdict.objects.filter(response__case__key=case).order_by("criterion__items__position")
    return list(verdicts.values_list("outcome", flat=True))


@pytest.mark.slow
def test_a_list_becomes_a_run_of_one_candidate(answered: Benchmark, tmp_path: Path) -> None:
    output = load(
        put_json(tmp_path / "c.json", [element(0, True, False, True), element(1, False), element(2)]),
        "answered",
        candidate="beta",
    )
    assert "verdicts: 4 created, 0 unchanged" in output
    assert (
        "5 criteria of these responses have no verdict" in output
    )  # of case-1 two, of case-2, of which nothing is said, three
    assert outcomes("case-0") == ["met", "not_met", "met"]
    assert set(Verdict.objects.values_list("response__candidate__name", "response__sample")) == {("beta", 0)}
    assert Verdict.objects.filter(explanation="Because 2.").count() == 1
    run = JudgeRun.objects.get()
    assert (run.expected, run.items.count(), run.status) == (9, 3, "finished")
    again = load(
        put_lines(tmp_path / "c.jsonl", [element(2), element(1, False), element(0, True, False, True)]),
        "answered",
        candidate="beta",
    )
    assert "runs: 0 created, 1 unchanged" in again
    # Of one response less, nothing is missing: another run, though each verdict is the same.
    load(
        put_json(tmp_path / "c.json", [element(0, True, False, True), element(1, False)]), "answered", candidate="beta"
    )
    assert [run.expected for run in JudgeRun.objects.order_by("pk")] == [9, 6]


@pytest.mark.slow
def test_texts_find_their_criteria_in_any_order_and_twins_by_theirs(answered: Benchmark, tmp_path: Path) -> None:
    texts = ["Same.", "Other.", "Same."]
    case = CaseFactory(benchmark=answered, key="twins", rubric=[1, 1, 1], rubric__texts=texts)
    ResponseFactory(case=case, candidate=answered.candidates.get(name="alpha"))

    def make_element(*pairs: tuple[str, bool]) -> Row:
        return {"case_id": "twins", "criteria_results": [{"criterion": a, "criteria_met": b} for a, b in pairs]}

    path = tmp_path / "c.json"
    load(
        put_json(path, [make_element(("Same.", True), ("Other.", False), ("Same.", False))]),
        "answered",
        candidate="alpha",
    )
    assert outcomes("twins") == ["met", "not_met", "not_met"]
    load(
        put_json(path, [make_element(("Other.", True), ("Same.", False), ("Same.", True))]),
        "answered",
        candidate="alpha",
    )
    newest = resolve_rater(answered, "elsewhere").ratings()
    assert newest.outcome.tolist() == [0, 1, 1]
    error = refused(put_json(path, [make_element(("Same.", True), ("Other.", False))]), "answered", candidate="alpha")
    assert "[0].criteria_results[0].criterion: This text appears 2 times" in error
    three = [("Same.", True), ("Same.", True), ("Same.", True)]
    assert "criteria_results[2].criterion: This criterion is already in the list" in refused(
        put_json(path, [make_element(*three)]), "answered", candidate="alpha"
    )


def test_samples_and_candidates_of_the_elements_themselves(answered: Benchmark, tmp_path: Path) -> None:
    case = answered.cases.get(key="case-0")
    ResponseFactory(case=case, candidate=answered.candidates.get(name="alpha"), sample=4)
    rows = [{**element(0, True), "candidate": "alpha", "sample": 4}, {**element(0, False), "model": "beta"}]
    load(put_json(tmp_path / "c.json", rows), "answered")
    assert set(Verdict.objects.values_list("response__candidate__name", "response__sample", "outcome")) == {
        ("alpha", 4, "met"),
        ("beta", 0, "not_met"),
    }


@pytest.mark.parametrize("met", ["true", 1, None, [True]])
def test_what_is_no_boolean_is_invalid(answered: Benchmark, tmp_path: Path, met: object) -> None:
    output = load(put_json(tmp_path / "c.json", [element(0, met, True)]), "answered", candidate="alpha")
    assert "1 verdict is invalid" in output
    assert Counter(outcomes("case-0")) == {"invalid": 1, "met": 1}


def test_what_is_wrong_is_named_by_line_element_and_field(answered: Benchmark, tmp_path: Path) -> None:
    CaseFactory(benchmark=answered, key="unanswered")
    unknown = element(0, True)
    unknown["criteria_results"][0]["criterion"] = "Something else"
    rows = [
        unknown,
        {"case_id": "case-9", "criteria_results": []},
        {"case_id": "unanswered", "criteria_results": [{"criterion": "Asks for the dose.", "criteria_met": True}]},
        element(1, True),
        element(1, True),
        {"case_id": "case-2"},
        {"case_id": "case-2", "criteria_results": ["met"]},
        {"criteria_results": []},
        7,
    ]
    path = tmp_path / "c.json"
    path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]", encoding="utf-8")
    errors = refused(path, "answered", candidate="alpha")
    for line, field, words in (
        (2, "[0].criteria_results[0].criterion", "no criterion with this text"),
        (3, "[1].case_id", "no case “case-9”"),
        (4, "[2].case_id", "no response of “alpha”"),
        (6, "[4].case_id", "is already on line 5"),
        (7, "[5].criteria_results", "missing"),
        (8, "[6].criteria_results[0]", "must be an object"),
        (9, "[7].case_id", "missing"),
        (10, "[8]", "must be an object"),
    ):
        assert f"line {line}, {field}: " in errors, field
        assert words in next(row for row in errors.splitlines() if row.startswith(f"line {line}, "))
    assert len(errors.splitlines()) == 8
    assert not JudgeRun.objects.exists()
    assert "Specify the candidate" in refused(put_json(path, [element(0, True)]), "answered")


def test_a_broken_list_imports_nothing(answered: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([element(0, True), element(1, True)])[:-1], encoding="utf-8")
    assert "The file ends" in refused(path, "answered", candidate="alpha")
    assert not Verdict.objects.exists()
