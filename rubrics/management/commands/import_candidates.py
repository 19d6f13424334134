"""``import_candidates FILE --benchmark SLUG``."""

from __future__ import annotations

from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Attributes of candidates that are there."""

    help = "Import candidates' attributes (family, release date, size, effort, prices) from a table."
    kind = "candidates"
    tables = True
