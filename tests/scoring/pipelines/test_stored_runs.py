"""Runs that an earlier version stored come over with all that they had."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubrics.models import Benchmark, Case, Response
from scoring.models import GenerationRun
from scoring.pipelines.runs import resume_run
from tests.factories import CandidateFactory, UserFactory
from tests.scoring.conftest import Loopback
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def earlier_tables() -> Any:
    """The models of generation before runs of steps, with empty tables."""
    apps = MigrationLoader(connection).project_state([("scoring", "0003_acuity_readings")]).apps
    with connection.schema_editor() as editor:
        for name in ("GenerationRun", "GenerationItem"):
            editor.create_model(apps.get_model("scoring", name))
    return apps


def test_runs_and_items_of_an_earlier_version_come_over(cases: Benchmark, client: Client, loopback: Loopback) -> None:
    apps, at = earlier_tables(), timezone.now()
    candidate = CandidateFactory(benchmark=cases, name="earlier")
    run = apps.get_model("scoring", "GenerationRun").objects.create(
        id=700, public_id="earlier", benchmark_id=cases.pk, candidate_id=candidate.pk, setting="search", samples=2,
        config={"endpoint": loopback.url, "model": "prose", "pauses": 0}, frame={"tag": "throat"}, status="incomplete",
        error="1 request failed", created_at=at, started_at=at, finished_at=at, attempts=2,
    )  # fmt: skip
    first, second = Case.objects.filter(key__in=("case-0", "case-1")).order_by("key")
    response = Response.objects.create(
        case=first, candidate=candidate, setting="search", sample=1, text="Rest.",
        metadata={
            "generation": {"model": "prose-2026", "finish_reason": "length", "truncated": True},
            "self_identification": "I am Prose",
        },
    )  # fmt: skip
    items = apps.get_model("scoring", "GenerationItem").objects
    common = {"run": run, "attempts": 1}
    items.create(
        id=900, case_id=first.pk, sample=1, status="done", response_id=response.pk, tokens_in=400, tokens_out=20,
        latency_ms=7, finished_at=at, **common,
    )  # fmt: skip
    items.create(id=901, case_id=first.pk, sample=0, status="failed", error_kind="timeout", error="late", **common)
    items.create(id=902, case_id=second.pk, sample=0, status="due", run=run)
    with connection.cursor() as cursor:
        cursor.execute(import_module("scoring.migrations.0004_pipelines").COPY)

    moved = GenerationRun.objects.get(public_id="earlier")
    assert (moved.pk, moved.setting, moved.samples, moved.frame) == (700, "search", 2, {"tag": "throat"})
    assert (moved.calls, moved.tokens_in, moved.tokens_out, moved.attempts) == (2, 400, 20, 2)
    assert response.generated_in.step.pk == 900
    staff = UserFactory()
    cases.roles.create(user=staff, role="researcher")
    client.force_login(staff)
    file: Any = client.get(reverse("scoring:generation-csv", args=["stepwise", "earlier"]))
    rows = b"".join(file).decode()
    counts = f"400,20,7,1,{at.isoformat(timespec='seconds')}"
    assert rows.splitlines()[1:] == [
        f"case-0,earlier,search,1,done,,,{response.public_id},prose-2026,length,true,false,I am Prose,{counts},",
        "case-0,earlier,search,0,failed,timeout,late,,,,,,,,,,1,,",
        "case-1,earlier,search,0,due,,,,,,,,,,,,0,,",
    ]
    page = client.get(reverse("scoring:generation-run", args=["stepwise", "earlier"])).content.decode()
    assert "1 response was cut off at the token limit" in page
    # It goes on where it was, and the next run gets an id of its own.
    resume_run(run=moved, at=timezone.now())
    assert work(moved).status == "finished"
    assert Response.objects.filter(setting="search").count() == 3
    new = GenerationRun.objects.create(kind="responses", benchmark=cases, created_at=at)
    assert new.pk == 701
