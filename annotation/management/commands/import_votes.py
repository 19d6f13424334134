"""``import_votes FILE --benchmark SLUG --group NAME [--scale NAME] [--format wide-csv]``."""

from __future__ import annotations

from argparse import ArgumentParser

from annotation.imports.acuity_votes import SHAPES
from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Physicians' votes on how urgent cases are, made elsewhere."""

    help = (
        "Import physicians' votes on how urgent cases are from CSV: a row a vote, or a row a case and a column a "
        "physician. They form a closed batch."
    )
    kind = "votes"
    own_options = ("scale",)

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose votes they are, and on which scale."""
        parser.add_argument("--group", required=True, metavar="NAME", help="expert group, made if it is not there")
        parser.add_argument(
            "--scale",
            metavar="NAME",
            help="three, four, five or a scale of the benchmark (default: its only one, or four)",
        )
        parser.add_argument("--format", choices=SHAPES, help="shape of the file (default: by its heading)")
