"""The commands about pairs, from making them to figures; and what a replay and a kill must not change."""

from __future__ import annotations

import json
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from rubrics.models import Benchmark
from scoring.models import PipelineRun
from scoring.pipelines.archive import read_archive, write_archive
from scoring.pipelines.runs import replay_run
from tests.factories import BenchmarkFactory, CaseFactory
from tests.scoring.conftest import Loopback
from tests.scoring.pipelines.test_archive import archive_of, member
from tests.validation.files.made_up import rows
from tests.validation.pairs.pair_world import PairWorld, scripted, work, worked_example
from validation.models import NearMissPair, TrialRun

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


@pytest.fixture
def world(db: None) -> PairWorld:
    own = worked_example("ward")
    own.confirm_all()
    return own


def called(name: str, *arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(name, *arguments, stdout=out, stderr=out, **options)
    return out.getvalue()


def test_the_command_has_the_worked_example(world: PairWorld, loopback: Loopback, tmp_path: Path) -> None:
    given: dict[str, Any] = {"benchmark": "ward", "set": ["A"], "self_consistency": True}
    with pytest.raises(CommandError, match="No run of trials"):
        called("pairs", out=str(tmp_path / "none" / "out"), **given)
    printed = called(
        "pairs", out=str(tmp_path / "one" / "out"), endpoint=loopback.url, model="ok", model_seed=0, **given
    )  # fmt: skip
    (own,) = [row for row in rows(tmp_path / "one", "pairs") if row["slice"] == "all"]
    assert [float(own[name]) for name in ("win", "mean_delta", "auroc_paired", "auroc_self")] == pytest.approx(
        [2 / 7, 19 / 21, 4.5 / 7, 0.8], rel=0, abs=1e-9
    )
    assert "42 trials of ok" in printed and "0.642857" in printed
    n_requests = loopback.requests()
    called("pairs", out=str(tmp_path / "two" / "out"), **given)  # the run that is there
    assert loopback.requests() == n_requests
    assert (tmp_path / "one" / "out" / "pairs.csv").read_bytes() == (
        tmp_path / "two" / "out" / "pairs.csv"
    ).read_bytes()


def test_pairs_are_made_and_imported_by_commands(loopback: Loopback, tmp_path: Path) -> None:
    own = BenchmarkFactory(slug="made")
    CaseFactory(benchmark=own, key="a", rubric=0, reference_answer="Take 5 mg once a day.")
    printed = called(
        "make_pairs", benchmark="made", group="G", endpoint=loopback.url, model="ok", wait=True, kind=["dose"]
    )  # fmt: skip
    assert "1 requests on 1 cases" in printed and "finished" in printed.lower()
    assert NearMissPair.objects.get().candidate == "Take 50 mg once a day."
    file = tmp_path / "pairs.jsonl"
    file.write_text(json.dumps({"case": "a", "kind": "timing", "find": "once", "replace": "twice"}) + "\n")
    assert "1 pairs imported" in called("import_pairs", str(file), benchmark="made", group="G")
    file.write_text(json.dumps({"case": "b", "kind": "timing", "find": "once", "replace": "twice"}) + "\n")
    with pytest.raises(CommandError, match="1 fault, nothing"):
        called("import_pairs", str(file), benchmark="made", group="G")


def test_a_replay_here_and_elsewhere_gives_the_same_bytes(
    world: PairWorld, loopback: Loopback, tmp_path: Path, settings: Any
) -> None:
    run = world.run(loopback.url)
    called("pairs", benchmark="ward", run=run.public_id, out=str(tmp_path / "here"))
    n_requests = loopback.requests()
    again = work(replay_run(run=run, by=None, at=timezone.now()))
    assert (again.status, again.calls) == ("finished", 0)
    assert member(archive_of(again), "outputs.jsonl") == member(archive_of(run), "outputs.jsonl")
    # An empty instance: the run comes as a file, and is replayed there without a request.
    file = BytesIO()
    write_archive(run, file)
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    settings.JUDGE_ALLOWED_HOSTS = []
    file.seek(0)
    imported = read_archive(file, slug="empty", by=None, at=timezone.now())
    replayed = work(replay_run(run=imported, by=None, at=timezone.now()))
    assert replayed.status == "finished"
    assert member(archive_of(replayed), "outputs.jsonl") == member(archive_of(run), "outputs.jsonl")
    assert not NearMissPair.objects.filter(group__benchmark=Benchmark.objects.get(slug="empty")).exists()
    called("pairs", benchmark="empty", run=imported.public_id, out=str(tmp_path / "there"))
    called("pairs", benchmark="empty", run=replayed.public_id, out=str(tmp_path / "again"))
    for name in ("pairs", "pairs_apart", "mutation", "unnoticed", "each_pair", "deciding", "answers", "trials"):
        first, *others = ((tmp_path / folder / f"{name}.csv").read_bytes() for folder in ("here", "there", "again"))
        assert [first, first] == others, name
    called("pairs", benchmark="empty", out=str(tmp_path / "named"))  # only who names a replay gets its files
    settings_of = json.loads((tmp_path / "named" / "settings.json").read_text())
    assert settings_of["run"] == imported.public_id
    assert loopback.requests() == n_requests


def test_a_run_that_was_cut_short_goes_on_and_loses_nothing(world: PairWorld, loopback: Loopback) -> None:
    """As after a kill: some steps are done, some not; none is done twice."""
    run = world.begin(loopback.url, config={"concurrency": 2})
    PipelineRun.objects.filter(pk=run.pk).update(status="cancelled")
    assert TrialRun.objects.get(pk=run.pk).steps.filter(state="ready").count() == 42
    from validation.trials.services import resume_run

    resume_run(run=TrialRun.objects.get(pk=run.pk), at=timezone.now())
    done = work(TrialRun.objects.get(pk=run.pk))
    assert (done.status, done.steps.filter(state="done").count(), loopback.requests()) == ("finished", 42, 42)


def test_a_budget_is_kept(world: PairWorld, loopback: Loopback) -> None:
    from decimal import Decimal

    run = world.begin(loopback.url, budget=Decimal("0.05"), config={"price_out": 1000.0, "max_tokens": 20})
    done = work(run)
    assert done.status == "incomplete"
    assert 0 < done.spent <= 0.05
    assert 0 < done.steps.filter(state="done").count() < 42


def test_a_case_that_was_excluded_meanwhile_is_not_sent(world: PairWorld, loopback: Loopback) -> None:
    run = world.begin(loopback.url)
    case = world.pair("P1").case
    case.excluded_at, case.exclusion, case.exclusion_reason = timezone.now(), "decision", "Out."
    case.save()
    done = work(run)
    failed = done.steps.filter(state="failed")
    assert set(failed.values_list("case__key", flat=True)) == {"P1"}
    assert loopback.requests() == 36


def test_a_text_that_may_name_a_person_is_not_sent(loopback: Loopback) -> None:
    own = BenchmarkFactory(slug="private")
    CaseFactory(
        benchmark=own, key="a", rubric=0, reference_answer="Call Dr. Smith, anna.smith@example.org, or take 5 mg."
    )  # fmt: skip
    with pytest.raises(CommandError, match="privacy finding"):
        called("make_pairs", benchmark="private", group="G", endpoint=loopback.url, model="ok", wait=True)
    assert loopback.requests() == 0
    assert scripted("P1 5-3w | 5-3w")["kind"] == "dose"
