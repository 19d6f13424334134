"""Imports into one collection at the same time, and a worker that is killed in the middle of one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.utils import timezone

from documents.models import Collection, Document, Passage
from rubrics.models import ImportJob
from rubrics.services import import_jobs
from rubrics.tasks import run_import
from tests.documents.library import FEVER, add, library, lines, work
from tests.processes import ROOT
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
AT_ONCE = 8


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks go to a queue where no worker of another test listens."""
    monkeypatch.setattr(run_import, "_exec_options", {**run_import._get_exec_options(), "queue": "no-worker"})


def in_threads(*jobs: Callable[[], object]) -> list[object]:
    """Run the jobs in threads that start together; what each returned or raised."""
    barrier = Barrier(len(jobs))
    results: list[object] = [None] * len(jobs)

    def run(number: int, job: Callable[[], object]) -> None:
        try:
            barrier.wait(60)
            results[number] = job()
        except Exception as error:  # the test looks at it
            results[number] = error
        finally:
            connection.close()

    threads = [Thread(target=run, args=pair) for pair in enumerate(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    return results


def test_imports_at_once_make_one_chain_of_editions() -> None:
    collection = library()
    results = in_threads(*(lambda n=n: add(collection, f"{FEVER}\nCorrection {n}.\n") for n in range(AT_ONCE)))
    assert not [result for result in results if isinstance(result, Exception)]
    editions = list(Document.objects.order_by("edition"))
    assert [document.edition for document in editions] == list(range(1, AT_ONCE + 1))
    assert [document.supersedes_id for document in editions] == [None, *(document.pk for document in editions[:-1])]
    assert Document.objects.in_use().count() == 1


def test_the_same_file_at_once_is_imported_once() -> None:
    collection = library()
    results = in_threads(*(lambda: add(collection, FEVER) for _ in range(AT_ONCE)))
    assert sorted(result["documents"]["created"] for result in results) == [0] * (AT_ONCE - 1) + [1]  # type: ignore[index]
    assert Document.objects.count() == 1


def test_kill_nine_in_the_middle_and_another_worker_finishes(process_environment: dict[str, str]) -> None:
    collection = library()
    count = 20_000
    content = lines(*({"key": f"k{n}", "text": f"Document {n}. " + "Give 15 mg/kg. " * 20} for n in range(count)))
    # Without a task: only the process below shall work on it.
    job = ImportJob(
        benchmark=collection.benchmark, kind="documents", file_name="f.jsonl", bytes_total=len(content),
        options={"collection": collection.name, "format": "jsonl"}, created_by=collection.benchmark.roles.first().user,
    )  # fmt: skip
    job.file.save("killed.dat", ContentFile(content))
    program = f"import django; django.setup(); from rubrics.tasks import run_import; run_import({job.pk})"
    worker = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=process_environment)

    def writes() -> bool:
        """Rows that nobody sees yet: the sequence has moved on."""
        assert worker.poll() is None, "the import ended before it was killed"
        with connection.cursor() as cursor:
            cursor.execute("SELECT last_value, is_called FROM documents_document_id_seq")
            return bool(cursor.fetchone()[1])

    with connection.cursor() as cursor:
        cursor.execute("ALTER SEQUENCE documents_document_id_seq RESTART")
    try:
        wait_until(writes, within_s=60)
    finally:
        worker.kill()
        worker.wait()
    assert not Document.objects.exists()
    assert not Passage.objects.exists()
    job.refresh_from_db()
    assert job.status == "running"
    # The minute without a heartbeat.
    ImportJob.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(minutes=2))
    assert import_jobs.IMPORTS.unfinished(at=timezone.now()) == [job.pk]
    assert work(job).status == "done"
    assert Document.objects.count() == count
    assert Passage.objects.values("document").distinct().count() == count
    assert job.attempts == 2


def test_imports_at_once_make_a_new_collection_once() -> None:
    collection = library()
    options = {"collection": "New", "create_collection": "1"}
    results = in_threads(*(lambda n=n: add(collection, f"{FEVER}{n}\n", "fever.txt", **options) for n in range(4)))
    assert not [result for result in results if isinstance(result, Exception)]
    assert Collection.objects.filter(name="New").count() == 1
    assert Document.objects.filter(collection__name="New").count() == 4
