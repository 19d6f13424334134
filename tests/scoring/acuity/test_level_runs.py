"""Runs of a judge that reads levels of care, against an endpoint that may misbehave."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.models import Benchmark, Case, Response
from scoring.judges.juries import judge_names
from scoring.models import AcuityReading, JudgeCall, JudgeRun, JudgeRunItem, Verdict
from scoring.runs.services import RunFrame, create_run, frame_size
from scoring.selectors.raters import UnknownRater, resolve_rater
from tests.factories import BenchmarkFactory, BenchmarkRoleFactory
from tests.scoring.acuity.judging import ADVICE, LEVELS, advised_benchmark, level_judge, start, work
from tests.scoring.conftest import Loopback, chat_judge

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Tasks are counted and not sent: these tests do the worker's part themselves."""
    from scoring import tasks

    sent: list[Any] = []
    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: sent.append(ids))
    return sent


@pytest.fixture
def advised(db: None) -> Benchmark:
    return advised_benchmark()


def test_every_response_gets_the_level_that_it_advises(advised: Benchmark, loopback: Loopback) -> None:
    run = start(advised, level_judge(advised, loopback))
    assert (run.purpose, run.expected, run.items.filter(rubric=None).count()) == ("acuity", 6, 6)
    work(run)
    assert (run.status, run.error, loopback.requests()) == ("finished", "", 6)
    assert not Verdict.objects.exists()
    readings = AcuityReading.objects.select_related("response")
    assert readings.count() == 6
    for reading in readings:
        assert reading.response is not None
        level, escalation = ADVICE[reading.response.text]
        assert (reading.level, reading.escalation) == (level, escalation)
        assert (reading.case, reading.candidate) == (reading.response.case, reading.response.candidate)
        assert (reading.source, reading.format, reading.judge_run) == ("judge", "chat", run)
        if level is not None:
            assert reading.response.text[reading.quote_start : reading.quote_end] == reading.quote != ""
    states = {reading.response.text: reading.state for reading in readings if reading.response}
    assert states["Since when have you had this?"] == "no-level"
    assert states["I'm sorry, I cannot help with that."] == "refused"
    work(run)  # a task that comes twice
    assert (loopback.requests(), AcuityReading.objects.count()) == (6, 6)


def test_the_judge_sees_nothing_but_texts_and_levels(advised: Benchmark, loopback: Loopback) -> None:
    work(start(advised, level_judge(advised, loopback), RunFrame(candidates=("beta",), sample=1)))
    with urllib.request.urlopen(loopback.url.removesuffix("/v1") + "/last") as answer:
        sent = json.load(answer)
    response = AcuityReading.objects.get().response
    assert response is not None
    text = json.dumps(sent["messages"], ensure_ascii=False)
    assert response.text.replace("\n", "\\n") in text
    for hidden in ("alpha", "beta", response.public_id, "levels ok"):
        assert hidden not in text


@pytest.mark.parametrize("model", ["level-refuses", "level-two", "level-made-up", "duplicate-key", "null", "refusal"])
def test_what_is_no_reading_is_asked_again_and_then_invalid(advised: Benchmark, loopback: Loopback, model: str) -> None:
    run = work(start(advised, level_judge(advised, loopback, model), RunFrame(sample=2)))
    assert run.status == "finished"
    assert loopback.requests() == 4  # asked again once
    readings = AcuityReading.objects.all()
    assert [(reading.state, reading.level, reading.quote) for reading in readings] == [("invalid", None, "")] * 2
    assert JudgeCall.objects.filter(run=run).exclude(error_kind="").count() == 4


def test_a_claim_of_emergency_counts_where_the_judge_quotes_it(advised: Benchmark, loopback: Loopback) -> None:
    run = work(start(advised, level_judge(advised, loopback, "level-alarmed")))
    assert Counter(run.acuity_readings.values_list("level", flat=True)) == {3: 6}


def test_an_endpoint_that_does_not_answer_leaves_readings_missing(advised: Benchmark, loopback: Loopback) -> None:
    judge = level_judge(advised, loopback, "slow", timeout_s=0.2, attempts=1)
    run = work(start(advised, judge, RunFrame(sample=2)))
    assert (run.status, run.acuity_readings.count()) == ("incomplete", 0)
    assert "timeout" in run.error


def test_replicates_are_readings_of_their_own(advised: Benchmark, loopback: Loopback) -> None:
    run = work(start(advised, level_judge(advised, loopback, slices=2), replicates=3))
    assert (run.status, run.expected) == ("finished", 18)
    assert Counter(run.acuity_readings.values_list("replicate", flat=True)) == {0: 6, 1: 6, 2: 6}


def test_a_budget_is_kept(advised: Benchmark, loopback: Loopback) -> None:
    # A request is counted as 400 tokens in, and reserved by its length; one costs more than 0.0005.
    judge = level_judge(advised, loopback, price_in=1.0, price_out=1.0, concurrency=1, max_tokens=64)
    run = work(start(advised, judge, budget=Decimal("0.003")))
    assert run.status == "incomplete"
    assert 0 < run.acuity_readings.count() < 6


