"""``manage.py backup``: the database and the uploaded files as one file; checks of such a file."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from operations.backups import restoring
from operations.services import backups


class Command(BaseCommand):
    """Makes or checks a backup; people may work meanwhile."""

    help = (
        "Write the database and the uploaded files into FILE, which must not exist. People may work meanwhile. "
        "The keys of endpoints are never in it, and SECRET_KEY only if asked for."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to make or check."""
        parser.add_argument("file", nargs="?", type=Path, metavar="FILE")
        parser.add_argument("--with-secret-key", action="store_true", help="put SECRET_KEY into the file")
        parser.add_argument("--check", action="store_true", help="make nothing: read FILE and compare its digests")
        parser.add_argument(
            "--test-restore",
            action="store_true",
            help="restore the database of FILE beside the running one, compare, and drop it",
        )
        parser.add_argument(
            "--scheduled", action="store_true", help="write into BACKUP_DIR, and delete old files there"
        )

    def handle(
        self,
        *,
        file: Path | None,
        with_secret_key: bool,
        check: bool,
        test_restore: bool,
        scheduled: bool,
        **options: Any,
    ) -> None:
        """Make one, or check one."""
        if scheduled == (file is not None):
            raise CommandError("Name a FILE, or give --scheduled.")
        if scheduled and (check or test_restore or with_secret_key):
            raise CommandError("--scheduled takes no other option: BACKUP_TEST_DAYS says when a backup is tested.")
        if check and with_secret_key:
            raise CommandError("--check makes no backup, so --with-secret-key has no meaning with it.")
        try:
            if file is None:
                self._scheduled()
                return
            if check:
                manifest = restoring.check(path=file, say=self._say)
                self._print(file, manifest["size"], manifest["sha256"], manifest)
            else:
                written = backups.back_up_to_file(
                    path=file,
                    at=timezone.now(),
                    clock=timezone.now,
                    say=self._say,
                    with_secret_key=with_secret_key,
                )
                manifest = {**written.manifest, "sha256": written.sha256}
                self._print(file, written.size, written.sha256, written.manifest)
            if test_restore:
                self._test(file, manifest["sha256"])
        except DomainError as error:
            raise CommandError(str(error)) from error

    def _scheduled(self) -> None:
        row = backups.back_up_to_folder(clock=timezone.now)
        if row.status != JobStatus.DONE:
            raise CommandError(f"The backup failed: {row.error}")
        self._say(f"{row.file}: {row.size:,} bytes, SHA-256 {row.sha256}")
        if row.test_ok is not None:
            self._say("Restored for a test: the same." if row.test_ok else "Restored for a test: it failed.")
            if not row.test_ok:
                raise CommandError(row.test_error)

    def _test(self, file: Path, sha256: str) -> None:
        differences, error = backups.try_restore(path=file, say=self._say)
        backups.keep_test(sha256=sha256, differences=differences, error=error, at=timezone.now())
        if error:
            raise CommandError(error)
        if differences:
            raise CommandError(f"The restored database differs in {', '.join(differences)}.")
        self._say("Restored into a scratch database: every table is the same.")

    def _print(self, file: Path, size: int, sha256: str, manifest: dict[str, Any]) -> None:
        counts = manifest["summary"]
        self._say(
            f"{file}: {size:,} bytes, of {manifest['made_at'][:16]} UTC, version {manifest['version']}.\n"
            f"  SHA-256   {sha256}\n"
            f"  accounts {counts['users']:,}, decisions {counts['decisions']:,}, rows of the audit trail "
            f"{counts['trail_rows']:,}, files {sum(name.startswith('media/') for name in manifest['members']):,}\n"
            f"  scores    {counts['scores']}\n"
            f"  sign-ins  {counts['sign_ins']}\n"
            f"  trail     {counts['trail']}"
        )
        if not manifest["with_secret_key"]:
            self._say("SECRET_KEY is not in it: keep that in another place.")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
