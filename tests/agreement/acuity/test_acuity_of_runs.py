"""Readings that runs asked for, in reports on acuity: a series of their own, counted by what the runs planned."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from rubrics.models import AcuityScale, Benchmark, Candidate, Case
from scoring.models import AcuityReading, ClassificationRun, PipelineStep
from tests.agreement.acuity.stored import N_CASES as N
from tests.agreement.acuity.stored import chosen, csv_of, csv_rows, reported
from tests.factories import CandidateFactory

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def run_of(scale: AcuityScale, candidate: Candidate, answers: dict[tuple[str, int], dict[str, Any] | None]) -> None:
    """A run that planned these (case, sample); None is a step that failed, and else the fields of the reading."""
    at = timezone.now()
    run = ClassificationRun.objects.create(
        kind="classify", benchmark=scale.benchmark, candidate=candidate, config={"levels": []}, status="finished",
        terms={"scale": scale.pk, "samples": 1}, created_at=at,
    )  # fmt: skip
    cases = {case.key: case for case in Case.with_stubs.filter(benchmark=scale.benchmark)}
    for (key, sample), fields in answers.items():
        done = {"state": "done", "output": {}} if fields is not None else {"state": "failed", "error_kind": "timeout"}
        PipelineStep.objects.create(run=run, case=cases[key], stage="choice", key=str(sample), **done)
        if fields is not None:
            usual = {"source": "parsed", "descending": False, "state": "level", "format": "qa", "sample": sample}
            rest = {"scale": scale, "case": cases[key], "candidate": candidate, "pipeline_run": run, "created_at": at}
            AcuityReading.objects.create(**(usual | rest | fields))


def reading(level: int, **more: Any) -> dict[str, Any]:
    return {"level": level, **more}


def test_both_sources_of_one_candidate_stand_beside_each_other(
    scale: AcuityScale, benchmark: Benchmark, client: Client
) -> None:
    candidate = Candidate.objects.get(benchmark=benchmark, name="M")
    answers: dict[tuple[str, int], dict[str, Any] | None] = {}
    for i in range(10):
        for sample in range(2):
            answers[f"c{i:02}", sample] = reading(max(0, i % 4 - 1))  # a level too low but for self-care
    answers["c00", 1] = None
    run_of(scale, candidate, answers)
    report = reported(benchmark)
    rows = csv_rows(csv_of(client, report, "acuity"))
    imported, of_run = (
        chosen(rows, candidate=name, source=source, aggregate="pooled", slice="all", format="qa")
        for name, source in (("M", "imported"), ("M (parsed)", "parsed"))
    )
    assert (imported["n_cases"], imported["n_missing"], float(imported["accuracy"])) == ("12", "0", 1.0)
    # The run planned 20 readings on 10 cases, whatever other datasets and candidates have; one never came.
    assert (of_run["n_cases"], of_run["n_readings"], of_run["n_missing"]) == ("10", "19", "1")
    # Cases 0, 4 and 8 are self-care and right: 5 of 19 readings.
    assert float(of_run["accuracy"]) == pytest.approx(5 / 19)
    assert float(of_run["accuracy_all"]) == pytest.approx(5 / 20)
    assert chosen(rows, candidate="all", aggregate="pooled", slice="all")["source"] == "imported, parsed"
    page = client.get(f"/b/{benchmark.slug}/acuity/{report.public_id}/").content.decode()
    assert "M (parsed)" in page


def test_a_run_joins_no_datasets(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    run_of(scale, candidate, {("c00", 0): reading(0), ("d00", 0): reading(0)})
    rows = csv_rows(csv_of(client, reported(benchmark), "acuity"))
    cases = {row["candidate"]: row["n_cases"] for row in rows if (row["aggregate"], row["slice"]) == ("pooled", "all")}
    # P was asked about cases of both; M and O still about those of their own files alone.
    assert {name: cases[name] for name in "MOP"} == {"M": "12", "O": "2", "P": "2"}


def test_the_order_of_the_options_is_a_figure(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    # With the most urgent level first it answers a level higher, in every case.
    answers = {
        (f"c{i:02}", sample): reading(1 + sample, descending=bool(sample)) for i in range(N) for sample in range(2)
    }
    run_of(scale, candidate, dict(answers))
    (row,) = csv_rows(csv_of(client, reported(benchmark), "position"))
    assert (row["candidate"], row["source"], row["n_first"], row["n_last"], row["n_cases"]) == (
        "P", "parsed", "12", "12", "12",
    )  # fmt: skip
    assert [float(row[name]) for name in ("mean_first", "mean_last", "shift")] == [2.0, 1.0, 1.0]


def test_log_probabilities_are_a_source_of_confidence(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    answers = {
        (f"c{i:02}", sample): reading(
            i % 4 if i % 2 else 0,
            source="logprobs",
            confidence=0.9,
            distribution=[0.8 if level == (i % 4 if i % 2 else 0) else 0.2 / 3 for level in range(4)],
        )
        for i in range(N)
        for sample in range(5)
    }
    run_of(scale, candidate, dict(answers))
    rows = csv_rows(csv_of(client, reported(benchmark), "confidence"))
    own = {row["confidence_source"]: row for row in rows if row["candidate"] == "P"}
    assert set(own) == {"stated", "logprobs", "samples"}
    # Cases 1, 3, 5 … and self-care are right: 9 of 12.
    figures = {
        name: (row["n"], float(row["accuracy"]), round(float(row["mean_confidence"]), 9)) for name, row in own.items()
    }
    assert figures == {"stated": ("60", 0.75, 0.9), "logprobs": ("60", 0.75, 0.8), "samples": ("12", 0.75, 1.0)}
    assert own["logprobs"]["note"]  # one value throughout


def test_a_report_without_runs_has_its_old_digest(scale: AcuityScale, benchmark: Benchmark) -> None:
    before = reported(benchmark).input_digest
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    run_of(scale, candidate, {("c00", 0): reading(0)})
    assert reported(benchmark, candidates=["M", "O"]).input_digest == before
    assert reported(benchmark).input_digest != before
