"""Several answers of a judge to the same question: rows and files that number them."""

from __future__ import annotations

import json
import math
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from consilium.statistics.outcomes import Outcome
from rubrics.models import Benchmark, ImportJob, Response
from rubrics.services import import_jobs
from scoring.models import JudgeRun, Verdict
from scoring.scores.score_tables import compute_scores
from scoring.selectors.raters import resolve_rater
from tests.factories import BenchmarkRoleFactory
from tests.scoring.verdict_files.verdict_lists import Row, load, put_json, put_lines, refused

# Three answers on alpha's response to case-0, whose criteria have +5, +3 and −4 points.
ANSWERS = ["met", "met", "not_met"], ["met", "not_met", "met"], ["not_met", "invalid", "met"]
# met 2 of 3; one each of two valid ones; met 2 of 3.
MAJORITY = [Outcome.MET, Outcome.UNDECIDED, Outcome.MET]


def rows(answers: list[str], **more: object) -> list[Row]:
    return [
        {"case": "case-0", "candidate": "alpha", "criterion": place, "outcome": outcome, **more}
        for place, outcome in enumerate(answers, start=1)
    ]


def outcomes(benchmark: Benchmark, rater: str = "elsewhere") -> list[int]:
    return resolve_rater(benchmark, rater).ratings().outcome.tolist()


def files(folder: Path) -> list[str]:
    return [str(put_lines(folder / f"seed{n}.jsonl", rows(answers))) for n, answers in enumerate(ANSWERS)]


def command(paths: list[str], **options: object) -> str:
    out, err = StringIO(), StringIO()
    options = {"benchmark": "answered", "judge": "elsewhere", "stdout": out, "stderr": err, **options}
    call_command("import_verdicts", *paths, **options)
    return out.getvalue() + err.getvalue()


@pytest.mark.slow
def test_rows_that_name_their_replicate_make_one_run_and_count_by_majority(answered: Benchmark, tmp_path: Path) -> None:
    every = [row for n, answers in enumerate(ANSWERS) for row in rows(answers, replicate=n)]
    output = load(put_lines(tmp_path / "v.jsonl", every), "answered")
    assert "runs: 1 created" in output
    assert "verdicts: 9 created" in output
    run = JudgeRun.objects.get()
    assert (run.replicates, run.expected) == (3, 9)
    assert sorted(Verdict.objects.values_list("replicate", flat=True)) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert outcomes(answered) == outcomes(answered, f"run:{run.public_id}") == MAJORITY
    again = load(put_lines(tmp_path / "v.jsonl", every[::-1]), "answered")
    assert "runs: 0 created, 1 unchanged" in again


@pytest.mark.slow
def test_files_are_replicates_in_their_order(answered: Benchmark, tmp_path: Path) -> None:
    output = command(files(tmp_path), replicates=True)
    assert "runs: 1 created" in output
    assert "verdicts: 9 created" in output
    assert JudgeRun.objects.get().replicates == 3
    verdicts = Verdict.objects.order_by("criterion", "replicate").values_list("replicate", "outcome")
    assert list(verdicts) == [(n, ANSWERS[n][place]) for place in range(3) for n in range(3)]
    assert outcomes(answered) == MAJORITY
    assert "runs: 0 created, 1 unchanged" in command(files(tmp_path), replicates=True)


@pytest.mark.slow
def test_the_score_is_that_of_the_majority(answered: Benchmark, tmp_path: Path) -> None:
    # Met by two of three: +5 and −4 points. Not met by two of three: +3. (5 − 4) of 8 points.
    answers = ["met", "not_met", "met"], ["met", "not_met", "not_met"], ["not_met", "met", "met"]
    paths = [str(put_lines(tmp_path / f"{n}.jsonl", rows(list(each)))) for n, each in enumerate(answers)]
    command(paths, replicates=True)
    (alpha,) = compute_scores(answered, resolve_rater(answered, "elsewhere"), 1).scoreboard
    assert math.isclose(alpha["rubric_score"], 1 / 8)
    assert (alpha["n"], alpha["n_missing"], alpha["n_undecided"]) == (1, 0, 0)


@pytest.mark.slow
def test_replicates_that_come_one_after_another_count_together_as_well(answered: Benchmark, tmp_path: Path) -> None:
    for n, answers in enumerate(ANSWERS):
        load(put_lines(tmp_path / "v.csv.jsonl", rows(answers, replicate=n)), "answered")
    assert JudgeRun.objects.count() == 3
    assert outcomes(answered) == MAJORITY


