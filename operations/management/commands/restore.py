"""``manage.py restore``: a backup into an empty database and an empty folder."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from operations.backups import contents, restoring
from operations.services import backups


class Command(BaseCommand):
    """Restores a backup; it never replaces anything."""

    help = (
        "Restore the database and the uploaded files of FILE, which manage.py backup made, into an empty database and "
        "an empty folder (DATABASE_URL, CONSILIUM_HOME). Nothing is replaced."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The backup."""
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *, file: Path, **options: Any) -> None:
        """Restore, and say what is there now."""
        try:
            restored = restoring.restore(path=file, say=self._say)
            manifest = restored.manifest
            values = {"made_at": manifest["made_at"], "same": not restored.differences}
            with restoring.data_is_there("the restore could not be recorded"):
                to_check = backups.after_restore(at=timezone.now(), values=values)
        except DomainError as error:
            raise CommandError(str(error)) from error
        before, after = contents.summary(manifest["tables"]), restored.summary
        self._say(f"Restored the backup of {manifest['made_at'][:16]} UTC, version {manifest['version']}:")
        for name, words in (
            ("users", "accounts"),
            ("decisions", "decisions"),
            ("security_events", "events of the security log"),
            ("trail_rows", "rows of the audit trail"),
            ("scores", "digest of what scores come from"),
            ("sign_ins", "digest of the accounts"),
            ("trail", "digest of the audit trail"),
        ):
            same = "the same" if before[name] == after[name] else f"the backup had {before[name]}"
            self._say(f"  {words}: {after[name]} ({same})")
        self._say(f"  uploaded files: {restored.files}")
        self._say_about_the_key(restored.secret_key)
        self._say(
            "No session is open: people sign in again, with the same password and second step. Everything else is as "
            "it was at the time of the backup. What was ended later is valid again: check "
            f"{to_check.tokens} API tokens, {to_check.key_grants} grants of keys of endpoints, and "
            f"{to_check.active_accounts} active accounts."
        )
        if restored.differences:
            raise CommandError(f"These tables differ from the backup: {', '.join(restored.differences)}.")
        self._say("Every table is as in the backup. Start with: make up")

    def _say_about_the_key(self, kept: Path | None) -> None:
        if kept is None:
            self._say(
                "SECRET_KEY was not in the file. Passwords, second factors and tokens work as before. Without the "
                "former key open invitations have to be sent again, and the sides A and B may change places in open "
                "adjudications."
            )
        elif settings.EMBEDDED:
            self._say(f"SECRET_KEY is in {kept}.")
        else:
            self._say(f"SECRET_KEY is in {kept}: set the variable to that text, and delete the file.")

    def _say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
