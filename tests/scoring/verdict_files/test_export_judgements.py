"""Exports of ClinConsensus' judgement lists; importing one again gives the same verdicts."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from rubrics.models import Benchmark
from scoring.models import Judge, JudgeRun, Verdict
from tests.factories import BenchmarkRoleFactory, CaseFactory, ResponseFactory, UserFactory
from tests.scoring.conftest import decide
from tests.scoring.verdict_files.verdict_lists import Row, load, put_json, put_lines

OUTCOMES = {"met": True, "not_met": False}


def export(out: Path, rater: str, candidate: str = "alpha", **options: Any) -> tuple[list[Row], str]:
    stdout, notes = StringIO(), StringIO()
    call_command(
        "export_judgements",
        benchmark="answered",
        rater=rater,
        candidate=candidate,
        out=out,
        stdout=stdout,
        stderr=notes,
        **options,
    )
    return json.loads(out.read_text(encoding="utf-8")), stdout.getvalue() + notes.getvalue()


@pytest.fixture
def run(answered: Benchmark, tmp_path: Path) -> JudgeRun:
    """Verdicts on alpha and beta; of alpha's third criteria one is invalid, one missing."""
    rows = []
    for name in ("alpha", "beta"):
        for case in range(4):
            for position in range(1, 4):
                met = (case + position + (name == "beta")) % 2 == 0
                rows.append(
                    {
                        "case": f"case-{case}",
                        "candidate": name,
                        "criterion": position,
                        "outcome": "met" if met else "not_met",
                        "explanation": f"“{name}” on {case}.{position}\u2028=1+1",
                    }
                )
    rows[2]["outcome"] = "invalid"
    del rows[5]
    load(put_lines(tmp_path / "v.jsonl", rows), "answered")
    return JudgeRun.objects.get()


@pytest.mark.slow
def test_one_element_for_every_case_in_order(
    answered: Benchmark, run: JudgeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.selectors.judgements.CHUNK", 2)
    CaseFactory(benchmark=answered, key="a-late-case", rubric=2)
    CaseFactory(benchmark=answered, key="not released", rubric=0)
    elements, output = export(tmp_path / "out.json", f"run:{run.public_id}")
    assert [element["case_id"] for element in elements] == ["case-0", "case-1", "case-2", "case-3", "a-late-case"]
    assert [set(element) for element in elements] == [{"case_id", "criteria_results"}] * 5
    assert elements[0]["criteria_results"] == [
        {"criterion": f"Criterion {n} of case-0", "criteria_met": n == 2, "explanation": f"“alpha” on 0.{n}\u2028=1+1"}
        for n in (1, 2)
    ]
    assert elements[4]["criteria_results"] == []
    assert "5 cases, 10 judgements of run:" in output
    assert "left out: 1 invalid, 1 missing" in output
    assert "1 cases have no response with sample 0" in output
    assert export(tmp_path / "by name.json", "elsewhere")[0] == elements


def test_physicians_give_no_explanations(answered: Benchmark, tmp_path: Path) -> None:
    given = {(f"case-{case}", "alpha"): ["met", "not_met", "met"] for case in range(4)}
    given["case-1", "alpha"] = ["cannot_assess", "met", "met"]
    decide(answered, "Group A", given)
    elements, output = export(tmp_path / "out.json", "group:Group A")
    assert [result["criteria_met"] for result in elements[3]["criteria_results"]] == [True, False, True]
    assert {result["explanation"] for element in elements for result in element["criteria_results"]} == {""}
    assert "left out: 1 cannot assess\n" in output
    elements, output = export(tmp_path / "out.json", "group:Group A", "beta")
    assert [element["criteria_results"] for element in elements] == [[]] * 4
    assert "left out: 12 missing" in output


@pytest.mark.slow
def test_one_sample_at_a_time(answered: Benchmark, run: JudgeRun, tmp_path: Path) -> None:
    ResponseFactory(case=answered.cases.get(key="case-1"), candidate=answered.candidates.get(name="alpha"), sample=1)
    row = {"case": "case-1", "candidate": "alpha", "sample": 1, "criterion": 1, "outcome": "met"}
    load(put_lines(tmp_path / "v.jsonl", [row]), "answered", judge="second")
    elements, output = export(tmp_path / "out.json", "second", sample=1)
    assert [len(element["criteria_results"]) for element in elements] == [0, 1, 0, 0]
    assert "4 responses of other samples" in output


def test_what_cannot_be_exported_leaves_no_file(answered: Benchmark, run: JudgeRun, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    for rater, candidate, words in (
        ("nobody", "alpha", "neither a rater"),
        ("elsewhere", "gamma", "candidate “gamma” does not exist"),
    ):
        with pytest.raises(CommandError, match=words):
            export(out, rater, candidate)
    assert list(tmp_path.glob("out*")) == []


def verdicts(judge: str) -> set[tuple[Any, ...]]:
    rows = Verdict.objects.filter(run__judge__name=judge)
    return set(rows.values_list("response_id", "criterion_id", "outcome", "explanation"))


@pytest.mark.slow
def test_what_goes_out_comes_in_again(answered: Benchmark, run: JudgeRun, tmp_path: Path) -> None:
    rater = f"run:{run.public_id}"
    ours = verdicts("elsewhere")
    for name in ("decisions.csv", "decisions.jsonl"):
        out = tmp_path / name
        call_command("export_decisions", benchmark="answered", rater=rater, out=out, stdout=StringIO())
        load(out, "answered", judge=name)
        assert {pair[:3] for pair in verdicts(name)} == {pair[:3] for pair in ours}
    export(tmp_path / "alpha.json", rater, "alpha")
    load(tmp_path / "alpha.json", "answered", judge="list", candidate="alpha")
    of_alpha = set(
        Verdict.objects.filter(run=run, response__candidate__name="alpha").values_list("response_id", flat=True)
    )
    assert verdicts("list") == {pair for pair in ours if pair[0] in of_alpha and pair[2] in OUTCOMES}
    assert JudgeRun.objects.get(judge__name="list").expected == 12  # what was left out is missing again


@pytest.mark.slow
def test_the_list_of_a_benchmark_with_unanswered_cases_comes_in_again(
    answered: Benchmark, run: JudgeRun, researcher: Client, tmp_path: Path
) -> None:
    for number in range(3):
        CaseFactory(benchmark=answered, key=f"unanswered-{number}", rubric=2)
    elements = body(
        researcher.get(reverse("api:api-judgements", args=["answered", run.public_id]), {"candidate": "beta"})
    )
    assert [element["case_id"] for element in elements if not element["criteria_results"]] == [
        f"unanswered-{number}" for number in range(3)
    ]
    load(put_json(tmp_path / "list.json", elements), "answered", judge="list", candidate="beta")
    of_beta = {pair for pair in verdicts("elsewhere") if pair[3].startswith("“beta”")}
    assert len(of_beta) == 12 and verdicts("list") == of_beta
    assert JudgeRun.objects.get(judge__name="list").expected == 12


# Endpoints ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def researcher(answered: Benchmark) -> Client:
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=answered, user=UserFactory(), role="researcher").user)
    return client


