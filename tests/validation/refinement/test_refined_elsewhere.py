"""A run of refinement that goes to an empty installation as a file, and is replayed there without a request."""

from __future__ import annotations

import csv
import io
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from accounts.models import User
from rubrics.models import BenchmarkRole, Candidate, Response
from scoring.models import EndpointCall, PipelineRun
from scoring.pipelines.runs import replay_run
from tests.factories import UserFactory
from tests.scoring.pipelines.test_archive import archive_of, member
from tests.validation.pairs.pair_world import work
from tests.validation.refinement.conftest import RuleEndpoint
from tests.validation.refinement.refinement_world import GUIDE, make_world
from validation.models import RefinementRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# What depends on when and how often was asked; all other columns of `texts.csv` are what the steps came to.
WHEN_AND_HOW = ("tokens_in", "tokens_out", "latency_ms", "attempts", "finished_at")


def texts_of(run: PipelineRun, user: User) -> bytes:
    """`texts.csv` of a run, without `WHEN_AND_HOW`."""
    client = Client()
    client.force_login(user)
    answer = client.get(f"/b/{run.benchmark.slug}/refinement/{run.public_id}/texts.csv")
    assert answer.status_code == 200
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))  # type: ignore[attr-defined]
    kept = [name for name in rows[0] if name not in WHEN_AND_HOW]
    assert len(rows[0]) - len(kept) == len(WHEN_AND_HOW)
    file = StringIO()
    writer = csv.DictWriter(file, kept, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


@pytest.mark.parametrize("model", ["rules-new-dose", "rules-unknown"])
def test_a_replay_elsewhere_gives_the_same_texts_without_a_request(
    rules: RuleEndpoint, tmp_path: Path, settings: Any, model: str
) -> None:
    """With texts in which code finds a new dose, and with plans that all failed."""
    world = make_world("here", sets={"Guide": GUIDE})
    run = world.run(rules.url, "Guide", self_critique=True, gold=True, model=model)
    before, outputs = texts_of(run, world.admin), member(archive_of(run), "outputs.jsonl")
    assert (b"750 mg" in before) == (model == "rules-new-dose")
    n_requests = len(rules.requests)
    call_command("export_run", run.public_id, "--out", str(tmp_path / "run.zip"), stdout=StringIO())
    # An empty installation: no host may be asked, and nothing of the run is there but its file.
    settings.JUDGE_ALLOWED_HOSTS = []
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    calls, responses, candidates = (model.objects.count() for model in (EndpointCall, Response, Candidate))
    call_command("import_run", str(tmp_path / "run.zip"), "--benchmark", "empty", stdout=StringIO())
    imported = RefinementRun.objects.get(benchmark__slug="empty")
    assert (imported.public_id, imported.imported, imported.status) == (run.public_id, True, run.status)
    replayed = work(replay_run(run=imported, by=None, at=timezone.now()))
    assert (replayed.replay, replayed.status, replayed.calls, replayed.spent) == (True, run.status, 0, 0)
    admin = UserFactory()
    BenchmarkRole.objects.create(benchmark=imported.benchmark, user=admin, role=BenchmarkRole.Role.ADMIN)
    for own in (imported, RefinementRun.objects.get(pk=replayed.pk)):
        assert texts_of(own, admin) == before
        assert member(archive_of(own), "outputs.jsonl") == outputs
    assert len(rules.requests) == n_requests
    # The file brought its exchanges; neither it nor the replay wrote a response or a candidate.
    assert EndpointCall.objects.count() == 2 * calls
    assert (Response.objects.count(), Candidate.objects.count()) == (responses, candidates)
