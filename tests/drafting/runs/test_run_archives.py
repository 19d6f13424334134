"""Runs of drafting as files: refused where documents may not be passed on; replayed where there are no documents."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from documents.models import Document, Passage
from drafting.models import DraftingRun, Fact, Suggestion
from rubrics.models import Benchmark
from scoring.models import PipelineRun
from scoring.pipelines.hashing import _fence_key
from scoring.pipelines.runs import replay_run
from tests.drafting.drafting_world import DraftingWorld, ScriptedEndpoint
from tests.factories import BenchmarkRoleFactory
from tests.scoring.pipelines.verdict_chain import work

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

TABLES = ("suggestions", "facts", "ledger")


def tables_of(run: DraftingRun) -> dict[str, bytes]:
    """The tables as an admin of the run's benchmark loads them down."""
    client = Client()
    client.force_login(BenchmarkRoleFactory(benchmark=run.benchmark).user)
    path = f"/b/{run.benchmark.slug}/drafting/{run.public_id}/tables"
    return {name: client.get(f"{path}/{name}.csv").getvalue() for name in TABLES}  # type: ignore[attr-defined]


def test_an_archive_with_words_of_a_document_that_may_not_be_passed_on_is_refused(
    nursery: DraftingWorld, scripted: ScriptedEndpoint, tmp_path: Path
) -> None:
    run = nursery.run(scripted.url)
    Document.objects.update(may_redistribute=False)
    title = Document.objects.get().title
    path = tmp_path / "run.zip"
    with pytest.raises(CommandError, match="may not be redistributed") as refused:
        call_command("export_run", run.public_id, "--out", str(path))
    assert title in str(refused.value)
    assert list(tmp_path.iterdir()) == []
    again = work(replay_run(run=run, by=None, at=timezone.now()))  # holds the same words
    with pytest.raises(CommandError, match="may not be redistributed"):
        call_command("export_run", again.public_id, "--out", str(path))
    Document.objects.update(may_redistribute=True)
    call_command("export_run", run.public_id, "--out", str(path), stdout=StringIO())
    assert path.exists()


def test_a_run_is_replayed_where_there_are_no_documents_and_writes_the_same_tables(
    nursery: DraftingWorld,
    scripted: ScriptedEndpoint,
    tmp_path: Path,
    settings: Any,
    request: pytest.FixtureRequest,
) -> None:
    run = nursery.run(scripted.url)
    Document.objects.update(may_redistribute=True)
    tables, path = tables_of(run), tmp_path / "run.zip"
    assert len(list(csv.reader(tables["suggestions"].decode().splitlines()))) > 6
    assert all(row["words"] for row in csv.DictReader(tables["facts"].decode().splitlines()))
    call_command("export_run", run.public_id, "--out", str(path), stdout=StringIO())
    # As if it were another machine: another server's key, no host allowed, another id, and no passage known.
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    settings.JUDGE_ALLOWED_HOSTS = []
    settings.SECRET_KEY = "of another server" * 4
    _fence_key.cache_clear()
    request.addfinalizer(_fence_key.cache_clear)
    known = {passage.pk: passage.public_id for passage in Passage.objects.all()}
    n_requests = len(scripted.requests)
    call_command("import_run", str(path), "--benchmark", "other", stdout=StringIO())
    other = Benchmark.objects.get(slug="other")
    imported = DraftingRun.objects.get(benchmark=other)
    assert not Document.objects.filter(collection__benchmark=other).exists() and known
    assert tables_of(imported) == tables
    reader = Client()
    reader.force_login(BenchmarkRoleFactory(benchmark=other).user)
    page = reader.get(f"/b/other/drafting/{imported.public_id}/")
    assert page.status_code == 200 and "/b/other/recipes/" not in page.content.decode().partition("<main")[2]
    again = DraftingRun.objects.get(pk=work(replay_run(run=imported, by=None, at=timezone.now())).pk)
    assert (again.status, again.error, again.calls) == ("finished", "", 0)
    assert len(scripted.requests) == n_requests
    assert tables_of(again) == tables
    assert not Suggestion.objects.exclude(run=run).exists() and not Fact.objects.exclude(run=run).exists()
