"""Jobs that import uploaded files: a worker claims the row, and imports all of the file or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import BinaryIO, cast

import pghistory
from django.core.files import File
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from consilium.core.errors import Conflict, DomainError, ImportRefused, LineError
from consilium.core.i18n import english, translate
from consilium.core.jobs import Attempt, Clock, JobKind, JobStatus, Values, register
from consilium.core.locks import RowLock, lock_exclusive
from rubrics import imports
from rubrics.imports.bulk import refresh_statistics
from rubrics.models import Benchmark, ImportJob
from rubrics.parsing.reader import Limits
from rubrics.services.job_notices import END_OF_JOB, notify_of_end

FINISHED = (JobStatus.DONE, JobStatus.REFUSED, JobStatus.FAILED)


@transaction.atomic
def create_import(
    *, benchmark: Benchmark, kind: str, file: File, file_name: str, options: Mapping[str, str], by: User
) -> ImportJob:
    """Store an uploaded file and ask a worker to import it. `DomainError` where that could never succeed."""
    known = {each.kind: each for each in imports.kinds()}.get(kind)
    if known is None:
        raise DomainError(_("Files of this kind cannot be imported."), field="kind")
    chosen = {name: value.strip() for name, value in options.items() if value.strip()}
    for name in known.required:
        if name not in chosen:
            message = _("“%(option)s” is required to import %(kind)s.") % {"option": name, "kind": known.label}
            raise DomainError(message, field=name)
    unknown = sorted(set(chosen) - set(known.options))
    if unknown:
        raise DomainError(
            _("An import of %(kind)s does not accept %(option)s.")
            % {"kind": known.label, "option": ", ".join(unknown)},
            field=unknown[0],
        )
    if known.check is not None:
        known.check(benchmark=benchmark, options=chosen, by=by)
    if not file.size:
        raise DomainError(_("The file is empty."), field="file")
    if file.size > Limits().total_bytes:
        raise DomainError(_("The file is larger than %(n)s GiB.") % {"n": Limits().total_bytes >> 30}, field="file")
    job = ImportJob(
        benchmark=benchmark,
        kind=kind,
        file_name=file_name[:255] or "file",
        options=chosen,
        bytes_total=file.size,
        created_by=by,
    )
    # Never the uploader's name of the file, which is only shown.
    job.file.save(f"{job.public_id}.dat", file, save=False)
    job.save()
    IMPORTS.enqueue(job)
    return job


@transaction.atomic
def repeat_import(*, job: ImportJob, without: str, by: User, changes: Mapping[str, str] | None = None) -> ImportJob:
    """Import the stored file of a job once more, without one of its options and with ``changes`` of the others.

    However often it is called, there is one such import, unless that was refused or failed.
    """
    job = _locked(job)
    options = {**{name: value for name, value in job.options.items() if name != without}, **(changes or {})}
    repeated = job.repetition
    if repeated is not None:
        return repeated
    return _job_on_same_file(job, options, by)


@transaction.atomic
def preview_again(*, job: ImportJob, changes: Mapping[str, str], by: User) -> ImportJob:
    """Preview the stored file of a preview once more, with ``changes`` of its options.

    `Conflict` once the file is imported.
    """
    job = _locked(job)
    if job.repetition is not None:
        raise Conflict(_("This file has been imported since this preview was made."))
    options = {name: value for name, value in {**job.options, **changes}.items() if value}
    return _job_on_same_file(job, options, by)


def _locked(job: ImportJob) -> ImportJob:
    """The job again, with all jobs on its file locked, so that only one import of the file is made of its previews."""
    jobs = ImportJob.objects.select_for_update(no_key=True).filter(file=job.file.name).order_by("pk")
    return next(each for each in jobs if each.pk == job.pk)


def _job_on_same_file(job: ImportJob, options: Mapping[str, str], by: User) -> ImportJob:
    repeated = ImportJob.objects.create(
        benchmark=job.benchmark,
        kind=job.kind,
        file=job.file.name,
        file_name=job.file_name,
        options=options,
        bytes_total=job.bytes_total,
        created_by=by,
    )
    IMPORTS.enqueue(repeated)
    return repeated


@transaction.atomic
def restart_import(*, job: ImportJob) -> None:
    """Try a refused or failed import again, say after the cases that it names were imported.

    `Conflict` if another import of the file is open or done.
    """
    _locked(job)
    if "preview" not in job.options and job.repetition is not None:
        raise Conflict(_("This file is already being imported, or was imported."))
    IMPORTS.restart(job)


class ImportJobs(JobKind[ImportJob]):
    """Uploaded files: progress is counted in bytes, and errors have a line each."""

    model = ImportJob
    task = "rubrics.tasks.run_import"
    sweep_task = "rubrics.tasks.sweep_imports"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times during this import.")
    crashed = gettext_lazy("The import failed, and nothing from the file was kept. See the worker’s log for details.")
    # Shorter than for other jobs, because somebody waits at the page. docs/operating.md names the minute.
    lost_after = timedelta(seconds=60)

    def work(self, attempt: Attempt[ImportJob]) -> None:
        """Import the file of a job, after other imports into the benchmark: their rows may be the same.

        The rows of the file and the end of the job are one transaction: a worker that dies leaves nothing, and a second
        worker of the same job cannot commit.
        """
        job = attempt.job
        with (
            pghistory.context(user=job.created_by_id, url=f"import {job.public_id}"),
            transaction.atomic(),
            job.file.open("rb") as file,
        ):
            lock_exclusive(RowLock.IMPORT, job.benchmark_id)
            counts = imports.find(job.kind).handler(
                benchmark=job.benchmark,
                file=cast(BinaryIO, file),
                options={**job.options, "file_name": job.file_name},
                by=job.created_by,
                at=attempt.clock(),
                progress=attempt.progress,
            )
            refresh_statistics()
            attempt.finish(counts=counts, bytes_read=job.bytes_total)

    def blank_values(self) -> Values:
        """The fields of a job that nobody has worked on yet."""
        return {"bytes_read": 0, "counts": {}, **_errors([], 0)}

    def progress_values(self, amount: float) -> Values:
        """The progress of a job; ``amount`` is in bytes."""
        return {"bytes_read": int(amount)}

    def error_values(self, message: str) -> Values:
        """One error, of the file as a whole."""
        return _errors([LineError(0, "", message)], 1)

    def refusal_values(self, error: DomainError) -> Values:
        """The errors of a file that was refused, by line where they have one."""
        refused = error if isinstance(error, ImportRefused) else None
        if refused is None or not refused.errors:
            refused = ImportRefused([LineError(0, error.field, str(error))])
        return {"status": JobStatus.REFUSED, **_errors(refused.errors, refused.total)}

    def ended(self, job: ImportJob, *, status: str, at: datetime) -> None:
        """Notify who uploaded the file; the admins, too, if the import failed."""
        notify_of_end(
            benchmark=job.benchmark,
            by=job.created_by_id,
            begun_at=job.created_at,
            what="preview" if "preview" in job.options else "import",
            end=END_OF_JOB[status],
            url=reverse("rubrics:import", args=[job.benchmark.slug, job.public_id]),
            at=at,
            label=english(ImportJob.Kind(job.kind).label),
            title=job.file_name,
        )


IMPORTS = register(ImportJobs())


def run(*, job_id: int, clock: Clock) -> None:
    """Import the file of a job if there is something to do; safe to call any number of times, from any workers."""
    IMPORTS.run(job_id=job_id, clock=clock)


def _errors(errors: list[LineError], total: int) -> Values:
    rows = [{"line": error.line, "field": error.field, "message": translate(error.message)} for error in errors]
    return {"errors": rows, "error_total": total}
