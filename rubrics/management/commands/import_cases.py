"""``import_cases FILE --benchmark SLUG [--format …]``."""

from __future__ import annotations

from argparse import ArgumentParser

from rubrics.management.import_command import ImportCommand
from rubrics.parsing.cases import FORMATS


class Command(ImportCommand):
    """Cases with rubrics: HealthBench and HealthBench Professional examples, or ClinConsensus cases."""

    help = (
        "Import cases with their rubrics from JSONL (HealthBench and HealthBench Professional examples, ClinConsensus "
        "cases) or a table."
    )
    kind = "cases"
    tables = True

    def add_options(self, parser: ArgumentParser) -> None:
        """The format of the file."""
        parser.add_argument("--format", choices=("auto", *FORMATS), default="auto")
