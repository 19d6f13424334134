"""``import_verdicts FILE --benchmark SLUG --judge NAME [--candidate NAME]``."""

from __future__ import annotations

from argparse import ArgumentParser

from rubrics.management.import_command import ImportCommand


class Command(ImportCommand):
    """Verdicts of judges made elsewhere."""

    help = (
        "Import verdicts made elsewhere as a run of one judge: a row a verdict (JSONL or CSV), or a row a response "
        "with one grade for each criterion (HealthBench results)."
    )
    kind = "verdicts"

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose verdicts they are."""
        parser.add_argument("--judge", required=True, metavar="NAME", help="judge, made if it is not there")
        parser.add_argument("--candidate", metavar="NAME", help="candidate of the rows that name none")
