"""``import_responses FILE --benchmark SLUG [--kind …] [--candidate NAME]``."""

from __future__ import annotations

from argparse import ArgumentParser

from rubrics.management.import_command import ImportCommand
from rubrics.models import Candidate


class Command(ImportCommand):
    """Responses of candidates to cases that are there."""

    help = "Import responses from JSONL or a table."
    kind = "responses"
    tables = True

    def add_options(self, parser: ArgumentParser) -> None:
        """Who answered."""
        parser.add_argument(
            "--kind",
            dest="candidate_kind",
            choices=Candidate.Kind.values,
            default="",
            help="kind of the candidates in the file (new ones are models by default)",
        )
        parser.add_argument(
            "--candidate", default="", metavar="NAME", help="the candidate of every row, whatever the row says"
        )
