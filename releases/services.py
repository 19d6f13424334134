"""Every write to releases. The row is there before any task; a worker claims it, writes the archive, and freezes it."""

from __future__ import annotations

import re
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

import structlog
from django.core.files import File
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.jobs import JobStatus
from consilium.lib.errors import Conflict, DomainError
from consilium.lib.i18n import language_of
from consilium.lib.transitions import transition
from releases import build
from releases.changes import changes_since
from releases.content.cases import cases_to_release
from releases.content.folder import write_zip
from releases.models import Release
from releases.options import ReleaseOptions, read_options
from rubrics.models import Benchmark

logger = structlog.get_logger(__name__)

# A worker that has not been heard of for so long is taken for lost.
LOST_AFTER = timedelta(minutes=2)
# A release that waits longer than this was not rung for, or its bell was lost.
UNHEARD_AFTER = timedelta(seconds=10)
MAX_ATTEMPTS = 3
BEAT_SECONDS = 1.0
MAX_NOTES_LENGTH = 20_000
STANDING = (JobStatus.PENDING, JobStatus.RUNNING, JobStatus.DONE)

Clock = Callable[[], datetime]
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._+-]{0,39}")


class Superseded(Conflict):
    """Another worker holds the release by now."""


def next_version(benchmark: Benchmark) -> str:
    """What the next release may be called: one more than the newest in its last number, 1.0 at first."""
    newest = Release.objects.filter(benchmark=benchmark, status__in=STANDING).first()
    if newest is None:
        return "1.0"
    taken = set(Release.objects.filter(benchmark=benchmark, status__in=STANDING).values_list("version", flat=True))
    version = newest.version
    while version in taken:
        head, number, tail = re.fullmatch(r"(.*?)(\d*)(\D*)", version).groups()  # type: ignore[union-attr]
        version = f"{head}{int(number) + 1}{tail}" if number else f"{version}.1"
    return version


def new_canary() -> str:
    """A text that nobody else has, by which data that must not be trained on is found."""
    return f"Benchmark data: keep this out of training corpora. Canary GUID {uuid.uuid4()}"


