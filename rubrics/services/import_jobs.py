"""Uploaded files: the row says what is to be done, a worker claims it, and all of the file is imported or nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any, BinaryIO, cast

import pghistory
import structlog
from django.core.files import File
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.jobs import JobStatus
from consilium.lib.errors import Conflict, DomainError, ImportRefused, LineError
from consilium.lib.i18n import language_of, translate
from consilium.lib.transitions import transition
from rubrics import imports
from rubrics.imports.bulk import refresh_statistics
from rubrics.models import Benchmark, ImportJob
from rubrics.parsing.reader import Limits

logger = structlog.get_logger(__name__)

Clock = Callable[[], datetime]

# A worker that has not been heard of for so long is taken for lost.
LOST_AFTER = timedelta(seconds=60)
# A job that waits longer than this was not rung for, or its bell was lost.
UNHEARD_AFTER = timedelta(seconds=10)
MAX_ATTEMPTS = 3
BEAT_SECONDS = 0.7
FINISHED = (JobStatus.DONE, JobStatus.REFUSED, JobStatus.FAILED)


class Superseded(Conflict):
    """Another worker holds the job by now."""


@transaction.atomic
def create_import(
    *, benchmark: Benchmark, kind: str, file: File, file_name: str, options: Mapping[str, str], by: User
) -> ImportJob:
    """Keep an uploaded file and ask a worker to import it. `DomainError` where that could never succeed."""
    from rubrics.tasks import run_import

    known = {each.kind: each for each in imports.kinds()}.get(kind)
    if known is None:
        raise DomainError(_("Files of this kind cannot be imported."))
    chosen = {name: value.strip() for name, value in options.items() if value.strip()}
    for name in known.required:
        if name not in chosen:
            raise DomainError(_("“%(option)s” is needed to import %(kind)s.") % {"option": name, "kind": known.label})
    unknown = sorted(set(chosen) - set(known.options))
    if unknown:
        raise DomainError(
            _("An import of %(kind)s takes no %(option)s.") % {"kind": known.label, "option": ", ".join(unknown)}
        )
    if not file.size:
        raise DomainError(_("The file is empty."))
    if file.size > Limits().total_bytes:
        raise DomainError(_("The file is larger than %(n)s GiB.") % {"n": Limits().total_bytes >> 30})
    job = ImportJob(
        benchmark=benchmark,
        kind=kind,
        file_name=file_name[:255] or "file",
        options=chosen,
        bytes_total=file.size,
        created_by=by,
    )
    # Never the uploader's name for it: that is only text to show.
    job.file.save(f"{job.public_id}.dat", file, save=False)
    job.save()
    run_import.delay_on_commit(job.pk)
    return job


@transaction.atomic
def restart_import(*, job: ImportJob) -> None:
    """Try a refused or failed import again, say after the cases that it names were imported."""
    from rubrics.tasks import run_import

    transition(
        job,
        source=(JobStatus.REFUSED, JobStatus.FAILED),
        target=JobStatus.PENDING,
        attempts=0,
        bytes_read=0,
        counts={},
        errors=[],
        error_total=0,
        started_at=None,
        finished_at=None,
    )
    run_import.delay_on_commit(job.pk)


def claim(*, job_id: int, at: datetime) -> ImportJob | None:
    """Take up a job that waits, or one whose worker was lost; None where there is nothing to do."""
    open_to_claim = ImportJob.objects.filter(pk=job_id).filter(
        Q(status=JobStatus.PENDING) | Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    )
    exhausted = open_to_claim.filter(attempts__gte=MAX_ATTEMPTS)
    message = _("The worker was lost %(times)s times while importing this.") % {"times": MAX_ATTEMPTS}
    if exhausted.update(status=JobStatus.FAILED, finished_at=at, **_errors([LineError(0, "", message)], 1)):
        return None
    hit = open_to_claim.update(
        status=JobStatus.RUNNING, started_at=at, heartbeat_at=at, bytes_read=0, attempts=F("attempts") + 1
    )
    return ImportJob.objects.select_related("benchmark", "created_by").get(pk=job_id) if hit else None


def run(*, job_id: int, clock: Clock) -> None:
    """Import the file of a job if there is something to do; safe to call any number of times, by any number of workers.

    The rows of the file and the end of the job are one transaction: a worker that dies leaves nothing, and a second
    worker of the same job cannot commit.
    """
    job = claim(job_id=job_id, at=clock())
    if job is None:
        return
    # What is wrong with the file is written for whoever sent it.
    with language_of(job.created_by):
        _run(job, clock)


def _run(job: ImportJob, clock: Clock) -> None:
    try:
        with (
            pghistory.context(user=job.created_by_id, url=f"import {job.public_id}"),
            Heartbeat(job, clock) as heartbeat,
            transaction.atomic(),
            job.file.open("rb") as file,
        ):
            counts = imports.find(job.kind).handler(
                benchmark=job.benchmark,
                file=cast(BinaryIO, file),
                options=job.options,
                by=job.created_by,
                at=clock(),
                progress=heartbeat.read,
            )
            refresh_statistics()
            heartbeat.stop()  # its last word must not wait for the row that this transaction now writes
            changes = {"status": JobStatus.DONE, "counts": counts, "bytes_read": job.bytes_total}
            if not _held(job).update(**changes, finished_at=clock()):
                raise Superseded(_("Another worker imports this file by now."))
    except Superseded:
        logger.info("import_superseded", job=job.public_id, attempt=job.attempts)
    except ImportRefused as refused:
        _close(job, JobStatus.REFUSED, refused.errors, refused.total, clock())
    except DomainError as error:
        _close(job, JobStatus.REFUSED, [LineError(0, "", str(error))], 1, clock())
    except Exception:
        message = _("The import failed, and nothing of the file was kept. The log of the worker has the details.")
        _close(job, JobStatus.FAILED, [LineError(0, "", message)], 1, clock())
        raise


def unfinished(*, at: datetime) -> list[int]:
    """Jobs that nobody works on though they are due: their bell, or their worker, was lost."""
    waiting = Q(status=JobStatus.PENDING, created_at__lt=at - UNHEARD_AFTER)
    lost = Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    return list(ImportJob.objects.filter(waiting | lost).order_by("created_at").values_list("pk", flat=True))


def _held(job: ImportJob) -> QuerySet[ImportJob]:
    return ImportJob.objects.filter(pk=job.pk, status=JobStatus.RUNNING, attempts=job.attempts)


def _close(job: ImportJob, status: str, errors: list[LineError], total: int, at: datetime) -> None:
    _held(job).update(status=status, finished_at=at, **_errors(errors, total))


def _errors(errors: list[LineError], total: int) -> dict[str, Any]:
    rows = [{"line": error.line, "field": error.field, "message": translate(error.message)} for error in errors]
    return {"errors": rows, "error_total": total}


class Heartbeat:
    """Says that the worker lives and how far it is, from a thread with a connection of its own.

    The import's own transaction shows nothing before it commits, and the phases after the last byte take their time
    as well; so neither the page nor the sweep could tell a busy worker from a dead one.
    """

    def __init__(self, job: ImportJob, clock: Clock) -> None:
        self._job = job
        self._clock = clock
        self._bytes_read = 0
        self._lost = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"import {job.public_id}", daemon=True)

    def __enter__(self) -> Heartbeat:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def read(self, bytes_read: int) -> None:
        """Note how much was read; `Superseded` if another worker has taken the job over."""
        self._bytes_read = bytes_read
        if self._lost:
            raise Superseded(_("Another worker imports this file by now."))

    def stop(self) -> None:
        """Beat no more, and wait for the beat that may be under way."""
        self._stop.set()
        self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._stop.wait(BEAT_SECONDS):
                if not _held(self._job).update(bytes_read=self._bytes_read, heartbeat_at=self._clock()):
                    self._lost = True
                    return
        finally:
            connection.close()
