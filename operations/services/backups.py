"""Scheduled and requested backups: when they are made, tested and deleted, and what operators are told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import ApiToken, Notification, User, UserSession
from accounts.services import security_log
from accounts.services.notifications import notify_each
from consilium.core.errors import Conflict, DomainError
from consilium.core.jobs import MAX_ATTEMPTS, OPEN, Attempt, Clock, JobKind, JobStatus, Superseded, register
from consilium.core.locks import lock_table
from operations.backups import making, restoring
from operations.models import Backup
from scoring.models import KeyGrant

logger = structlog.get_logger(__name__)

# The last good backup may be so old before operators are told.
MAX_AGE = timedelta(days=2)
PARTS_ARE_LOST_AFTER = timedelta(days=1)
OK, WARNING, ERROR = "ok", "warning", "error"


class NoFolder(DomainError):
    """`BACKUP_DIR` is not set."""


class BackupJobs(JobKind[Backup]):
    """Backups into `BACKUP_DIR`, made by a worker."""

    model = Backup
    task = "operations.tasks.run_backup"
    sweep_task = "operations.tasks.sweep_backups"
    worker_lost = gettext_lazy("The worker stopped unexpectedly %(times)s times during this backup.")
    crashed = gettext_lazy("The backup failed; the log of the worker has the details.")
    related = ("created_by",)

    def work(self, attempt: Attempt[Backup]) -> None:
        """Make the backup, restore it for a test if one is due, and delete files that newer ones replace."""
        folder = _folder(attempt.clock())

        def say(line: str) -> None:
            attempt.progress(0)  # ends a backup that another worker has taken over
            logger.info("backup_progress", line=line.strip())

        tested: dict[str, Any] = {}
        is_of_lost_worker = _is_complete(attempt.job)
        if not is_of_lost_worker:
            # By the time of this attempt: a worker that was lost may have left a file of the attempt before.
            path = making.free_name(folder, attempt.clock())
            written = making.make(path=path, at=attempt.clock(), say=say)
            # The row names the checked file before its test, whatever becomes of that.
            values = {"file": str(path), "size": written.size, "sha256": written.sha256}
            if not self.held(attempt.job).update(**values):
                path.unlink(missing_ok=True)
                raise Superseded
            attempt.job.refresh_from_db(fields=values)
        if is_of_lost_worker and attempt.job.attempts >= MAX_ATTEMPTS:
            lost = str(self.worker_lost) % {"times": MAX_ATTEMPTS - 1}
            tested = {"tested_at": attempt.clock(), "test_ok": False, "test_error": lost}
        elif _test_is_due(attempt.clock()):
            differing, error = try_restore(path=Path(attempt.job.file), say=say)
            tested = _test_values(differing, error, at=attempt.clock())
        attempt.finish(**tested)
        if tested and not tested["test_ok"]:
            _notify("test_failed", at=attempt.clock(), key=f"backup-test:{attempt.job.public_id}")
        delete_replaced(at=attempt.clock())

    def ended(self, job: Backup, *, status: str, at: datetime) -> None:
        """Record the end, and notify the operators if it failed."""
        failed = status != JobStatus.DONE
        kind = "backup_failed" if failed else "backup_made"
        security_log.record(kind, at=at, by=job.created_by, source=job.source, backup=job.public_id)
        if failed:
            _notify("failed", at=at, key=f"backup-failed:{job.public_id}")


BACKUPS = register(BackupJobs())


# Requests ---------------------------------------------------------------------------------------------------------


@transaction.atomic
def request_backup(*, by: User, at: datetime) -> Backup:
    """An operator asks for a backup now; `Conflict` while another is being made."""
    _require_folder()
    lock_table(Backup)
    if Backup.objects.filter(status__in=OPEN).exists():
        raise Conflict(_("A backup is being made."))
    row = Backup.objects.create(source=Backup.Source.PAGE, created_by=by, created_at=at)
    BACKUPS.enqueue(row)
    return row


@transaction.atomic
def schedule(*, at: datetime) -> Backup | None:
    """Request the backup of today if its hour has come and it has not been requested; called every few minutes."""
    if not settings.BACKUP_DIR or at.hour < settings.BACKUP_HOUR:
        return None
    row, is_new = Backup.objects.get_or_create(
        due_on=at.date(), defaults={"source": Backup.Source.SCHEDULE, "created_at": at}
    )
    if not is_new:
        return None
    BACKUPS.enqueue(row)
    return row


def run(*, backup_id: int, clock: Clock) -> None:
    """Make a backup if it waits to be made; safe to call any number of times, from any number of workers."""
    BACKUPS.run(job_id=backup_id, clock=clock)


def back_up_to_folder(*, clock: Clock) -> Backup:
    """Make a backup into `BACKUP_DIR` in this process, for a timer of the system; the row says how it ended."""
    _require_folder()
    row = Backup.objects.create(source=Backup.Source.COMMAND, created_at=clock())
    BACKUPS.run(job_id=row.pk, clock=clock)
    row.refresh_from_db()
    return row


def back_up_to_file(
    *, path: Path, at: datetime, clock: Callable[[], datetime], say: making.Say, with_secret_key: bool
) -> making.Backup:
    """Make a backup as the file that a command names, and keep a row of it, also where it fails.

    A place that is refused is a slip of whoever typed it: of that there is no row, and operators are not notified.
    """
    making.refuse_place(path)
    row = Backup(source=Backup.Source.COMMAND, created_at=at, started_at=at, attempts=1, file=str(path.absolute()))
    try:
        written = making.make(path=path, at=at, say=say, with_secret_key=with_secret_key)
    except DomainError as error:
        row.error = str(error)
        _keep_end(row, JobStatus.FAILED, at=clock())
        raise
    row.size, row.sha256 = written.size, written.sha256
    _keep_end(row, JobStatus.DONE, at=clock())
    return written


def try_restore(*, path: Path, say: making.Say) -> tuple[list[str], str]:
    """Restore a backup for a test: the tables that differ, and why it failed. A failure says nothing of the file."""
    try:
        return restoring.try_restore(path=path, say=say), ""
    except Superseded:
        raise
    except DomainError as refused:
        return [], str(refused)
    except Exception as error:  # of the server, of the disk, or the time limit of the task
        logger.exception("backup_test_failed")
        return [], f"{type(error).__name__}: {error}".strip().removesuffix(":")


def keep_test(*, sha256: str, differences: list[str], error: str, at: datetime) -> None:
    """Note on the row of a backup, if there is one, how its test by a command ended."""
    rows = Backup.objects.filter(sha256=sha256, status=JobStatus.DONE)
    rows.update(**_test_values(differences, error, at=at))


@dataclass(frozen=True, slots=True)
class AccessToCheck:
    """How much gives access in a restored database; some of it may have ended after the backup was made."""

    tokens: int
    key_grants: int
    active_accounts: int


@transaction.atomic
def after_restore(*, at: datetime, values: dict[str, Any]) -> AccessToCheck:
    """In the restored database: end all sessions, forget the backups that were being made, and record the restore.

    Files of earlier versions hold sessions, and one may have been ended after the backup. In a backup that a worker
    made, its own row says that it is being made: it did not fail, and must not be in the way of the backup of today.
    """
    UserSession.objects.all().delete()
    Backup.objects.filter(status__in=OPEN).delete()
    security_log.record("backup_restored", at=at, **values)
    return AccessToCheck(
        tokens=ApiToken.objects.filter(revoked_at=None, expires_at__gt=at).count(),
        key_grants=KeyGrant.objects.count(),
        active_accounts=User.objects.filter(is_active=True).count(),
    )


# The state --------------------------------------------------------------------------------------------------------


def last_good() -> Backup | None:
    """The newest backup that succeeded."""
    return Backup.objects.filter(status=JobStatus.DONE).order_by("-finished_at").first()


def state(at: datetime) -> tuple[str, str]:
    """How the backups are: ``ok``, ``warning`` or ``error``, and one sentence."""
    good = last_good()
    ended = Backup.objects.exclude(status__in=OPEN).order_by("-finished_at").first()
    tested = Backup.objects.exclude(tested_at=None).order_by("-tested_at").first()
    if good is None and ended is None and not settings.BACKUP_DIR:
        return WARNING, _("No backups are made: BACKUP_DIR is not set.")
    if good is None or good.finished_at is None:
        return (ERROR, _("No backup has succeeded.")) if ended else (WARNING, _("No backup has been made yet."))
    when = {"time": f"{good.finished_at:%Y-%m-%d %H:%M} UTC"}
    if at - good.finished_at > MAX_AGE:
        return ERROR, _("The last good backup is of %(time)s, more than two days ago.") % when
    if ended is not None and ended.status != JobStatus.DONE:
        return ERROR, _("The last backup failed. The last good one is of %(time)s.") % when
    if tested is not None and not tested.test_ok:
        return ERROR, _("The last test restore of a backup failed.")
    if tested is None:
        return OK, _("The last backup is of %(time)s. None was restored for a test yet.") % when
    return OK, _("The last backup is of %(time)s.") % when


def notify_if_overdue(*, at: datetime) -> bool:
    """Notify the operators, once for each last good backup, if it is older than `MAX_AGE`.

    `BACKUP_DIR` does not matter: where a timer of the system starts backups, the worker has none.
    """
    good = last_good()
    first = Backup.objects.order_by("created_at").first()
    since = good.finished_at if good else first.created_at if first else None
    if since is None or at - since <= MAX_AGE:
        return False
    _notify("overdue", at=at, key=f"backup-overdue:{since:%Y%m%dT%H%M%S}", since=since.isoformat(timespec="seconds"))
    return True


# Retention --------------------------------------------------------------------------------------------------------


def delete_replaced(*, at: datetime) -> list[str]:
    """Delete the files of `BACKUP_DIR` that need not be kept, and parts that lost workers left; names of the files.

    Kept are the newest of each of the last `BACKUP_KEEP_DAYS` days, and of each of the last `BACKUP_KEEP_WEEKS` weeks,
    that have one. Files of which there is no row, and those that a command named (`back_up_to_file`), are never
    deleted, and take the place of none. The file of a worker that was lost during its test is complete, and counts as
    the others.
    """
    folder = Path(settings.BACKUP_DIR)
    is_complete = Q(status=JobStatus.DONE) | Q(status=JobStatus.FAILED) & ~Q(sha256="")
    is_job = Q(heartbeat_at__isnull=False)  # each claim writes one; no job makes the file that a command names
    rows = [
        row
        for row in Backup.objects.filter(is_complete, is_job, deleted_at=None).order_by("-finished_at")
        if Path(row.file).parent == folder
    ]
    days: dict[Any, Backup] = {}
    weeks: dict[Any, Backup] = {}
    for row in rows:
        assert row.finished_at is not None
        days.setdefault(row.finished_at.date(), row)
        weeks.setdefault(row.finished_at.isocalendar()[:2], row)
    kept = {row.pk for row in [*days.values()][: settings.BACKUP_KEEP_DAYS]}
    kept |= {row.pk for row in [*weeks.values()][: settings.BACKUP_KEEP_WEEKS]}
    deleted = []
    for row in rows:
        if row.pk not in kept:
            Path(row.file).unlink(missing_ok=True)
            Backup.objects.filter(pk=row.pk).update(deleted_at=at)
            deleted.append(Path(row.file).name)
    for part in folder.glob(".consilium-*.part"):
        if at.timestamp() - part.stat().st_mtime > PARTS_ARE_LOST_AFTER.total_seconds():
            part.unlink(missing_ok=True)
    return deleted


# ------------------------------------------------------------------------------------------------------------------


def _require_folder() -> None:
    if not settings.BACKUP_DIR:
        raise NoFolder(_("BACKUP_DIR is not set: it names the folder for backups."))


def _folder(_at: datetime) -> Path:
    _require_folder()
    folder = Path(settings.BACKUP_DIR)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        facts = {"error": error.strerror, "folder": folder}
        raise DomainError(_("BACKUP_DIR cannot be used: %(error)s: %(folder)s") % facts) from error
    return folder


def _test_is_due(at: datetime) -> bool:
    if not settings.BACKUP_TEST_DAYS:
        return False
    # An hour less, so that a test that took long today does not move that of its next day.
    since = at - timedelta(days=settings.BACKUP_TEST_DAYS) + timedelta(hours=1)
    return not Backup.objects.filter(tested_at__gte=since, test_ok=True).exists()


def _is_complete(job: Backup) -> bool:
    """Whether an earlier attempt wrote and checked the file; its worker was lost during the test."""
    path = Path(job.file)
    return bool(job.sha256) and path.is_file() and path.stat().st_size == job.size


def _test_values(differences: list[str], error: str, *, at: datetime) -> dict[str, Any]:
    is_ok = not differences and not error
    return {"tested_at": at, "test_ok": is_ok, "test_error": error or _differing(differences)}


def _differing(tables: list[str]) -> str:
    return _("These tables differ: %(tables)s") % {"tables": ", ".join(tables)} if tables else ""


@transaction.atomic
def _keep_end(row: Backup, status: str, *, at: datetime) -> None:
    row.status, row.finished_at = status, at
    row.save()
    BACKUPS.ended(row, status=status, at=at)


def _notify(what: str, *, at: datetime, key: str, **values: Any) -> None:
    operators = User.objects.filter(is_superuser=True, is_active=True).order_by("pk")
    notify_each(
        people={user: {"backup": what, **values} for user in operators.values_list("pk", flat=True)},
        kind=Notification.Kind.WORKER,
        benchmark_title="Consilium",
        url=reverse("operations:backups"),
        at=at,
        key=key,
    )