def body(response: Any) -> Any:
    assert response.status_code == 200
    return json.loads(b"".join(response.streaming_content))


@pytest.mark.slow
def test_the_page_and_the_api_give_the_list(
    answered: Benchmark, run: JudgeRun, researcher: Client, tmp_path: Path
) -> None:
    elements, _message = export(tmp_path / "out.json", f"run:{run.public_id}", "beta")
    beta, physician = (answered.candidates.get(name=name).public_id for name in ("beta", "physician"))
    page = reverse("scoring:verdicts", args=["answered", run.public_id])
    address = reverse("scoring:judgements", args=["answered", run.public_id])
    assert address not in researcher.get(page).content.decode()
    assert f"{address}?candidate={beta}&amp;sample=0" in researcher.get(page, {"candidate": beta}).content.decode()
    response = researcher.get(address, {"candidate": beta})
    assert body(response) == elements
    assert response["Content-Disposition"].endswith('-beta-judgements.json"')
    assert researcher.get(address).headers["Location"] == page
    api = reverse("api:api-judgements", args=["answered", run.public_id])
    assert body(researcher.get(api, {"candidate": beta})) == elements
    assert researcher.get(api).status_code == 400
    assert researcher.get(api, {"candidate": beta, "rater": "x"}).status_code == 400
    for endpoint in (address, api):
        for query in (
            {"candidate": "nobody"},
            {"candidate": physician},
            {"candidate": beta, "sample": "1"},
            {"candidate": beta, "sample": "٠"},
        ):
            # The API names the parameter that is wrong; a page does not exist.
            status = 400 if endpoint == api else 404
            assert researcher.get(endpoint, query).status_code == status


@pytest.mark.slow
def test_the_csv_of_the_page_comes_in_again(
    answered: Benchmark, run: JudgeRun, researcher: Client, tmp_path: Path
) -> None:
    address = reverse("scoring:verdicts-csv", args=["answered", run.public_id])
    path = tmp_path / "page.csv"
    path.write_bytes(b"".join(researcher.get(address).streaming_content))  # type: ignore[attr-defined]
    with path.open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 23
    output = load(path, "answered", judge="page")
    assert "23 created" in output
    assert verdicts("page") == verdicts("elsewhere")
    assert Judge.objects.count() == 2
