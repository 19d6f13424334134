"""``export_judgements --benchmark SLUG --rater R --candidate C --out FILE``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from consilium.core.errors import DomainError
from rubrics.management.lookups import benchmark_called
from rubrics.models import Response
from scoring.runs.selectors import coverage_notes
from scoring.selectors.judgements import JudgementExport, export_judgements


class Command(BaseCommand):
    """A rater's decisions as ClinConsensus' judgement list."""

    help = "Write what a rater says of a candidate's responses as ClinConsensus' JSON list, an element for each case."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose decisions about whom, and where to."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--rater", required=True, metavar="R", help="group:NAME[@stage], run:ID, a judge, …")
        parser.add_argument("--candidate", required=True, metavar="C", help="name of a candidate")
        parser.add_argument("--sample", type=int, default=0, metavar="N", help="which of its responses (default 0)")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and say what is not in it."""
        benchmark = benchmark_called(options["benchmark"])
        if options["sample"] < 0:
            raise CommandError("--sample must be 0 or more")
        try:
            export = export_judgements(
                benchmark=benchmark,
                rater=options["rater"],
                candidate=options["candidate"],
                sample=options["sample"],
                out=options["out"],
            )
        except DomainError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['out']}: {error.strerror}") from error
        self.stdout.write(
            f"{options['out']}: {export.cases} cases, {export.written} judgements of {export.rater.label} "
            f"on {export.candidate.name}"
        )
        for note in _notes(export):
            self.stderr.write(f"note: {note}")


def _notes(export: JudgementExport) -> list[str]:
    notes = coverage_notes(export.rater.judges)
    if export.left_out:
        counts = ", ".join(f"{number} {why}" for why, number in sorted(export.left_out.items()))
        notes.append(f"criteria that are left out: {counts}")
    if export.unanswered:
        notes.append(f"{export.unanswered} cases have no response with sample {export.sample}")
    others = Response.objects.filter(candidate=export.candidate).exclude(sample=export.sample).count()
    if others:
        notes.append(f"{others} responses of other samples are not in this list; --sample names another")
    return notes
