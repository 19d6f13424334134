"""``verify_release DIR``: check a release, a folder or a ZIP, from anywhere."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from releases.verification import verify
from releases.verification.sources import Unreadable


class Command(BaseCommand):
    """Sums both ways, the form of every line, counts, Croissant and canary; needs no database."""

    help = "Check a release: sums, forms, counts, metadata. Ends with status 1 and a list where something is wrong."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Which release."""
        parser.add_argument("path", type=Path, metavar="DIR", help="the folder of the release, or its ZIP")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print what it is, then everything that is wrong."""
        path: Path = options["path"]
        try:
            report = verify(path)
        except Unreadable as error:
            raise CommandError(f"{path}: {error}") from error
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        name = " ".join(part for part in (report.title, report.version) if part) or "a release"
        self.stdout.write(f"{path}: {name}, {report.files} files, {report.bytes:,} bytes")
        if report.counts:
            self.stdout.write(", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in sorted(report.counts.items())))
        if not report.total:
            self.stdout.write(f"Everything holds. SHA-256 of SHA256SUMS: {report.digest}")
            return
        for problem in report.problems:
            self.stderr.write(problem)
        if report.total > len(report.problems):
            self.stderr.write(f"… and {report.total - len(report.problems)} more")
        noun = "problem" if report.total == 1 else "problems"
        raise CommandError(f"{path}: {report.total} {noun}; this is not the release as it was made.")
