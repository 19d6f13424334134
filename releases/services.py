"""Writes to releases. A release is stored before its task is enqueued; a worker claims it and builds the archive."""

from __future__ import annotations

import re
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.core.files import File
from django.db import connection, transaction
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import OPEN, Attempt, Clock, JobKind, JobStatus, Superseded, register
from consilium.core.limits import MAX_LICENCE_LENGTH
from releases.content import build
from releases.content.cases import cases_to_release
from releases.content.changes import changes_since
from releases.content.folder import write_zip
from releases.content.options import ReleaseOptions, read_options
from releases.models import Release
from rubrics.models import Benchmark
from rubrics.services.job_notices import END_OF_JOB, notify_of_end

MAX_NOTES_LENGTH = 20_000
VERSION_TAKEN = (*OPEN, JobStatus.DONE)

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,39}")


def next_version(benchmark: Benchmark) -> str:
    """The suggested version of the next release: the newest with its last number raised by one, 1.0 at first."""
    newest = Release.objects.filter(benchmark=benchmark, status__in=VERSION_TAKEN).first()
    if newest is None:
        return "1.0"
    taken = set(Release.objects.filter(benchmark=benchmark, status__in=VERSION_TAKEN).values_list("version", flat=True))
    version = newest.version
    while version in taken:
        head, number, tail = re.fullmatch(r"(.*?)(\d*)(\D*)", version).groups()  # type: ignore[union-attr]
        version = f"{head}{int(number) + 1}{tail}" if number else f"{version}.1"
    return version


def new_canary() -> str:
    """A unique text by which data that must not be used for training can be found."""
    return f"Benchmark data: keep this out of training corpora. Canary GUID {uuid.uuid4()}"


def set_licence(*, benchmark: Benchmark, licence: str) -> None:
    """Name the licence under which a benchmark is released from now on; earlier releases keep theirs."""
    licence = licence.strip()
    if len(licence) > MAX_LICENCE_LENGTH:
        raise DomainError(
            _("A licence must be an SPDX identifier, such as CC-BY-4.0, or a text of at most 200 characters.")
        )
    benchmark.licence = licence
    benchmark.save(update_fields=["licence"])


@transaction.atomic
def create_release(
    *,
    benchmark: Benchmark,
    version: str,
    notes: str,
    options: ReleaseOptions,
    at: datetime,
    by: User | None = None,
    canary: Callable[[], str] = new_canary,
    enqueue: bool = True,
) -> Release:
    """A release that waits for a worker. `DomainError` where it could never be made, or the version is taken.

    Cases that were written here get a canary, which stays the same from the benchmark's first release on.
    """
    version = version.strip()
    if not _VERSION.fullmatch(version):
        raise DomainError(_("A version has up to 40 letters, digits, dots, hyphens and underscores, such as 1.0."))
    if len(notes) > MAX_NOTES_LENGTH:
        raise DomainError(_("The notes are longer than %(n)s characters.") % {"n": MAX_NOTES_LENGTH})
    build.check(benchmark, options)
    row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)  # two releases of one version come in turn
    if Release.objects.filter(benchmark=row, version=version, status__in=VERSION_TAKEN).exists():
        raise Conflict(_("Version %(version)s already exists; a release never changes.") % {"version": version})
    if not row.canary and cases_to_release(row).filter(created_by__isnull=False).exists():
        row.canary = benchmark.canary = canary()
        row.save(update_fields=["canary"])
    release = Release.objects.create(
        benchmark=row, version=version, notes=notes.strip(), options=options.as_json(), created_by=by, created_at=at
    )
    if enqueue:
        RELEASES.enqueue(release)
    return release


@transaction.atomic
def restart_release(*, release: Release, at: datetime) -> None:
    """Try a failed release again."""
    Benchmark.objects.select_for_update().get(pk=release.benchmark_id)  # two releases of one version come in turn
    existing = Release.objects.filter(benchmark=release.benchmark, version=release.version, status__in=VERSION_TAKEN)
    if existing.exists():
        raise Conflict(_("Version %(version)s already exists; a release never changes.") % {"version": release.version})
    RELEASES.restart(release)


def release_order(release: Release) -> build.ReleaseOrder:
    """The order from which a release is built. Its date is the day of the request, in UTC."""
    return build.ReleaseOrder(
        benchmark=release.benchmark,
        version=release.version,
        date=release.created_at.astimezone(UTC).date(),
        notes=release.notes,
        options=read_options(release.options),
    )


def archive_name(release: Release) -> str:
    """The folder inside the archive, and its name without the ending."""
    return f"{release.benchmark.slug}-{release.version}"


# The work -------------------------------------------------------------------------------------------------------------


class ReleaseJobs(JobKind[Release]):
    """Releases: a worker writes the archive."""

    model = Release
    task = "releases.tasks.run_release"
    sweep_task = "releases.tasks.sweep_releases"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times while creating this release.")
    crashed = gettext_lazy("The release failed; see the worker’s log for details.")

    def work(self, attempt: Attempt[Release]) -> None:
        """Write the archive, and freeze the release."""
        release = attempt.job
        with tempfile.TemporaryDirectory(prefix="release-") as name:
            root = Path(name) / "content"
            with _one_moment():
                built = build.build(release_order(release), root, attempt.progress)
            if changes := changes_since(_release_before(release), root):
                built.facts["changes"] = changes
            packed = Path(name) / "release.zip"
            write_zip(root, packed, top=archive_name(release))
            _keep(attempt, built, packed)

    def ended(self, job: Release, *, status: str, at: datetime) -> None:
        """Notify who requested the release; the admins, too, if it failed."""
        notify_of_end(
            benchmark=job.benchmark,
            by=job.created_by_id,
            begun_at=job.created_at,
            what="release",
            end=END_OF_JOB[status],
            url=reverse("releases:release", args=[job.benchmark.slug, job.public_id]),
            at=at,
            name=job.version,
        )


RELEASES = register(ReleaseJobs())


def run(*, release_id: int, clock: Clock) -> None:
    """Make a release if it waits to be made; safe to call any number of times, from any number of workers."""
    RELEASES.run(job_id=release_id, clock=clock)


def _keep(attempt: Attempt[Release], built: build.Built, packed: Path) -> None:
    storage = attempt.job.archive.storage
    with packed.open("rb") as file:
        name = storage.save(f"releases/{attempt.job.public_id}.zip", File(file))
    try:
        attempt.finish(progress=1.0, archive=name, size=packed.stat().st_size, digest=built.digest, facts=built.facts)
    except Superseded:
        storage.delete(name)
        raise


def _release_before(release: Release) -> Release | None:
    return Release.objects.filter(benchmark=release.benchmark, status=JobStatus.DONE).first()


@contextmanager
def _one_moment() -> Iterator[None]:
    """All reads inside see the state of one moment, whatever is written meanwhile."""
    if connection.in_atomic_block:  # the caller's transaction has begun; its isolation level is fixed
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield
