"""``import_bank FILE --benchmark SLUG --bank NAME [--licence …]``."""

from __future__ import annotations

from argparse import ArgumentParser

from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """A bank of reusable criteria for one benchmark."""

    help = "Import a bank of criteria from JSONL or CSV."
    kind = "bank"

    def add_options(self, parser: ArgumentParser) -> None:
        """The bank's short name, and its licence where it is new."""
        parser.add_argument("--bank", required=True, metavar="NAME", help="made if it is not there")
        parser.add_argument("--licence", default="")
