"""Replays of runs, and runs as files: the same outputs, byte for byte, without a request."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from consilium.core.errors import Conflict
from rubrics.models import Benchmark, Case, Response
from scoring.generation.due_responses import CaseFrame
from scoring.generation.runs import create_run as create_generation
from scoring.models import EndpointCall, PipelineRun, PipelineStep
from scoring.pipelines.archive import ArchiveRefused, read_archive, write_archive
from scoring.pipelines.hashing import _fence_key
from scoring.pipelines.runs import replay_run, resume_run
from tests.scoring.conftest import Loopback
from tests.scoring.pipelines.verdict_chain import begin, work

pytestmark = pytest.mark.django_db


def archive_of(run: PipelineRun) -> bytes:
    file = BytesIO()
    write_archive(run, file)
    return file.getvalue()


def member(archive: bytes, name: str) -> bytes:
    with zipfile.ZipFile(BytesIO(archive)) as file:
        return file.read(name)


def changed(archive: bytes, name: str, change: Callable[[list[dict[str, Any]]], Any]) -> BytesIO:
    """The archive with the lines of a member changed."""
    result = BytesIO()
    with zipfile.ZipFile(BytesIO(archive)) as file, zipfile.ZipFile(result, "w") as new:
        for info in file.infolist():
            data = file.read(info)
            if info.filename == name:
                lines = [json.loads(line) for line in data.splitlines()]
                lines = change(lines) or lines
                data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            new.writestr(info.filename, data)
    return result


def replay(run: PipelineRun) -> PipelineRun:
    return work(replay_run(run=run, by=None, at=timezone.now()))


@pytest.mark.slow
def test_a_replay_gives_the_same_outputs_without_a_request(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url))
    n_requests = loopback.requests()
    again = replay(run)
    assert (again.status, again.error, again.calls) == ("finished", "", 0)
    assert loopback.requests() == n_requests
    assert member(archive_of(again), "outputs.jsonl") == member(archive_of(run), "outputs.jsonl")
    assert archive_of(run) == archive_of(run)


@pytest.mark.slow
def test_a_replay_fails_where_the_model_gave_no_usable_answer_as_well(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url, strong="string-true", cases=["case-0"]))
    again = replay(run)
    assert again.status == "incomplete"
    assert member(archive_of(again), "outputs.jsonl") == member(archive_of(run), "outputs.jsonl")


@pytest.mark.slow
def test_a_replay_names_the_step_whose_answer_is_missing(cases: Benchmark, loopback: Loopback) -> None:
    run = work(begin(cases, loopback.url, samples=1, cases=["case-1"], attempts=1, strong="html"))
    again = replay(run)
    assert again.status == "failed"
    assert "“weigh” of case case-1" in again.error


@pytest.mark.slow
@pytest.mark.parametrize("of_own_run", [True, False])
def test_a_replay_takes_no_answer_that_another_endpoint_or_run_got(
    cases: Benchmark, loopback: Loopback, of_own_run: bool
) -> None:
    """The replayed run had no answer to a request that somebody else has a good answer to."""
    run = work(begin(cases, loopback.url, samples=1, cases=["case-1"], attempts=1, strong="html"))
    other = work(begin(cases, loopback.url, samples=1, cases=["case-1"], attempts=1))
    good = EndpointCall.objects.get(run=other, model="ok-strong", answered_steps__round=0)
    good.pk, good.request_hash = None, run.steps.get(stage="weigh").request_hash
    if of_own_run:
        good.run, good.endpoint = run, "https://elsewhere.example.org/v1"
    good.save(force_insert=True)
    again = replay(run)
    assert again.status == "failed"
    assert "“weigh” of case case-1" in again.error


@pytest.mark.slow
def test_a_run_is_read_and_replayed_in_another_benchmark(
    cases: Benchmark, loopback: Loopback, tmp_path: Path, settings: Any, request: pytest.FixtureRequest
) -> None:
    run = work(begin(cases, loopback.url))
    outputs = member(archive_of(run), "outputs.jsonl")
    path, out = tmp_path / "run.zip", StringIO()
    call_command("export_run", run.public_id, "--out", str(path), stdout=out)
    with pytest.raises(CommandError, match="already here"):
        call_command("import_run", str(path))
    # As if it were another machine: another server's key, another list of hosts, and the run's id is free.
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    settings.JUDGE_ALLOWED_HOSTS = []
    settings.SECRET_KEY = "of another server" * 4
    _fence_key.cache_clear()
    request.addfinalizer(_fence_key.cache_clear)
    n_requests = loopback.requests()
    call_command("import_run", str(path), "--benchmark", "other", stdout=out)
    imported = PipelineRun.objects.get(public_id=run.public_id)
    assert (imported.benchmark.slug, imported.imported, imported.calls) == ("other", True, run.calls)
    assert Case.objects.filter(benchmark=imported.benchmark).count() == 4
    call_command("replay_run", imported.public_id, stdout=out)
    again = PipelineRun.objects.get(replay_of=imported)
    assert again.status == "finished"
    assert member(archive_of(again), "outputs.jsonl") == outputs
    assert member(archive_of(imported), "outputs.jsonl") == outputs
    for name in ("cases.jsonl", "calls.jsonl", "steps.jsonl"):
        assert member(archive_of(imported), name) == member(path.read_bytes(), name)
    assert loopback.requests() == n_requests
    with pytest.raises(Conflict, match="made elsewhere"):
        resume_run(run=imported, at=timezone.now())
    # Its answers serve no run of this database.
    settings.JUDGE_ALLOWED_HOSTS = ["127.0.0.1"]
    own = work(begin(imported.benchmark, loopback.url))
    assert own.calls == loopback.requests() - n_requests == run.calls


@pytest.mark.slow
def test_responses_are_replayed_and_stored_once(cases: Benchmark, loopback: Loopback, settings: Any) -> None:
    def generate(candidate: str) -> PipelineRun:
        config = {"endpoint": loopback.url, "model": "prose", "temperature": 1.0}
        return work(
            create_generation(
                benchmark=cases, candidate=candidate, config=config, frame=CaseFrame(), samples=2, by=None,
                at=timezone.now(),
            )
        )  # fmt: skip

    run, other = generate("one"), generate("other")
    # Another candidate is another draw: nothing came from the store.
    assert (run.calls, other.calls, loopback.requests()) == (8, 8, 16)
    settings.JUDGE_ALLOWED_HOSTS = []  # a replay calls nobody
    again = replay(other)
    assert again.status == "finished"
    assert Response.objects.count() == 16
    assert member(archive_of(again), "outputs.jsonl") == member(archive_of(other), "outputs.jsonl")
    # Each replay took the answers of the run that it replays.
    runs = EndpointCall.objects.filter(answered_steps__run=again).values_list("run", flat=True)
    assert set(runs) == {other.pk}


def test_a_replay_that_waits_takes_no_place_of_a_response(cases: Benchmark, loopback: Loopback) -> None:
    def generate(model: str) -> PipelineRun:
        config = {"endpoint": loopback.url, "model": model}
        return create_generation(
            benchmark=cases, candidate="one", config=config, frame=CaseFrame(), samples=1, by=None, at=timezone.now()
        )

    replay_run(run=work(generate("empty")), by=None, at=timezone.now())
    assert generate("prose").steps.count() == 4


FAULTS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], Any], str]] = {
    "kind": ("run.json", lambda rows: rows[0].update(kind="none"), "This kind of run does not exist here"),
    "live": ("run.json", lambda rows: rows[0].update(status="running"), "run.json, line 1: status"),
    "version": ("run.json", lambda rows: rows[0].update(version=2), "line 1: version"),
    "settings": ("run.json", lambda rows: rows[0]["config"].update(model=1), "model"),
    "unknown": ("steps.jsonl", lambda rows: rows[1].update(more=1), "steps.jsonl, line 2: more"),
    "case": ("steps.jsonl", lambda rows: rows[0].update(case="none"), "refers to a case"),
    "answer": ("steps.jsonl", lambda rows: rows[0].update(call=99), "refers to a case or an answer"),
    "output": ("steps.jsonl", lambda rows: rows[0].update(output=None), "cannot be stored"),
    "twice": ("steps.jsonl", lambda rows: [rows[0], *rows], "cannot be stored"),
    "nul": ("steps.jsonl", lambda rows: rows[0]["output"].update(text="\x00"), "cannot be stored"),
    "surrogate": (
        "cases.jsonl",
        lambda rows: rows[0]["conversation"][0].update(content="\ud800"),
        "cases.jsonl, line 1",
    ),
    "conversation": (
        "cases.jsonl",
        lambda rows: rows[0]["conversation"][0].update(content="no"),
        "a different conversation",
    ),
    "form": ("calls.jsonl", lambda rows: rows[0]["answer"].update(more=1), "unexpected format"),
    "good": ("calls.jsonl", lambda rows: rows[0].update(answer=None), "cannot be stored"),
}


@pytest.fixture
def exported(cases: Benchmark, loopback: Loopback) -> bytes:
    run = create_generation(
        benchmark=cases, candidate="one", config={"endpoint": loopback.url, "model": "prose"},
        frame=CaseFrame(cases=2), samples=1, by=None, at=timezone.now(),
    )  # fmt: skip
    archive = archive_of(work(run))
    PipelineRun.objects.filter(pk=run.pk).update(public_id="elsewhere")
    return archive


@pytest.mark.slow
def test_archives_that_are_refused_change_nothing(exported: bytes) -> None:
    for fault, (name, change, reason) in FAULTS.items():
        with pytest.raises(ArchiveRefused, match=reason):
            read_archive(changed(exported, name, change), by=None, at=timezone.now())
        assert (PipelineRun.objects.count(), Case.objects.count(), PipelineStep.objects.count()) == (1, 4, 2), fault
    for broken in (b"", b"PK", exported[:-30], exported[:200] + b"\xff" * 40 + exported[240:]):
        with pytest.raises(ArchiveRefused):
            read_archive(BytesIO(broken), by=None, at=timezone.now())
    other = BytesIO()
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("../run.json", "{}")
    with pytest.raises(ArchiveRefused, match="not an archive"):
        read_archive(other, by=None, at=timezone.now())
    imported = read_archive(BytesIO(exported), slug="new", by=None, at=timezone.now())
    assert imported.steps.filter(state="done").count() == 2
