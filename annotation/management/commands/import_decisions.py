"""``import_decisions FILE --benchmark SLUG --group NAME``."""

from __future__ import annotations

from argparse import ArgumentParser

from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Physicians' decisions made elsewhere."""

    help = "Import physicians' decisions from JSONL or CSV: a row a decision. They form a closed batch."
    kind = "decisions"

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose decisions they are."""
        parser.add_argument("--group", required=True, metavar="NAME", help="expert group, made if it is not there")