def set_licence(*, benchmark: Benchmark, licence: str) -> None:
    """Name the licence under which a benchmark is released from now on; what was released stands."""
    licence = licence.strip()
    if len(licence) > 200:
        raise DomainError(_("A licence is an SPDX id, such as CC-BY-4.0, or at most 200 characters."))
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

    Cases that were written here get a canary, which the benchmark keeps from its first release on.
    """
    from releases.tasks import run_release

    version = version.strip()
    if not _VERSION.fullmatch(version):
        raise DomainError(_("A version is up to 40 letters, digits, dots, hyphens and underscores, such as 1.0."))
    if len(notes) > MAX_NOTES_LENGTH:
        raise DomainError(_("The notes are longer than %(n)s characters.") % {"n": MAX_NOTES_LENGTH})
    build.check(benchmark, options)
    row = Benchmark.objects.select_for_update().get(pk=benchmark.pk)  # two releases of one version come in turn
    if Release.objects.filter(benchmark=row, version=version, status__in=STANDING).exists():
        raise Conflict(_("There is a version %(version)s already; a release never changes.") % {"version": version})
    if not row.canary and cases_to_release(row).filter(created_by__isnull=False).exists():
        row.canary = benchmark.canary = canary()
        row.save(update_fields=["canary"])
    release = Release.objects.create(
        benchmark=row, version=version, notes=notes.strip(), options=options.as_json(), created_by=by, created_at=at
    )
    if enqueue:
        run_release.delay_on_commit(release.pk)
    return release


@transaction.atomic
def restart_release(*, release: Release, at: datetime) -> None:
    """Try a failed release again."""
    from releases.tasks import run_release

    Benchmark.objects.select_for_update().get(pk=release.benchmark_id)  # two releases of one version come in turn
    existing = Release.objects.filter(benchmark=release.benchmark, version=release.version, status__in=STANDING)
    if existing.exists():
        raise Conflict(
            _("There is a version %(version)s already; a release never changes.") % {"version": release.version}
        )
    transition(
        release,
        source=[JobStatus.FAILED],
        target=JobStatus.PENDING,
        attempts=0,
        progress=0.0,
        error="",
        started_at=None,
        finished_at=None,
    )
    run_release.delay_on_commit(release.pk)


def release_order(release: Release) -> build.ReleaseOrder:
    """What a release is made from. Its day is that on which it was asked for, in UTC."""
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


def claim(*, release_id: int, at: datetime) -> Release | None:
    """Take up a release that waits, or one whose worker was lost; None where there is nothing to do."""
    open_to_claim = Release.objects.filter(pk=release_id).filter(
        Q(status=JobStatus.PENDING) | Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    )
    message = _("The worker was lost %(times)s times while making this release.") % {"times": MAX_ATTEMPTS}
    exhausted = open_to_claim.filter(attempts__gte=MAX_ATTEMPTS)
    if exhausted.update(status=JobStatus.FAILED, finished_at=at, error=message):
        return None
    hit = open_to_claim.update(
        status=JobStatus.RUNNING, started_at=at, heartbeat_at=at, progress=0.0, attempts=F("attempts") + 1
    )
    return Release.objects.select_related("benchmark", "created_by").get(pk=release_id) if hit else None


def run(*, release_id: int, clock: Clock) -> None:
    """Make a release if it is there to be made; safe to call any number of times, from any number of workers."""
    release = claim(release_id=release_id, at=clock())
    if release is None:
        return
    with language_of(release.created_by):
        _run(release, clock)


def _run(release: Release, clock: Clock) -> None:
    try:
        with tempfile.TemporaryDirectory(prefix="release-") as name, Heartbeat(release, clock) as heartbeat:
            root = Path(name) / "content"
            with _one_moment():
                built = build.build(release_order(release), root, heartbeat.report)
            if changes := changes_since(_release_before(release), root):
                built.facts["changes"] = changes
            packed = Path(name) / "release.zip"
            write_zip(root, packed, top=archive_name(release))
            heartbeat.stop()
            _keep(release, built, packed, clock())
    except Superseded:
        logger.info("release_superseded", release=release.public_id, attempt=release.attempts)
    except DomainError as error:
        _close(release, status=JobStatus.FAILED, error=str(error), finished_at=clock())
    except Exception:
        message = _("The release failed; the log of the worker has the details.")
        _close(release, status=JobStatus.FAILED, error=message, finished_at=clock())
        raise


def _release_before(release: Release) -> Release | None:
    return Release.objects.filter(benchmark=release.benchmark, status=JobStatus.DONE).first()


def _keep(release: Release, built: build.Built, packed: Path, at: datetime) -> None:
    with packed.open("rb") as file:
        name = release.archive.storage.save(f"releases/{release.public_id}.zip", File(file))
    hit = _close(
        release,
        status=JobStatus.DONE,
        progress=1.0,
        archive=name,
        size=packed.stat().st_size,
        digest=built.digest,
        facts=built.facts,
        finished_at=at,
    )
    if not hit:
        release.archive.storage.delete(name)
        raise Superseded(_("Another worker makes this release by now."))


@contextmanager
def _one_moment() -> Iterator[None]:
    """All that is read inside is as of one moment, whatever is written meanwhile."""
    if connection.in_atomic_block:  # the caller's transaction has begun; its isolation stands
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield


def _held(release: Release) -> QuerySet[Release]:
    return Release.objects.filter(pk=release.pk, status=JobStatus.RUNNING, attempts=release.attempts)


def _close(release: Release, **changes: Any) -> bool:
    return bool(_held(release).update(**changes))


def unfinished(*, at: datetime) -> list[int]:
    """Releases that nobody works on though they are due: their bell, or their worker, was lost."""
    waiting = Q(status=JobStatus.PENDING, created_at__lt=at - UNHEARD_AFTER)
    lost = Q(status=JobStatus.RUNNING, heartbeat_at__lt=at - LOST_AFTER)
    return list(Release.objects.filter(waiting | lost).order_by("created_at").values_list("pk", flat=True))


class Heartbeat:
    """Says that the worker lives and how far it is, from a thread with a connection of its own.

    The release is read in one transaction, which shows nothing and may not write.
    """

    def __init__(self, release: Release, clock: Clock) -> None:
        self._release = release
        self._clock = clock
        self._share = 0.0
        self._lost = False
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"release {release.public_id}", daemon=True)
        self._watched = not connection.in_atomic_block  # else nobody could see the row yet

    def __enter__(self) -> Heartbeat:
        if self._watched:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def report(self, share: float) -> None:
        """Note how far it is; `Superseded` if another worker has taken the release over."""
        self._share = min(max(share, 0.0), 1.0)
        if self._lost:
            raise Superseded(_("Another worker makes this release by now."))

    def stop(self) -> None:
        """Beat no more, and wait for the beat that may be under way."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _beat(self) -> None:
        try:
            while not self._stop.wait(BEAT_SECONDS):
                if not _held(self._release).update(progress=self._share, heartbeat_at=self._clock()):
                    self._lost = True
                    return
        finally:
            connection.close()
