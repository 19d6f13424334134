"""``import_release_acuity RELEASE --benchmark SLUG``: labels, votes, reference sets and readings of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from releases.acuity_import.services import import_acuity_at
from rubrics.imports import Counts
from rubrics.imports.run import run_import
from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Acuity of a release, back into a benchmark."""

    help = (
        "Import acuity of a release (its folder, its ZIP, or its folder acuity): labels, votes, rulings, signed "
        "reference sets, readings, runs, responses, and what physicians read in these. All of it, or nothing. Cases "
        "with rubrics are imported before, by import_cases."
    )
    kind = "release"

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """Import the release."""
        (path,) = paths
        if not path.exists():
            raise CommandError(f"{path}: there is no such folder or file")
        at = timezone.now()
        return run_import(
            kind=self.kind,
            slug=options["benchmark"],
            work=lambda benchmark: import_acuity_at(path, benchmark=benchmark, by=None, at=at),
        )
