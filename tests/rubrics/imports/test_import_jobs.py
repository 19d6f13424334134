"""Uploaded files: claimed once, imported whole, and picked up again when their worker dies."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from consilium.core.jobs import MAX_ATTEMPTS
from rubrics import imports, services
from rubrics.models import Benchmark, Case, ImportJob, Response
from rubrics.services import import_jobs
from rubrics.tasks import run_import
from tests.axe import axe_violations
from tests.factories import BenchmarkFactory, UserFactory
from tests.processes import ROOT, Worker
from tests.rubrics.imports.files import healthbench, write
from tests.waiting import wait_until


@pytest.fixture(autouse=True)
def _no_files_left(settings: Any) -> Iterator[None]:
    """Uploads go where a worker process finds them; those of the test go away with it."""
    folder = Path(settings.MEDIA_ROOT) / "imports"
    before = set(folder.glob("*"))
    yield
    for file in set(folder.glob("*")) - before:
        file.unlink(missing_ok=True)


@pytest.fixture(autouse=True)
def _no_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks of tests that do the work themselves go to a queue where no worker of another test listens."""
    if "celery_worker" not in request.fixturenames:
        options = {**run_import._get_exec_options(), "queue": "no-worker"}
        monkeypatch.setattr(run_import, "_exec_options", options)


@pytest.fixture
def benchmark(db: None) -> Benchmark:
    return BenchmarkFactory(slug="bench", researcher=UserFactory(email="researcher@example.org"))


@pytest.fixture
def signed_in(benchmark: Benchmark, client: Client) -> Client:
    client.force_login(benchmark.roles.get().user)
    return client


def lines(rows: list[Any]) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows).encode()


def upload(client: Client, content: bytes, **fields: str) -> Any:
    file = SimpleUploadedFile("cases one.jsonl", content)
    return client.post("/b/bench/imports/", {"kind": "cases", "file": file, **fields})


def make_job(benchmark: Benchmark, content: bytes, kind: str = "cases", **options: str) -> ImportJob:
    return services.create_import(
        benchmark=benchmark,
        kind=kind,
        file=ContentFile(content),
        file_name="f.jsonl",
        options=options,
        by=benchmark.roles.get().user,
    )


def work(job: ImportJob) -> ImportJob:
    import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    return job