def test_a_csv_names_replicates_by_their_digits(answered: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "v.csv"
    path.write_text(
        "case,candidate,criterion,outcome,replicate\n"
        "case-0,alpha,1,met,0\ncase-0,alpha,1,not_met,1\ncase-0,alpha,1,not_met,2\n",
        encoding="utf-8",
    )
    load(path, "answered")
    assert outcomes(answered) == [Outcome.NOT_MET]


@pytest.mark.slow
def test_graded_responses_and_lists_have_replicates_too(answered: Benchmark, tmp_path: Path) -> None:
    lists = [
        {
            "case_id": "case-0",
            "candidate": "alpha",
            "replicate": n,
            "criteria_results": [
                {"criterion": f"Criterion {place} of case-0", "criteria_met": outcome == "met", "explanation": ""}
                for place, outcome in enumerate(answers, start=1)
            ],
        }
        for n, answers in enumerate((ANSWERS[0], ANSWERS[1], ANSWERS[1]))
    ]
    load(put_json(tmp_path / "c.json", lists), "answered", judge="lists")
    assert outcomes(answered, "lists") == [Outcome.MET, Outcome.NOT_MET, Outcome.MET]
    graded = [
        {
            "prompt_id": "fresh-1",
            "model": "omega",
            "prompt": [{"role": "user", "content": "I feel dizzy."}],
            "completion": "Sit down.",
            "replicate": n,
            "rubrics": [{"criterion": "Asks since when.", "points": 5, "tags": []}],
            "responses": [{"response_dict": {"criteria_met": met, "explanation": ""}}],
        }
        for n, met in enumerate((True, False, True))
    ]
    load(put_lines(tmp_path / "b.jsonl", graded), "answered", judge="graded")
    assert Response.objects.filter(case__key="fresh-1").count() == 1  # three answers, one response
    assert outcomes(answered, "graded") == [Outcome.MET]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [2, 500])
def test_a_response_that_comes_with_every_replicate_is_one(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("scoring.services.verdicts.graded.CHUNK", chunk)
    graded: list[Row] = [
        {
            "prompt_id": f"fresh-{case}",
            "model": "omega",
            "prompt": [{"role": "user", "content": "I feel dizzy."}],
            "prompt_response": [{"role": "assistant", "content": f"Answer {sample}."}],
            "replicate": replicate,
            "rubrics": [{"criterion": "Asks since when.", "points": 5, "tags": []}],
            "responses": [{"response_dict": {"criteria_met": replicate != 1, "explanation": ""}}],
        }
        for replicate in range(3)
        for case in range(2)
        for sample in range(2)  # by the order of the file
    ]
    output = load(put_lines(tmp_path / "b.jsonl", graded), "fresh")
    assert "responses: 4 created" in output
    assert "verdicts: 12 created" in output
    assert "cases: 2 created" in output
    fresh = Benchmark.objects.get(slug="fresh")
    assert outcomes(fresh) == [Outcome.MET] * 4
    graded[-1]["prompt_response"] = [{"role": "assistant", "content": "Another one."}]
    assert "different content" in refused(put_lines(tmp_path / "b.jsonl", graded), "other")


def test_what_does_not_fit_is_refused_with_file_line_and_field(answered: Benchmark, tmp_path: Path) -> None:
    twice = [*rows(ANSWERS[0]), *rows(ANSWERS[1])]
    faults = refused(put_lines(tmp_path / "v.jsonl", twice), "answered")
    assert "line 4, criterion: This verdict is already on line 1." in faults
    assert "“replicate”: 0, 1, …" in faults
    faults = refused(put_lines(tmp_path / "v.jsonl", rows(ANSWERS[0], replicate=1000)), "answered")
    assert "line 1, replicate: 1000 is not between 0 and 999." in faults
    faults = refused(put_lines(tmp_path / "v.jsonl", rows(ANSWERS[0], replicate="first")), "answered")
    assert "line 1, replicate: This must be a whole number" in faults
    first, second, _third = files(tmp_path)
    put_lines(Path(second), [*rows(ANSWERS[1][:2]), *rows(["met"], replicate=2)])
    err = StringIO()
    with pytest.raises(CommandError, match=r"seed1\.jsonl: 1 fault refused, nothing was imported"):
        command([first, second], replicates=True, stderr=err)
    assert f"{second}: line 3, replicate: This is replicate 2, but the whole file is replicate 1." in err.getvalue()
    assert not JudgeRun.objects.exists()
    with pytest.raises(CommandError, match="two or more files"):
        command([first], replicates=True)


@pytest.mark.slow
def test_page_and_api_take_replicates_in_rows_and_for_the_whole_file(answered: Benchmark, client: Client) -> None:
    user = BenchmarkRoleFactory(benchmark=answered, role="admin").user
    client.force_login(user)

    def content(answers: list[str], **more: object) -> ContentFile:
        return ContentFile("\n".join(map(json.dumps, rows(answers, **more))).encode(), name="v.jsonl")

    page = {"kind": "verdicts", "judge": "elsewhere"}
    both = [*rows(ANSWERS[0], replicate=0), *rows(ANSWERS[1], replicate=1)]
    file = ContentFile("\n".join(map(json.dumps, both)).encode(), name="v.jsonl")
    assert client.post("/b/answered/imports/", {**page, "file": file}).status_code == 302
    response = client.post(
        "/api/v1/benchmarks/answered/imports/", {**page, "file": content(ANSWERS[2]), "replicate": "2"}
    )
    assert response.status_code == 201, response.content
    for job in ImportJob.objects.order_by("pk"):
        import_jobs.run(job_id=job.pk, clock=timezone.now)
        job.refresh_from_db()
        job.file.delete(save=False)
        assert job.status == "done", job.errors
    assert outcomes(answered) == MAJORITY
    refused_form = client.post("/b/answered/imports/", {**page, "file": content(ANSWERS[2]), "replicate": "-1"})
    assert refused_form.status_code == 422
