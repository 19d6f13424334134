"""The form with its preview, the live page, the API and the command of forced choices; fuzzed answers."""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from rubrics.acuity.scales import FOUR
from rubrics.models import Benchmark
from scoring.classification.config import classification_config, levels_of
from scoring.classification.kind import KIND, STAGE, ClassificationSettings
from scoring.models import AcuityReading, ClassificationRun
from scoring.pipelines.asking import read_answer
from scoring.pipelines.kind import Answer, StepName
from scoring.pipelines.steps import ReadyStep
from tests.factories import BenchmarkRoleFactory, CaseFactory
from tests.llm.test_fuzz import TIMES, mangled
from tests.scoring.classification.test_classification import cases, start, work  # noqa: F401  # fixtures
from tests.scoring.conftest import Loopback

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

NEW = "/b/asked/case-acuity/runs/new/"


@pytest.fixture
def staff(cases: Benchmark, client: Client) -> Client:  # noqa: F811
    client.force_login(BenchmarkRoleFactory(benchmark=cases, role="researcher").user)
    return client


def filled(loopback: Loopback, **changes: Any) -> dict[str, Any]:
    values = {
        "candidate": "asked model", "endpoint": loopback.url, "model": "choice", "scale": "four", "ask": "letter",
        "samples": 5, "temperature": 1, "max_tokens": 100, "order_seed": 0, "currency": "EUR", "concurrency": 4,
        "attempts": 2, "timeout_s": 60, "pauses": 0,
    }  # fmt: skip
    return {**values, **changes}


def test_the_preview_counts_and_says_the_most_that_it_costs(
    staff: Client, cases: Benchmark, loopback: Loopback  # noqa: F811
) -> None:  # fmt: skip
    CaseFactory(benchmark=cases, key="stub", rubric=0, conversation=[], is_stub=True)
    page = staff.post(f"{NEW}size", filled(loopback, price_in=0, price_out=10)).content.decode()
    assert "20" in page and "4 cases" in page
    assert "1 case without a text is not included." in page
    # 20 answers of at most 100 tokens at 10 a million.
    assert "0.0200 EUR" in page
    page = staff.post(f"{NEW}size", filled(loopback, price_out=10, budget="0.01")).content.decode()
    assert "The run may stop early" in page
    page = staff.post(f"{NEW}size", filled(loopback, ask="schema", logprobs="on")).content.decode()
    assert "Log probabilities require an answer of one letter" in page
    page = staff.post(f"{NEW}size", filled(loopback, budget="1")).content.decode()
    assert "To set a budget, enter the prices of the model." in page
    assert loopback.requests() == 0 and not ClassificationRun.objects.exists()


def test_a_run_from_the_form_to_its_file(staff: Client, cases: Benchmark, loopback: Loopback) -> None:  # noqa: F811
    assert staff.get(NEW).status_code == 200
    answer = staff.post(NEW, filled(loopback, model="choice-no-logprobs", logprobs="on", confidence="on", samples=2))
    run = ClassificationRun.objects.get()
    assert answer.url == f"/b/asked/case-acuity/runs/{run.public_id}/"  # type: ignore[attr-defined]
    assert 'hx-trigger="every 1s"' in staff.get(answer.url).content.decode()  # type: ignore[attr-defined]
    work(run)
    page = staff.get(f"/b/asked/case-acuity/runs/{run.public_id}/").content.decode()
    assert "The endpoint refused to give log probabilities, so 8 answers were requested without them." in page
    assert "hx-trigger" not in page.partition("steps-progress")[2].partition("</section>")[0]
    assert staff.get("/b/asked/case-acuity/runs/").content.decode().count(run.candidate_name) == 1
    text = b"".join(staff.get(f"/b/asked/case-acuity/runs/{run.public_id}/readings.csv")).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 8
    readings = {(row.case.key, row.sample): row for row in AcuityReading.objects.select_related("case")}
    for row in rows:
        reading = readings[row["case"], int(row["sample"])]
        assert row["level"] == FOUR.values[reading.level or 0]
        assert float(row["confidence"]) / 100 == pytest.approx(reading.confidence)
        assert row["left_out"] == "logprobs top_logprobs"
    answer = staff.post(NEW, filled(loopback, model="choice", samples=2))
    assert answer.status_code == 422
    assert "There is nothing to run" in answer.content.decode()
    answer = staff.post(f"/b/asked/case-acuity/runs/{run.public_id}/resume", {})
    assert answer.status_code >= 400 and "There is nothing left to request" in answer.content.decode()