@pytest.mark.django_db
def test_a_refused_form_marks_what_its_kind_requires_and_asks_for_the_file_again(signed_in: Client) -> None:
    file = SimpleUploadedFile("decisions.csv", b"case,candidate\n")
    response = signed_in.post("/b/bench/imports/", {"kind": "decisions", "file": file})
    page = " ".join(response.content.decode().split())
    assert response.status_code == 422
    for words in ("This field is required for files of this kind.", "Choose the file again."):
        assert page.count(words) == 1, words
    assert '<label for="id_group">Expert group</label>' in page  # without “optional”
    assert '<label for="id_judge">Judge<span class="optional">' in page
    fresh = " ".join(signed_in.get("/b/bench/imports/?kind=decisions").content.decode().split())
    assert '<label for="id_group">Expert group</label>' in fresh and "Choose the file again." not in fresh


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_file_goes_from_the_page_into_the_benchmark(signed_in: Client) -> None:
    response = upload(signed_in, lines([healthbench(1), healthbench(2)]), group="left aside")
    job = ImportJob.objects.get()
    assert response.status_code == 302
    assert response.url == f"/b/bench/imports/{job.public_id}/"
    assert (job.status, job.file_name, job.options) == ("pending", "cases one.jsonl", {})
    assert "cases" not in job.file.name  # a stranger's file name is text to show, never a path
    state = f"{response.url}state/"
    assert "hx-get" in signed_in.get(state).content.decode()

    work(job)
    assert (job.status, job.bytes_read) == ("done", job.bytes_total)
    assert job.counts["cases"] == {"created": 2, "unchanged": 0}
    fragment = signed_in.get(state).content.decode()
    assert "hx-get" not in fragment, "a finished import must not be asked for any more"
    assert "<html" not in fragment
    assert Case.objects.count() == 2
    assert "Done" in signed_in.get(response.url).content.decode()
    # Run twice, as a queue may: nothing happens.
    assert work(job).attempts == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_refused_file_shows_its_faults_and_can_be_tried_again(signed_in: Client, benchmark: Benchmark) -> None:
    row = {"case": "p-1", "candidate": "m", "response": "x"}
    job = work(make_job(benchmark, lines([row, {**row, "sample": "=1+1"}, "oops"]), kind="responses"))
    assert (job.status, job.error_total) == ("refused", 3)
    assert not Response.objects.exists()
    page = signed_in.get(f"/b/bench/imports/{job.public_id}/").content.decode()
    assert "3 errors; nothing was imported" in page
    table = b"".join(signed_in.get(f"/b/bench/imports/{job.public_id}/faults.csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert table.splitlines()[0] == "line,field,message"
    assert {line.split(",")[0] for line in table.splitlines()[1:]} == {"1", "2", "3"}

    good = work(make_job(benchmark, lines([row]), kind="responses"))
    assert good.status == "refused"
    assert work(make_job(benchmark, lines([healthbench(1)]))).status == "done"
    assert signed_in.post(f"/b/bench/imports/{good.public_id}/restart/").status_code == 302
    assert work(good).status == "done"
    assert Response.objects.filter(candidate__name="m").count() == 1
    # What is done cannot be started again.
    assert signed_in.post(f"/b/bench/imports/{good.public_id}/restart/").status_code == 409


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"kind": "secrets"}, b"{}"),
        ({"kind": "cases"}, b""),
        ({"kind": "decisions"}, b"{}"),
        ({"format": "xml"}, b"{}"),
    ],
)
def test_an_upload_that_could_never_succeed_is_refused_at_the_form(signed_in, fields, content) -> None:
    response = upload(signed_in, content, **fields)
    assert response.status_code == 422
    assert not ImportJob.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_the_sweep_finds_what_was_lost_and_nothing_else(benchmark: Benchmark) -> None:
    now = timezone.now()
    jobs = [make_job(benchmark, lines([healthbench(n)])) for n in range(4)]
    fresh, waiting, busy, lost = jobs
    ImportJob.objects.filter(pk=waiting.pk).update(created_at=now - timedelta(seconds=30))
    ImportJob.objects.filter(pk=busy.pk).update(status="running", heartbeat_at=now - timedelta(seconds=5), attempts=1)
    ImportJob.objects.filter(pk=lost.pk).update(status="running", heartbeat_at=now - timedelta(minutes=5), attempts=1)
    assert set(import_jobs.IMPORTS.unfinished(at=now)) == {waiting.pk, lost.pk}
    assert work(busy).status == "running"  # another worker's
    assert work(lost).status == "done"
    assert lost.attempts == 2
    assert fresh.status == "pending"


