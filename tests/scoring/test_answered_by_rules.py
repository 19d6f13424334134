"""A run that rules answered says so: by the handshake, by the model that answers name, on its page and in reports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agreement.models import Report
from agreement.reports.figures import figures_of
from agreement.reports.files import figure_bytes, table_text
from agreement.reports.methods import methods_of
from agreement.services import create_report
from agreement.services import run as compute_report
from consilium.llm.rules.completion import MODELS, completion, envelope
from consilium.llm.rules.names import MODEL
from consilium.llm.rules.server import serving
from rubrics.models import Benchmark, Case
from scoring.judges.services import create_chat_judge
from scoring.models import EndpointCall, JudgeRun, PipelineRun, Verdict
from scoring.pipelines.runs import replay_run
from scoring.runs.continuing import continue_run
from scoring.runs.services import RunFrame, create_run
from scoring.work.slice import work_on_slice
from tests.factories import BenchmarkRoleFactory, UserFactory
from tests.rubrics.versions.new_versions import reword
from tests.scoring.conftest import QUICK, Loopback, chat_judge
from tests.scoring.pipelines.verdict_chain import begin, work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def met(request: Mapping[str, Any]) -> dict[str, Any]:
    return envelope(request, json.dumps({"explanation": "x", "criteria_met": True}))


def judged(benchmark: Benchmark, address: str, model: str = MODEL) -> JudgeRun:
    """A finished run of a judge over all responses."""
    config = {**QUICK, "endpoint": f"http://{address}/v1", "model": model}
    judge = create_chat_judge(benchmark=benchmark, name="ruled", config=config, by=None)
    run = create_run(benchmark=benchmark, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now)
    run.refresh_from_db()
    assert run.status == "finished", run.error
    return run


@pytest.fixture
def ruled(answered: Benchmark, settings: Any) -> JudgeRun:
    """A run that rules answered, over twelve responses with three criteria each."""
    with serving(completion, MODELS) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        return judged(answered, address)


def researcher(benchmark: Benchmark) -> Client:
    user = UserFactory()
    BenchmarkRoleFactory(benchmark=benchmark, user=user, role="researcher")
    client = Client()
    client.force_login(user)
    return client


def test_the_handshake_alone_marks_run_and_calls(answered: Benchmark, settings: Any) -> None:
    """The endpoint's models have names of their own, and its answers name these."""
    with serving(met, ("plain", "plain-strong")) as address:
        settings.JUDGE_ALLOWED_HOSTS = [address]
        run = work(begin(answered, f"http://{address}/v1", fast="plain", strong="plain-strong"))
    assert (run.status, run.endpoint_kind) == ("finished", "rules")
    calls = EndpointCall.objects.filter(run=run)
    assert set(calls.values_list("model", "endpoint_kind")) == {("plain", "rules"), ("plain-strong", "rules")}
    cached = work(begin(answered, f"http://{address}/v1", fast="plain", strong="plain-strong"))
    assert (cached.status, cached.endpoint_kind, cached.calls) == ("finished", "rules", 0)
    again = work(replay_run(run=run, by=None, at=timezone.now()))
    assert (again.status, again.endpoint_kind, again.calls) == ("finished", "rules", 0)


def test_a_model_that_the_owner_of_rules_does_not_list_is_a_model(answered: Benchmark, loopback: Loopback) -> None:
    run = work(begin(answered, loopback.url))
    assert (run.status, run.endpoint_kind) == ("finished", "model")
    assert set(EndpointCall.objects.values_list("endpoint_kind", flat=True)) == {"model"}
    assert loopback.requests() == run.calls  # the handshake is no request to a model


def test_a_judge_s_run_says_so_on_its_pages(ruled: JudgeRun) -> None:
    assert ruled.endpoint_kind == "rules"
    # The criteria are “Criterion 1 of case-0” and the responses share no such words with them.
    assert Verdict.objects.filter(run=ruled).count() == 36
    client, slug = researcher(ruled.benchmark), ruled.benchmark.slug
    for page in ("scoring:run", "scoring:verdicts"):
        shown = client.get(reverse(page, args=[slug, ruled.public_id])).text
        assert "These answers come from fixed rules, not from a language model." in shown
        assert f'href="{reverse("rule-endpoint")}"' in shown


def test_a_model_s_run_says_nothing(answered: Benchmark, loopback: Loopback) -> None:
    judge = chat_judge(answered, loopback)
    run = create_run(benchmark=answered, judge=judge, frame=RunFrame(), by=None, at=timezone.now())
    for row in run.slices.all():
        work_on_slice(run.pk, row.number, clock=timezone.now)
    run.refresh_from_db()
    assert run.endpoint_kind == "model"
    shown = researcher(answered).get(reverse("scoring:run", args=[answered.slug, run.public_id])).text
    assert "language model" not in shown


def test_nobody_can_say_later_that_a_model_answered(ruled: JudgeRun) -> None:
    chain = PipelineRun.objects.create(
        kind="responses", benchmark=ruled.benchmark, endpoint_kind="rules", created_at=timezone.now()
    )
    for row in (ruled, chain):
        with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
            type(row).objects.filter(pk=row.pk).update(endpoint_kind="model")
        row.refresh_from_db()
        assert row.endpoint_kind == "rules"


def test_a_run_that_goes_on_keeps_the_mark_of_the_verdicts_that_it_carries(ruled: JudgeRun, settings: Any) -> None:
    reword(Case.objects.get(benchmark=ruled.benchmark, key="case-0"), 1)
    settings.JUDGE_ALLOWED_HOSTS = [ruled.snapshot["config"]["endpoint"].removeprefix("http://").removesuffix("/v1")]
    continued = continue_run(run=ruled, by=None, at=timezone.now())
    assert continued.carried == 33
    assert JudgeRun.objects.get(pk=continued.pk).endpoint_kind == "rules"


def test_a_report_on_it_says_so_everywhere(ruled: JudgeRun) -> None:
    benchmark = ruled.benchmark
    report = create_report(benchmark=benchmark, kind="scores", parameters={"rater": "ruled", "k": 1}, at=timezone.now())
    compute_report(report_id=report.pk, clock=timezone.now)
    report = Report.objects.get(pk=report.pk)
    assert report.status == "done", report.error
    assert report.result["facts"]["endpoint_kind"] == "rules"

    for name in ("scores", "raters"):
        rows = list(csv.DictReader(io.StringIO("".join(table_text(report, name, "csv")))))
        assert rows and {row["endpoint_kind"] for row in rows} == {"rules"}
    assert "is no language model" in methods_of(report).paragraphs[0]
    figures = figures_of(report)
    assert figures
    for figure in figures:
        assert figure.caption.endswith("Answered by rules, not by a language model.")
        assert "Answered by rules, not by a language model." in figure_bytes(report, figure.name, "svg").decode()
    address = reverse("agreement:report", args=[benchmark.slug, report.section, report.public_id])
    page = researcher(benchmark).get(address).text
    assert "These answers come from fixed rules, not from a language model." in page
    shown = [figure for figure in figures if not figure.is_on_request]
    assert page.count("Answered by rules, not by a language model.") == len(shown)  # in each caption, once
