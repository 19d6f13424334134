"""``import_verdicts FILE… --benchmark SLUG --judge NAME [--candidate NAME] [--replicates] [--learned-from FILE]``."""

from __future__ import annotations

import json
from argparse import ArgumentParser, ArgumentTypeError
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from consilium.core.jobs import no_progress
from rubrics.imports import Counts, run_import
from rubrics.management.import_command import ImportCommand
from rubrics.models import Benchmark
from scoring.services.verdicts import import_replicates


class Command(ImportCommand):
    """Verdicts of judges made elsewhere."""

    help = (
        "Import verdicts made elsewhere as runs of one judge, one for each FILE: all files or none. The judge's name "
        "then stands for all its imported runs together. The beginning of a file tells what it is: a row a verdict "
        "(JSONL or CSV: case, candidate, sample, criterion, outcome, explanation, replicate, or the judge's whole "
        "answer as output, which fine_tune.py writes); a row a response with a "
        "grade for each criterion (HealthBench's result rows); ClinConsensus' judgement lists (case_id, "
        "criteria_results); *_allresults.json of the official HealthBench code; a log of Inspect (.eval)."
    )
    kind = "verdicts"
    several_files = True
    own_options = ("learned",)

    def add_options(self, parser: ArgumentParser) -> None:
        """Whose verdicts they are."""
        parser.add_argument("--judge", required=True, metavar="NAME", help="judge, made if it is not there")
        parser.add_argument(
            "--candidate",
            metavar="NAME",
            help="whose responses they are, whatever the files say",
        )
        parser.add_argument(
            "--replicates",
            action="store_true",
            help="the files hold the judge's answers to the same questions: the first replicate 0, the next 1, …; "
            "they become one run",
        )
        parser.add_argument(
            "--learned-from",
            dest="learned",
            type=_candidates_of,
            metavar="FILE",
            help="manifest.json of the export_sft that the judge was trained on; reports mark its candidates",
        )

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """One run for each file, or with ``--replicates`` one for all of them."""
        if not options["replicates"]:
            return super().import_files(paths, chosen, options)
        with ExitStack() as stack:
            try:
                files = [(str(path), stack.enter_context(path.open("rb"))) for path in paths]
            except OSError as error:
                raise CommandError(f"{error.filename}: {error.strerror}") from error

            def work(benchmark: Benchmark) -> Counts:
                return import_replicates(
                    benchmark=benchmark,
                    files=files,
                    options=chosen,
                    by=self.author(options),
                    at=timezone.now(),
                    progress=no_progress,
                )

            return run_import(kind=self.kind, slug=options["benchmark"], work=work)


def _candidates_of(path: str) -> str:
    """The candidates of the training and dev parts of a manifest, one a line."""
    try:
        parts = json.loads(Path(path).read_text(encoding="utf-8"))["parts"]
        names = [name for part in ("train", "dev") for name in parts[part]["candidates"]]
        return "\n".join(map(str, names))
    except OSError as error:
        raise ArgumentTypeError(f"{path}: {error.strerror}") from None
    except (ValueError, LookupError, TypeError):
        raise ArgumentTypeError(f"{path} is not the manifest.json of export_sft") from None
