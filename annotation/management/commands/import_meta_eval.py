"""``import_meta_eval FILE --benchmark SLUG [--group NAME]``."""

from __future__ import annotations

from argparse import ArgumentParser

from annotation.imports.meta_eval import GROUP
from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """HealthBench meta-evaluation rows."""

    help = "Import HealthBench meta-evaluation rows from JSONL: completions, criteria and physicians' labels."
    kind = "meta_eval"

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose labels they are."""
        parser.add_argument("--group", default="", metavar="NAME", help=f"expert group of the physicians ({GROUP})")
