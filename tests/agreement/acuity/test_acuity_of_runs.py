"""Readings that runs asked for, in reports on acuity: a series of their own, counted by what the runs planned."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from agreement.reports.freshness import freshness_of
from rubrics.models import AcuityScale, Benchmark, Candidate, Case
from scoring.models import (
    AcuityReading,
    ClassificationRun,
    EndpointCall,
    GeneratedResponse,
    JudgeRunItem,
    PipelineRun,
    PipelineStep,
)
from tests.agreement.acuity.stored import N_CASES as N
from tests.agreement.acuity.stored import address, chosen, csv_of, csv_rows, reported
from tests.factories import CandidateFactory, CaseFactory, JudgeFactory, JudgeRunFactory, ResponseFactory

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


def test_of_two_runs_with_the_same_samples_the_first_counts(
    scale: AcuityScale, benchmark: Benchmark, client: Client
) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    keys = [f"c{i:02}" for i in range(N)]
    # Right in all cases but c01, of which the first run has no reading; the second is right there, and wrong elsewhere.
    run_of(scale, candidate, {(key, 0): reading(i % 4) if i != 1 else None for i, key in enumerate(keys)})
    run_of(scale, candidate, {(key, 0): reading(i % 4 if i == 1 else (i + 1) % 4) for i, key in enumerate(keys)})
    rows = csv_rows(csv_of(client, reported(benchmark), "acuity"))
    row = chosen(rows, candidate="P", aggregate="pooled", slice="all", format="qa")
    assert (row["n_readings"], row["n_usable"], row["n_missing"]) == ("12", "12", "0")
    assert [float(row[name]) for name in ("accuracy", "accuracy_all", "comprehensiveness", "cost_all")] == [1, 1, 1, 0]


def test_of_two_unusable_readings_of_one_sample_the_first_is_listed(
    scale: AcuityScale, benchmark: Benchmark, client: Client
) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    for state in ("refused", "invalid"):
        run_of(scale, candidate, {("c00", 0): {"state": state, "level": None, "text": state}})
    rows = csv_rows(csv_of(client, reported(benchmark), "unusable"))
    assert [row["state"] for row in rows if row["candidate"] == "P"] == ["refused"]


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
    report = reported(benchmark)
    rows = csv_rows(csv_of(client, report, "confidence"))
    own = {row["confidence_source"]: row for row in rows if row["candidate"] == "P"}
    assert set(own) == {"stated", "logprobs", "samples"}
    # Cases 1, 3, 5 … and self-care are right: 9 of 12.
    figures = {
        name: (row["n"], float(row["accuracy"]), round(float(row["mean_confidence"]), 9)) for name, row in own.items()
    }
    assert figures == {"stated": ("60", 0.75, 0.9), "logprobs": ("60", 0.75, 0.8), "samples": ("12", 0.75, 1.0)}
    assert own["logprobs"]["note"]  # one value throughout
    page = " ".join(client.get(address(report)).content.decode().split())
    meaning = "The probability of the level that was read, from the log probabilities of the answer"
    assert f'<td title="{meaning}">Log probabilities</td>' in page
    for source in ("stated", "logprobs", "samples"):
        assert f"reliability-qa-{source}.svg" in page


def test_a_report_without_runs_has_its_old_digest(scale: AcuityScale, benchmark: Benchmark) -> None:
    before = reported(benchmark).input_digest
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    run_of(scale, candidate, {("c00", 0): reading(0)})
    assert reported(benchmark, candidates=["M", "O"]).input_digest == before
    assert reported(benchmark).input_digest != before


MODEL = "https://models.example/v1 small"


def asking_run(scale: AcuityScale, candidate: Candidate, kind: str = "classify", **more: Any) -> PipelineRun:
    """A finished run with its totals: ``calls``, ``tokens_in``, ``tokens_out``, prices in ``config``."""
    usual = {"config": {}, "terms": {"scale": scale.pk}, "asks": [MODEL], "status": "finished"}
    return PipelineRun.objects.create(
        kind=kind, benchmark=scale.benchmark, candidate=candidate, created_at=timezone.now(), **(usual | more)
    )


def call_of(run: PipelineRun, latency_ms: int | None) -> EndpointCall:
    return EndpointCall.objects.create(
        benchmark=run.benchmark, run=run, request_hash="0" * 64, endpoint="https://models.example/v1", model="small",
        request=b"", answer=b"", latency_ms=latency_ms, created_at=timezone.now(),
    )  # fmt: skip


def choose(run: PipelineRun, levels: list[int], calls: list[EndpointCall]) -> None:
    """A forced choice on each case in turn, each with its call."""
    cases = Case.with_stubs.filter(benchmark=run.benchmark, key__startswith="c").order_by("key")
    for case, level, call in zip(cases, levels, calls, strict=True):
        PipelineStep.objects.create(run=run, case=case, stage="choice", key="0", state="done", output={}, call=call)
        AcuityReading.objects.create(
            scale_id=run.terms["scale"], case=case, candidate=run.candidate, pipeline_run=run, source="parsed",
            format="qa", sample=0, state="level", level=level, descending=False, created_at=timezone.now(),
        )  # fmt: skip


def prices(price_in: float, price_out: float, currency: str = "USD") -> dict[str, Any]:
    return {"price_in": price_in, "price_out": price_out, "currency": currency}


RIGHT = [i % 4 for i in range(N)]
HIGHER = [min(3, i % 4 + 1) for i in range(N)]  # 9 of 12 cost 1: 0.75 a case


def frontier(client: Client, benchmark: Benchmark) -> dict[tuple[str, str], dict[str, str]]:
    rows = csv_rows(csv_of(client, reported(benchmark), "frontier"))
    return {(row["candidate"], row["format"]): row for row in rows}


def test_price_and_latency_beside_quality(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    dear, cheap, slow = (CandidateFactory(benchmark=benchmark, name=name) for name in ("Dear", "Cheap", "Slow"))
    # 13 calls for 12 answers, since one had to be repeated; tokens are those of all of them.
    run = asking_run(scale, dear, calls=13, tokens_in=13_000, tokens_out=1_300, config=prices(2, 10))
    choose(run, RIGHT, [call_of(run, 100 * (i + 1)) for i in range(N)])
    call_of(run, 60_000)  # the one that was repeated: its time is nobody's answer
    run = asking_run(scale, cheap, calls=12, tokens_in=12_000, tokens_out=1_200, config=prices(1, 5))
    choose(run, HIGHER, [call_of(run, 50) for _ in range(N)])
    run = asking_run(scale, slow, calls=12, tokens_in=24_000, tokens_out=2_400, config=prices(1, 5))
    choose(run, HIGHER, [call_of(run, 5_000) for _ in range(N)])
    report = reported(benchmark)
    rows = {row["candidate"]: row for row in csv_rows(csv_of(client, report, "frontier"))}
    own = rows["Dear"]
    # 13,000 · 2 + 1,300 · 10 millionths are 0.039, over 12 answers; the 11th of 12 latencies less a tenth of a step.
    numbers = [float(own[name]) for name in ("spent", "price_1000", "latency_median", "latency_p90", "cost_all")]
    assert numbers == pytest.approx([0.039, 3.25, 0.65, 1.09, 0.0])
    assert [own[name] for name in ("n_answers", "n_calls", "n_paid", "currency")] == ["12", "13", "12", "USD"]
    assert float(rows["Cheap"]["price_1000"]) == pytest.approx(1.5)
    assert float(rows["Cheap"]["cost_all"]) == pytest.approx(0.75)
    marks = {name: (rows[name]["price_frontier"], rows[name]["latency_frontier"]) for name in rows}
    # Slow is as bad as Cheap, and takes more.
    assert marks == {
        "Dear": ("true", "true"), "Cheap": ("true", "true"), "Slow": ("false", "false"), "M": ("", ""), "O": ("", ""),
    }  # fmt: skip
    assert rows["M"]["note"] == "latency_median, price_1000: readings from files, of which no call is recorded"
    page = " ".join(client.get(address(report)).content.decode().split())
    assert page.count("on the frontier</span>") == 4
    assert "3.250 USD" in page
    assert "M – readings from files, of which no call is recorded" in page
    for name in ("frontier-price-qa", "frontier-latency-qa"):
        assert f'id="figure-{name}"' in page
        for ending, start in (("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")):
            response = client.get(f"{address(report)}figures/{name}.{ending}")
            content = b"".join(response.streaming_content) if response.streaming else response.content
            assert content.startswith(start), (name, ending)
    # A further call is a further cost, and makes the report stale.
    assert freshness_of(report).fresh is True
    PipelineRun.objects.filter(candidate=dear).update(calls=14, tokens_in=14_000)
    assert freshness_of(report).fresh is False


def test_advice_is_timed_by_its_own_run_and_never_by_its_judge(
    scale: AcuityScale, benchmark: Benchmark, client: Client
) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    priced = asking_run(scale, candidate, calls=12, tokens_in=12_000, tokens_out=0, config=prices(1, 5))
    earlier = call_of(priced, 10)
    choose(priced, RIGHT, [call_of(priced, 10) for _ in range(N)])
    # Generating runs have no prices; this one asked the same model at the same endpoint. One answer was there already.
    run = asking_run(scale, candidate, "responses", calls=11, tokens_in=11_000, tokens_out=2_200)
    judge = JudgeFactory(benchmark=benchmark, name="levels", task="acuity", scale=scale)
    judge_run = JudgeRunFactory(judge=judge, purpose="acuity")
    for i, case in enumerate(Case.with_stubs.filter(benchmark=benchmark, key__startswith="c").order_by("key")):
        response = ResponseFactory(case=case, candidate=candidate, setting="chat", sample=0, text="Advice.")
        step = PipelineStep.objects.create(
            run=run, case=case, stage="response", key="0", state="done", output={},
            call=call_of(run, 2_000) if i else earlier,
        )  # fmt: skip
        GeneratedResponse.objects.create(step=step, response=response)
        JudgeRunItem.objects.create(run=judge_run, response=response)
        AcuityReading.objects.create(
            scale=scale, case=case, candidate=candidate, format="chat", sample=0, source="judge", judge_run=judge_run,
            response=response, created_at=timezone.now(), state="level", level=i % 4, quote="Ad", quote_start=0,
            quote_end=2,
        )  # fmt: skip
    rows = frontier(client, benchmark)
    chat, qa = rows["P", "chat"], rows["P", "qa"]
    assert [chat[name] for name in ("source", "n_answers", "n_paid", "latency_median")] == ["judge", "12", "11", "2.0"]
    # 11,000 · 1 + 2,200 · 5 millionths over the 11 answers that it paid for.
    assert float(chat["price_1000"]) == pytest.approx(2.0)
    assert float(qa["price_1000"]) == pytest.approx(1.0)
    # Formats are no rivals.
    assert (chat["latency_frontier"], qa["latency_frontier"]) == ("true", "true")


def test_what_has_no_price(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    first, second, third = (CandidateFactory(benchmark=benchmark, name=name) for name in "ABC")
    run = asking_run(scale, first, calls=12, tokens_in=12_000, config=prices(1, 1))
    choose(run, RIGHT, [call_of(run, 10) for _ in range(N)])
    run = asking_run(scale, second, calls=12, tokens_in=12_000, config=prices(1, 1, "EUR"), asks=["other"])
    choose(run, RIGHT, [call_of(run, None) for _ in range(N)])
    run = asking_run(scale, third, calls=12, tokens_in=12_000, asks=["a third"])
    choose(run, RIGHT, [call_of(run, 10) for _ in range(N)])
    rows = {name: row for (name, _format), row in frontier(client, benchmark).items()}
    several = "price_frontier: prices in several currencies: EUR, USD"
    assert rows["A"]["note"] == several
    assert rows["B"]["note"] == f"latency_median: no latency is recorded; {several}"
    assert rows["C"]["note"] == "price_1000: no price of the tokens is known"
    assert [rows[name]["price_frontier"] for name in "ABC"] == ["", "", ""]
    assert [rows[name]["latency_frontier"] for name in "ABC"] == ["true", "", "true"]


def test_a_run_without_a_counted_answer_moves_nothing(scale: AcuityScale, benchmark: Benchmark, client: Client) -> None:
    candidate = CandidateFactory(benchmark=benchmark, name="P")
    run = asking_run(scale, candidate, calls=12, tokens_in=12_000, tokens_out=1_200, config=prices(1, 5))
    choose(run, RIGHT, [call_of(run, 10) for _ in range(N)])
    before = frontier(client, benchmark)["P", "qa"]
    # 12,000 · 1 + 1,200 · 5 millionths over 12 answers.
    assert float(before["price_1000"]) == pytest.approx(1.5)
    # On a case that the set has not, by another model, and without a price.
    other = asking_run(scale, candidate, calls=1, tokens_in=900, tokens_out=90, asks=["another"])
    case = CaseFactory(benchmark=benchmark, key="e00")
    PipelineStep.objects.create(
        run=other, case=case, stage="choice", key="0", state="done", output={}, call=call_of(other, 10)
    )
    AcuityReading.objects.create(
        scale=scale, case=case, candidate=candidate, pipeline_run=other, source="parsed",
        format="qa", sample=0, state="level", level=0, descending=False, created_at=timezone.now(),
    )  # fmt: skip
    assert frontier(client, benchmark)["P", "qa"] == before
