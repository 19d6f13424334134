"""``import_pairs FILE --benchmark SLUG --group NAME [--judgements 2]``: brings near-miss pairs in from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from consilium.core.errors import DomainError, ImportRefused


class Command(BaseCommand):
    help = (
        "Bring near-miss pairs in from a file: JSONL, or CSV with the columns case, kind, and reference and candidate, "
        "or find and replace. All of a file, or nothing with every fault named."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--group", required=True, metavar="NAME", help="made where it is not there")
        parser.add_argument(
            "--judgements", choices=("1", "2"), default="1", help="how many physicians have to say the same (default 1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        from consilium.core.jobs import no_progress
        from rubrics.management.lookups import benchmark_called
        from validation.pairs.importing import import_pairs

        benchmark, path = benchmark_called(options["benchmark"]), options["file"]
        try:
            with path.open("rb") as file, transaction.atomic(), pghistory.context(url="command import_pairs"):
                counts = import_pairs(
                    benchmark=benchmark,
                    file=file,
                    options={name: options[name] for name in ("group", "judgements")},
                    by=None,
                    at=timezone.now(),
                    progress=no_progress,
                )
        except ImportRefused as refused:
            for fault in refused.errors:
                self.stderr.write(str(fault))
            noun = "fault" if refused.total == 1 else "faults"
            raise CommandError(f"{path.name}: {refused.total} {noun}, nothing was imported.") from refused
        except DomainError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        for warning in counts["warnings"]:
            self.stderr.write(f"note: {warning}")
        pairs = counts["pairs"]
        self.stdout.write(f"{pairs['created']:,} pairs imported, {pairs['unchanged']:,} were there already")