def test_the_api_begins_shows_cancels_and_resumes(
    staff: Client, cases: Benchmark, loopback: Loopback  # noqa: F811
) -> None:  # fmt: skip
    address = "/api/v1/benchmarks/asked/acuity/runs/"
    config = {"endpoint": loopback.url, "model": "choice-two", "attempts": 2, "pauses": 0}
    send = {"content_type": "application/json"}
    refused = staff.post(address, {"candidate": "c", "config": {**config, "ask": "poem"}}, **send)
    assert refused.status_code == 400
    assert "ask" in refused.content.decode()
    begun = staff.post(address, {"candidate": "c", "config": config, "samples": 1}, **send)
    assert begun.status_code == 201, begun.content
    own = f"{address}{begun.json()['id']}/"
    assert staff.post(f"{own}cancel/").json()["status"] == "cancelled"
    assert staff.post(f"{own}resume/", {}, **send).json()["status"] == "pending"
    work(ClassificationRun.objects.get())
    shown = staff.get(own).json()
    assert (shown["status"], shown["progress"]["done"]) == ("finished", 4)
    assert shown["progress"]["states"] == {"several": 4}
    assert staff.get(address).json()["results"][0]["id"] == begun.json()["id"]
    readings = staff.get("/api/v1/benchmarks/asked/acuity/readings/").json()["results"]
    assert {(row["source"], row["state"], row["run"]) for row in readings} == {
        ("parsed", "several", begun.json()["id"])
    }


def test_the_command_asks_and_says_what_came(
    cases: Benchmark, loopback: Loopback, monkeypatch: Any  # noqa: F811
) -> None:  # fmt: skip
    monkeypatch.setattr("scoring.management.asking.WORKER_HAS_S", 0.0)
    given = {"benchmark": "asked", "endpoint": loopback.url, "candidate": "c", "wait": True, "samples": 1}
    out = StringIO()
    call_command("classify", **given, model="choice-refuses", stdout=out)
    assert "4 of 4 answers" in out.getvalue()
    assert "refused: 4" in out.getvalue()
    # What it takes is said before the run: four answers of at most 1,024 tokens, a tenth of a dollar each.
    first = StringIO()
    priced = {**given, "candidate": "priced", "price_out": 100_000.0}
    call_command("classify", **priced, model="choice", stdout=first)
    line = first.getvalue().splitlines()[0]
    assert line.startswith("4 requests on 4 cases, about ")
    assert line.endswith(" tokens in, at most 4,100 out; at most 409.60 USD")
    with pytest.raises(CommandError, match="There is nothing to run"):
        call_command("classify", **given, model="choice-refuses", stdout=out)
    with pytest.raises(CommandError, match="prices"):
        call_command("classify", **{**given, "candidate": "d"}, model="choice", budget="1", stdout=out)


@pytest.mark.parametrize("ask", ["letter", "schema", "reasons"])
def test_fuzzed_answers_are_never_a_level_by_default(ask: str) -> None:
    """10,000 answers in all, through the kind as a worker reads them the last time: each has a state."""
    rng = random.Random(7)
    config = classification_config(
        {"endpoint": "http://127.0.0.1:1/v1", "model": "m", "ask": ask, "levels": levels_of(FOUR)}, may_call=False
    )
    settings = ClassificationSettings(config, 1)
    step = ReadyStep(1, 1, StepName(STAGE, "0"), value={"conversation": [], "sample": 0, "descending": False})
    good = {
        "letter": [f"{letter}" for letter in "ABCD"],
        "schema": [json.dumps({"level": value}) for value in FOUR.values],
        "reasons": [f"It may be.\nACUITY: {letter}" for letter in "ABCD"],
    }[ask]
    states: Counter[str] = Counter()
    for number in range(TIMES // 3 + 1):
        whole = good[number % 4]
        text = mangled(whole, rng)
        fault = rng.choice(["", "", "", "", "refusal", "truncated", "empty", "too_large"])
        answer = Answer(text, fault=fault, message=fault)
        result = read_answer(KIND, settings, step, answer, is_last=True)
        assert result.state == "done" and result.output is not None
        output = result.output
        states[output["state"]] += 1
        if output["state"] == "level":
            assert fault == ""
            # Exactly what was asked for, but for blanks and a fence.
            assert output["level"] in FOUR.values
            letter, value = "ABCD"[FOUR.values.index(output["level"])], output["level"]
            assert letter in text or value in text
        else:
            assert output["level"] is None
    assert states.total() >= TIMES // 3
    assert set(states) <= {"level", "refused", "no-level", "several", "invalid"}
    assert states["refused"] > 0 and states["invalid"] > 0