@pytest.mark.django_db(transaction=True)
def test_a_file_that_kills_every_worker_fails_in_the_end(benchmark: Benchmark) -> None:
    job = make_job(benchmark, lines([healthbench(1)]))
    ImportJob.objects.filter(pk=job.pk).update(
        status="running", heartbeat_at=timezone.now() - timedelta(hours=1), attempts=MAX_ATTEMPTS
    )
    assert work(job).status == "failed"
    assert "3 times" in job.errors[0]["message"]


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_worker_that_was_taken_for_dead_cannot_commit(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    job = make_job(benchmark, lines([healthbench(1)]))
    known = imports.find("cases")

    def superseded(**arguments: Any) -> Any:
        def second_worker() -> None:
            ImportJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
            assert import_jobs.IMPORTS.claim(job_id=job.pk, at=timezone.now()) is not None
            connection.close()

        counts = known.handler(**arguments)
        thread = threading.Thread(target=second_worker)
        thread.start()
        thread.join()
        return counts

    monkeypatch.setitem(imports.registry._kinds, "cases", imports.ImportKind("cases", superseded, ("format",)))
    work(job)
    assert (job.status, job.attempts) == ("running", 2)  # the second worker's
    assert not Case.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_fault_of_our_own_leaves_nothing_and_says_so(benchmark: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    known = imports.find("cases")

    def breaks(**arguments: Any) -> Any:
        known.handler(**arguments)
        raise RuntimeError("a bug")

    monkeypatch.setitem(imports.registry._kinds, "cases", imports.ImportKind("cases", breaks, ("format",)))
    job = make_job(benchmark, lines([healthbench(1)]))
    with pytest.raises(RuntimeError):
        import_jobs.run(job_id=job.pk, clock=timezone.now)
    job.refresh_from_db()
    assert job.status == "failed"
    assert not Case.objects.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_kill_nine_in_the_middle_and_another_worker_finishes(
    benchmark: Benchmark, process_environment: dict[str, str]
) -> None:
    content = lines([healthbench(n) for n in range(12_000)])  # enough to be met on the way
    # Without a task: only the process below shall work on it.
    job = ImportJob(
        benchmark=benchmark, kind="cases", file_name="f.jsonl", bytes_total=len(content), created_by=UserFactory()
    )
    job.file.save("killed.dat", ContentFile(content))
    program = f"import django; django.setup(); from rubrics.tasks import run_import; run_import({job.pk})"
    worker = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=process_environment)

    def reading() -> bool:
        job.refresh_from_db()
        assert worker.poll() is None
        return job.status == "running" and 0 < job.bytes_read < job.bytes_total

    try:
        wait_until(reading, within_s=60)
    finally:
        worker.kill()
        worker.wait()
    assert not Case.objects.exists()
    assert import_jobs.IMPORTS.unfinished(at=timezone.now()) == []
    # The minute without a heartbeat.
    ImportJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=2))
    assert import_jobs.IMPORTS.unfinished(at=timezone.now()) == [job.pk]
    assert work(job).status == "done"
    assert Case.objects.count() == 12_000
    assert job.attempts == 2


@pytest.mark.django_db(transaction=True)
def test_in_the_browser_the_page_follows_the_import_and_then_rests(
    benchmark: Benchmark, new_page: Callable[..., Page], celery_worker: Worker, tmp_path: Path
) -> None:
    page = new_page(benchmark.roles.get().user)
    page.goto("/b/bench/imports/")
    expect(page.get_by_role("heading", name="No imports yet")).to_be_visible()
    expect(page.get_by_label("Expert group")).to_be_hidden()
    page.get_by_label("File contents").select_option("decisions")
    expect(page.get_by_label("Expert group")).to_be_visible()
    expect(page.get_by_label("Expert group")).to_have_attribute("required", "")
    optional = page.locator(".field:has(#id_group) .optional")
    expect(optional).to_be_hidden()
    page.get_by_label("File contents").select_option("meta_eval")
    expect(optional).to_be_visible()
    assert page.get_by_label("Expert group").get_attribute("required") is None
    page.get_by_label("File contents").select_option("cases")
    assert axe_violations(page) == []
    page.locator("input[type=file]").set_input_files(write(tmp_path / "made-up.jsonl", [healthbench(1), "oops"]))
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#import-state .badge")).to_have_text("Refused", timeout=60_000)
    expect(page.locator(".error-list li")).to_contain_text("line 2")
    assert axe_violations(page) == []
    assert page.locator("#import-state").get_attribute("hx-get") is None  # it asks no more
    page.goto("/b/bench/imports/")
    page.locator("input[type=file]").set_input_files(write(tmp_path / "good.jsonl", [healthbench(1)]))
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator("#import-state .badge")).to_have_text("Done", timeout=60_000)
    page.get_by_role("link", name="Go to overview").click()
    expect(page.locator(".tile").first).to_contain_text("1")
    assert axe_violations(page) == []
