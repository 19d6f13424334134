"""``code_book --benchmark SLUG [--starter | --file FILE] [--note TEXT] [--number N] [--format jsonl|csv]``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from consilium.core.errors import DomainError, ImportRefused
from rubrics.codes import reading, services
from rubrics.management.lookups import benchmark_called
from rubrics.models import CodeBook


class Command(BaseCommand):
    help = (
        "Adopt, import or print a benchmark's code book: the kinds of failure that physicians and judges mark in "
        "responses. Without --starter or --file it is printed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        source = parser.add_mutually_exclusive_group()
        source.add_argument("--starter", action="store_true", help="adopt the starter")
        source.add_argument("--file", type=Path, metavar="FILE", help="CSV or JSONL with all codes")
        parser.add_argument("--note", default="", help="what the new version changes")
        parser.add_argument("--number", type=int, metavar="N", help="print this version (default: the newest)")
        parser.add_argument("--format", choices=("jsonl", "csv"), default="jsonl")

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        if not (options["starter"] or options["file"]):
            rows = CodeBook.objects.filter(benchmark=benchmark)
            if options["number"]:
                rows = rows.filter(version=options["number"])
            book = rows.order_by("-version").first()
            if book is None:
                raise CommandError("There is no such code book. Adopt the starter with --starter.")
            write = reading.as_csv if options["format"] == "csv" else reading.as_jsonl
            for piece in write(book.entries):
                self.stdout.write(piece, ending="")
            return
        common: dict[str, Any] = {"benchmark": benchmark, "by": None, "at": timezone.now()}
        try:
            with pghistory.context(url="command code_book"):
                if options["starter"]:
                    book = services.adopt_starter(**common)
                else:
                    with options["file"].open("rb") as file:
                        book = services.import_codes(file=file, note=options["note"], **common)
        except ImportRefused as refused:
            for fault in refused.errors:
                self.stderr.write(str(fault))
            raise CommandError(f"{options['file'].name}: {refused.total} refused, nothing was imported.") from refused
        except (DomainError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"version {book.version}: {len(book.codes)} codes")
