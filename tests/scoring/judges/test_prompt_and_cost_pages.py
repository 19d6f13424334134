"""The prompt beside the form that makes a judge, and what a run will cost and has cost on its pages."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from rubrics.models import Benchmark, Response
from scoring.models import JudgeRun, RunSlice
from scoring.runs.services import RunFrame, create_run
from tests.factories import BenchmarkFactory, VerdictFactory
from tests.scoring.conftest import Loopback, chat_judge
from tests.scoring.test_pages import BASE, client_of, judged, text_of

pytestmark = pytest.mark.django_db

PROMPT = {"prompt": "healthbench", "system": "", "user": "", "criteria_per_request": "one"}
PRICES = {"price_in": 2.5, "price_out": 10.0}


def preview(benchmark: Benchmark, **changes: str) -> str:
    return text_of(client_of(benchmark).post(f"{BASE}new/chat/preview", {**PROMPT, **changes}))


@pytest.mark.slow
def test_a_prompt_is_shown_on_a_real_response_before_the_judge_is_made(answered: Benchmark) -> None:
    response = Response.objects.order_by("pk")[0]
    shown = preview(answered)
    assert response.text[:60] in shown
    assert "Exact text of a request about criterion 1" in shown
    assert "all 3 criteria" in preview(answered, criteria_per_request="all")
    pasted = preview(answered, prompt="pasted", user="Look: {{response}} Is it so: {{criterion}}")
    assert "Look:" in pasted
    assert response.text[:60] in pasted
    assert re.search(r"RESPONSE [0-9a-f]{24}", pasted)
    assert "The criterion is missing" in preview(answered, prompt="pasted", user="{{response}}")
    # What somebody wrote is not thrown away because another prompt stands in the menu.
    assert "You have written your own prompt" in preview(answered, user="{{response}} {{criterion}}")


def test_without_responses_the_preview_says_so() -> None:
    benchmark = BenchmarkFactory(slug="answered")
    assert "No prompt to preview yet" in preview(benchmark)


@pytest.mark.slow
def test_the_form_of_a_run_says_what_it_would_take(answered: Benchmark, loopback: Loopback) -> None:
    client = client_of(answered)
    judge = chat_judge(answered, loopback, requests_per_minute=60, **PRICES)
    chat_judge(answered, loopback, name="free")
    from scoring.models import Judge

    Judge.objects.update(benchmark=answered)
    form = {"judge": judge.public_id, "replicates": "1"}
    shown = text_of(client.get(f"{BASE}runs/size", form))
    assert "Estimated from the length of the requests about 12 responses" in shown
    assert "USD" in shown
    assert "36 s" in shown  # 36 requests at one a second
    assert "exceeds the budget" in text_of(client.get(f"{BASE}runs/size", {**form, "budget": "0.0001"}))
    assert "Responses 4" in text_of(client.get(f"{BASE}runs/size", {**form, "sample": "4"}))
    free = Judge.objects.get(name="free")
    refused = text_of(client.get(f"{BASE}runs/size", {**form, "judge": free.public_id, "budget": "1"}))
    assert "This judge has no prices" in refused


@pytest.mark.slow
def test_a_run_shows_what_it_spent_and_goes_on_with_another_budget(answered: Benchmark, loopback: Loopback) -> None:
    run = create_run(
        benchmark=answered,
        judge=chat_judge(answered, loopback, **PRICES),
        frame=RunFrame(),
        by=None,
        at=timezone.now(),
        budget=Decimal(2),
    )
    RunSlice.objects.filter(run=run).update(status="stopped", calls=10, tokens_in=400_000, tokens_out=20_000)
    JudgeRun.objects.update(status="incomplete", error="The budget is used up.", finished_at=timezone.now())
    client = client_of(answered)
    page = text_of(client.get(f"{BASE}runs/{run.public_id}/"))
    assert "1.20 USD" in page  # 0.4 million × 2.50 + 0.02 million × 10.00
    assert "of at most 2.00 USD" in page
    refused = client.post(f"{BASE}runs/{run.public_id}/resume", {"budget": "-3"})
    assert "greater than or equal to" in text_of(refused)
    client.post(f"{BASE}runs/{run.public_id}/resume", {"budget": "3.5"})
    run.refresh_from_db()
    assert (run.status, run.budget) == ("pending", Decimal("3.5"))


@pytest.mark.slow
def test_a_paused_run_says_when_it_is_tried_again_and_can_be_tried_now(answered: Benchmark, loopback: Loopback) -> None:
    run = create_run(
        benchmark=answered, judge=chat_judge(answered, loopback), frame=RunFrame(), by=None, at=timezone.now()
    )
    RunSlice.objects.filter(run=run).update(resume_at=timezone.now(), pauses=1)
    JudgeRun.objects.update(status="paused", error="The endpoint is not responding: 20 requests in a row failed.")
    client = client_of(answered)
    page = text_of(client.get(f"{BASE}runs/{run.public_id}/"))
    for words in ("Paused", "Next attempt", "is not responding", "Retry now", "Cancel run"):
        assert words in page
    fragment: Any = client.get(f"{BASE}runs/{run.public_id}/progress?status=running")
    assert fragment["HX-Refresh"] == "true"  # it was running when the page was drawn: the buttons are others now
    assert "HX-Refresh" not in client.get(f"{BASE}runs/{run.public_id}/progress?status=paused")
    client.post(f"{BASE}runs/{run.public_id}/resume")
    run.refresh_from_db()
    assert run.status == "pending"
    assert run.slices.get().resume_at is None


@pytest.mark.slow
def test_a_run_says_how_steady_its_answers_are(answered: Benchmark) -> None:
    run = judged(answered, lambda _n: None)
    JudgeRun.objects.filter(pk=run.pk).update(replicates=3, status="finished", finished_at=timezone.now())
    item = run.items.order_by("pk")[0]
    outcomes = {0: ("met", "met", "met"), 1: ("met", "not_met", "met"), 2: ("not_met", "invalid", "not_met")}
    for place, criterion in enumerate(item.rubric.items.order_by("position").values_list("criterion", flat=True)):
        for replicate, outcome in enumerate(outcomes[place]):
            VerdictFactory(
                run=run, response=item.response, criterion_id=criterion, replicate=replicate, outcome=outcome
            )
    page = text_of(client_of(answered).get(f"{BASE}runs/{run.public_id}/"))
    assert "66.7% the same verdict every time on 2 of 3 pairs" in page


@pytest.mark.slow
def test_a_judge_that_seldom_gives_a_verdict_is_warned_of(answered: Benchmark) -> None:
    broken = judged(answered, lambda n: "invalid" if n < 2 else "met")  # 2 of 36 are above one in twenty
    fine = judged(answered, lambda n: "invalid" if n < 1 else "met", judge=broken.judge)
    client = client_of(answered)
    assert "of the answers contained no verdict" in text_of(client.get(f"{BASE}runs/{broken.public_id}/"))
    assert "of the answers contained no verdict" not in text_of(client.get(f"{BASE}runs/{fine.public_id}/"))


@pytest.mark.parametrize("sample", [0, -1])
def test_a_sample_of_nothing_is_refused(answered: Benchmark, loopback: Loopback, sample: int) -> None:
    judge = chat_judge(answered, loopback)
    with pytest.raises(CommandError, match="at least 1"):
        call_command("judge", benchmark="answered", judge=judge.name, sample=sample)
    payload = {"judge": judge.public_id, "frame": {"sample": sample}}
    refused = client_of(answered).post("/api/v1/benchmarks/answered/runs/", payload, content_type="application/json")
    assert refused.status_code == 400
    assert not JudgeRun.objects.exists()
