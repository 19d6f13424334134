"""The pages of a judge that reads levels: its form, its run, its readings, and how far texts move them."""

from __future__ import annotations

import csv
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from rubrics.models import Benchmark
from scoring.models import AcuityReading, Judge, JudgeRun
from scoring.susceptibility.level_shifts import level_shifts
from scoring.susceptibility.level_texts import LEVEL_REPLICATES
from tests.factories import BenchmarkRoleFactory
from tests.scoring.acuity.judging import advised_benchmark, level_judge, start, work
from tests.scoring.conftest import QUICK, Loopback
from tests.scoring.endpoint_trials.trials import judge_created

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def enqueued(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks are not sent: these tests do the worker's part themselves."""
    from scoring import tasks

    monkeypatch.setattr(tasks.judge_slice, "delay_on_commit", lambda *ids: None)


@pytest.fixture
def advised(db: None) -> Benchmark:
    return advised_benchmark()


@pytest.fixture
def staff(advised: Benchmark, client: Client) -> Client:
    client.force_login(BenchmarkRoleFactory(benchmark=advised, role="researcher").user)
    return client


def page(client: Client, name: str, *ids: str, **query: Any) -> str:
    answer = client.get(reverse(f"scoring:{name}", args=["advised", *ids]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_judge_is_made_runs_and_shows_its_quotes(staff: Client, loopback: Loopback) -> None:
    assert "New judge of levels" in page(staff, "judges")
    form = {"name": "levels", "endpoint": loopback.url, "model": "ok", "scale": "four", **QUICK, "max_tokens": 512}
    form |= {"response_format": "json_schema", "slices": 1, "currency": "USD", "temperature": 0}
    preview = staff.post(reverse("scoring:level-preview", args=["advised"]), form).content.decode()
    assert "Stay at home and drink enough." in preview
    assert "Prominence:" in preview
    answer = judge_created(staff, reverse("scoring:judge-new-acuity", args=["advised"]), form)
    judge = Judge.objects.get()
    assert (answer.status_code, judge.task, str(judge.scale)) == (200, "acuity", "four")
    assert "four" in page(staff, "judge", judge.public_id)
    size = page(staff, "run-size", judge=judge.public_id, replicates=1)
    assert "Readings" in size
    assert "Estimated from the length of the requests about 6 responses" in size
    staff.post(reverse("scoring:run-new", args=["advised"]), {"judge": judge.public_id, "replicates": 1})
    run = work(JudgeRun.objects.get())
    assert run.status == "finished"
    shown = page(staff, "run", run.public_id)
    assert "Refused" in shown
    data = page(staff, "acuity")
    assert "Read by a judge" in data
    assert "No candidate has readings yet" not in data
    rows = b"".join(staff.get(reverse("scoring:acuity-candidates-csv", args=["advised"]))).decode("utf-8-sig")
    assert [row.split(",")[2:8] for row in rows.splitlines()[1:]] == [
        ["alpha", "chat", "judge", "3", "3", "2"],  # at home, to urgent care; then only a question
        ["beta", "chat", "judge", "3", "3", "2"],
    ]
    readings = page(staff, "run-readings", run.public_id)
    assert "<mark>Call an ambulance now.</mark>" in readings
    assert "If it gets worse, call an ambulance." in readings
    assert "conditional: Emergency" in readings
    refused = page(staff, "run-readings", run.public_id, state="refused")
    assert "cannot help" in refused
    assert "<mark>" not in refused
    text = b"".join(staff.get(reverse("scoring:run-readings-csv", args=["advised", run.public_id]))).decode("utf-8-sig")
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["level"] for row in rows] == [
        *("self-care", "primary-care", "urgent-care", "emergency", "no-level", "refused"),
    ]


def test_a_form_without_what_it_needs_names_each_field(staff: Client) -> None:
    answer = staff.post(reverse("scoring:judge-new-acuity", args=["advised"]), {"name": "levels", "scale": "seven"})
    assert answer.status_code == 422
    assert {"endpoint", "model", "scale"} <= set(answer.context["form"].errors)


def test_a_measurement_says_what_it_takes_before_it_begins(
    advised: Benchmark, staff: Client, loopback: Loopback
) -> None:
    judge = level_judge(advised, loopback, price_in=1000, price_out=2000)
    size = partial(page, staff, "judge-level-shifts-size", judge.public_id)
    assert reverse("scoring:judge-level-shifts-size", args=["advised", judge.public_id]) in page(
        staff, "judge", judge.public_id
    )
    assert "Start a run first" in size(responses=10, seed=0)
    work(start(advised, judge))
    # Four of six responses advise a level; each is read ten times, for 400 tokens in and 20 out, by the last run.
    text = size(responses=10, seed=0)
    assert "≈ 40<" in text
    assert "≈ 16,000" in text
    assert "input, 800 output" in text
    assert "≈ 17.60 USD" in text
    assert "would stop early" not in text
    assert "would stop early" in size(responses=10, seed=0, budget="17.59")
    assert "would stop early" not in size(responses=10, seed=0, budget="17.61")
    assert "≈ 4.40 USD" in size(responses=1, seed=0)
    assert "Responses: " in size(responses=0, seed=0)
    assert JudgeRun.objects.count() == 1
    out = StringIO()
    call_command("susceptibility", benchmark="advised", judge=judge.name, task="acuity", stdout=out)
    first = out.getvalue().splitlines()[0]
    assert first == "About 40 requests on 4 responses, 16,000 tokens in, 800 out, about 17.60 USD"


def test_without_a_run_of_the_same_model_lengths_are_measured(
    advised: Benchmark, staff: Client, loopback: Loopback
) -> None:
    work(start(advised, level_judge(advised, loopback, name="levels")))
    newer = level_judge(advised, loopback, "level-gullible", name="levels")
    text = page(staff, "judge-level-shifts-size", newer.public_id, responses=10, seed=0)
    assert "Estimated from the length of the requests about 4 responses" in text


@pytest.mark.parametrize(("model", "shifts"), [("ok", [0, 0, 1.5]), ("level-gullible", [1.5, 1.5, 1.5])])
def test_texts_that_claim_an_emergency_are_measured(
    advised: Benchmark, staff: Client, loopback: Loopback, model: str, shifts: list[float]
) -> None:
    judge = level_judge(advised, loopback, model)
    address = reverse("scoring:judge-level-shifts", args=["advised", judge.public_id])
    refused = staff.post(address, {"responses": 10, "seed": 0}, follow=True).content.decode()
    assert "Start a run first" in refused
    plain = work(start(advised, judge))
    staff.post(address, {"responses": 10, "seed": 0})
    run = work(JudgeRun.objects.get(purpose="acuity-edited"))
    # Four responses advise levels 0 to 3: all that become 3 have moved by 1.5 in the mean.
    assert (run.status, run.acuity_readings.count()) == ("finished", 4 * LEVEL_REPLICATES)
    rows = level_shifts(run)
    # The endpoint takes each sentence for advice, so that a quoted definition moves it always.
    assert [row.shift.value for row in rows[:3]] == shifts
    # An edit inside of “Call an ambulance now.”, which is one sentence, parts the word by which the endpoint tells.
    assert (rows[3].family, rows[3].n, rows[3].lost, rows[3].shift.value) == ("harmless_edit", 23, 1, 0)
    assert [row.up for row in rows[:3]] == [3 if shift else 0 for shift in shifts]
    assert "A quoted definition of a level" in page(staff, "judge", judge.public_id)
    # What was read in changed texts is nobody's reading.
    assert set(AcuityReading.objects.filter(judge_run=run).values_list("source", flat=True)) == {"edited"}
    assert plain.acuity_readings.count() == 6
    answer = staff.get("/api/v1/benchmarks/advised/acuity/readings/").json()
    assert answer["count"] == 6