def test_a_frame_holds_answers_to_patients(advised: Benchmark) -> None:
    assert frame_size(benchmark=advised, frame=RunFrame(), replicates=2, levels=True).verdicts == 12
    Case.objects.filter(key="case-0").update(excluded_at=timezone.now(), exclusion_reason="Unclear")
    assert frame_size(benchmark=advised, frame=RunFrame(), levels=True).responses == 4


def test_a_judge_of_levels_stays_on_its_benchmark(advised: Benchmark, loopback: Loopback) -> None:
    other = BenchmarkFactory(slug="other")
    with pytest.raises(DomainError, match="another benchmark"):
        create_run(benchmark=other, judge=level_judge(advised, loopback), frame=RunFrame(), by=None, at=timezone.now())


def test_a_run_of_levels_is_no_rater_and_its_judge_no_member(advised: Benchmark, loopback: Loopback) -> None:
    run = work(start(advised, level_judge(advised, loopback)))
    with pytest.raises(UnknownRater):
        resolve_rater(advised, f"run:{run.public_id}")
    with pytest.raises(UnknownRater):
        resolve_rater(advised, "levels ok")
    assert "levels ok" not in judge_names(advised)
    assert not JudgeRun.objects.graded().exists()


def test_a_name_belongs_to_one_task(advised: Benchmark, loopback: Loopback) -> None:
    level_judge(advised, loopback, name="both")
    with pytest.raises(DomainError, match="another kind"):
        chat_judge(advised, loopback, name="both")
    assert level_judge(advised, loopback, name="both").version == 2


@pytest.mark.parametrize("purpose", ["acuity", "grade"])
def test_items_have_no_rubric_exactly_where_levels_are_read(
    answered: Benchmark, loopback: Loopback, purpose: str
) -> None:
    judge = level_judge(answered, loopback) if purpose == "acuity" else chat_judge(answered, loopback)
    run = start(answered, judge, RunFrame(sample=2))
    item = run.items.first()
    assert item is not None
    other = start(answered, chat_judge(answered, loopback, name="another"), RunFrame(sample=1)).items.get().rubric_id
    with pytest.raises(IntegrityError, match="if and only if"), transaction.atomic():
        JudgeRunItem.objects.filter(pk=item.pk).update(rubric=other if purpose == "acuity" else None)


def test_the_command_judges_and_exports(advised: Benchmark, loopback: Loopback, tmp_path: Path) -> None:
    level_judge(advised, loopback, name="levels")
    with pytest.raises(CommandError, match="levels"):  # by default criteria are asked about
        call_command("judge", benchmark="advised", judge="levels")
    output = StringIO()
    call_command("judge", benchmark="advised", judge="levels", task="acuity", stdout=output)
    run = JudgeRun.objects.get()
    assert f"run:{run.public_id}: 6 readings on 6 responses" in output.getvalue()
    work(run)
    out = tmp_path / "readings.csv"
    call_command("export_readings", benchmark="advised", run=run.public_id, out=out, stdout=output)
    lines = out.read_text().splitlines()
    assert lines[0].startswith("case,candidate,format,sample,replicate,level,escalation,condition,quote,quote_start")
    assert "case-0,beta,chat,0,0,primary-care,emergency" in lines[2]
    assert f"{out}: 6 readings by levels" in output.getvalue()
    assert len(Response.objects.all()) == 7


def test_the_api_makes_and_runs_it(advised: Benchmark, loopback: Loopback, client: Client) -> None:
    client.force_login(BenchmarkRoleFactory(benchmark=advised, role="researcher").user)
    config = {"endpoint": loopback.url, "model": "ok", "scale": "four"}
    address = "/api/v1/benchmarks/advised"

    def post(path: str, **values: Any) -> Any:
        return client.post(f"{address}/{path}/", json.dumps(values), content_type="application/json")

    judge = post("judges", name="levels", kind="chat", task="acuity", config=config).json()
    assert (judge["task"], judge["scale"]) == ("acuity", "four")
    assert post("judges", name="x", kind="trained", task="acuity", config={}).status_code == 400
    assert post("judges", name="x", kind="chat", task="acuity", config={**config, "scale": "no"}).status_code == 422
    run = post("runs", judge=judge["id"])
    assert (run.status_code, run.json()["expected"], run.json()["purpose"]) == (201, 6, "acuity")
    work(JudgeRun.objects.get())
    progress = client.get(f"{address}/runs/{run.json()['id']}/").json()["progress"]
    assert [progress[name] for name in ("done", "level", "no_level", "refused", "invalid")] == [6, 4, 1, 1, 0]
    readings = client.get(f"{address}/acuity/readings/").json()["results"]
    assert Counter(reading["level"] for reading in readings) == {None: 2, **dict.fromkeys(LEVELS, 1)}
