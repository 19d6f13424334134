"""Base class of import commands: a file, a benchmark, and the report of the result."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from consilium.core.errors import DomainError, ImportRefused
from rubrics.imports import LISTS, Counts, merge_counts, run_file
from rubrics.management.table_options import OPTIONS as TABLE_OPTIONS
from rubrics.management.table_options import add_table_options, columns_as_json, print_preview
from rubrics.models import BenchmarkRole


class ImportCommand(BaseCommand):
    """Import one file of one ``kind``, or several. A subclass names the kind and its own arguments."""

    kind: str
    several_files = False
    needs_files = True
    tables = False  # whether a file may be a table whose columns can be named
    own_options: tuple[str, ...] = ()  # of this kind alone
    requires_system_checks = []  # they would import every page of every app first

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The file, the benchmark, then the arguments of the kind."""
        several = "+" if self.needs_files else "*"
        parser.add_argument("file", type=Path, metavar="FILE", nargs=several if self.several_files else None)
        parser.add_argument("--benchmark", required=True, metavar="SLUG", help="made if it is not there")
        self.add_options(parser)
        if self.tables:
            add_table_options(parser)

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the arguments of the kind; their ``dest`` is the name of an option of its handler."""

    def author(self, options: dict[str, Any]) -> User | None:
        """The person recorded as the author of the imported texts; nobody, unless the kind asks for one."""
        return None

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """Import every file or none; `ImportRefused` names the file that was refused, where there are several."""
        common: dict[str, Any] = {"kind": self.kind, "slug": options["benchmark"], "options": chosen}
        common |= {"at": timezone.now(), "by": self.author(options)}
        counts: Counts = {}
        with transaction.atomic():
            for path in paths:
                try:
                    with path.open("rb") as file:
                        of_file = run_file(file=file, **common)
                except ImportRefused as refused:
                    raise ImportRefused(refused.errors, refused.total, file=str(path)) from None
                except OSError as error:
                    raise CommandError(f"{path}: {error.strerror}") from error
                except DomainError as error:
                    raise CommandError(f"{path}: {error}" if len(paths) > 1 else str(error)) from error
                counts = merge_counts(counts, of_file, str(path) if len(paths) > 1 else "")
        return counts

    def handle(self, *args: Any, **options: Any) -> None:
        """Import the files; every fault goes to stderr and nothing is written if there is one."""
        known = {"format", "candidate", "candidate_kind", "group", "judge", "bank", "licence", *self.own_options}
        if self.tables:
            columns_as_json(options)
            known |= {*TABLE_OPTIONS}
        chosen = {name: value for name, value in options.items() if name in known and value}
        paths: list[Path] = options["file"] if self.several_files else [options["file"]]
        try:
            counts = self.import_files(paths, chosen, options)
        except ImportRefused as refused:
            place = f"{refused.file}: " if len(paths) > 1 else ""
            for fault in refused.errors:
                self.stderr.write(f"{place}{fault}")
            if refused.total > len(refused.errors):
                self.stderr.write(f"… and {refused.total - len(refused.errors)} more")
            noun = "fault" if refused.total == 1 else "faults"
            name = refused.file if len(paths) > 1 else paths[0].name
            raise CommandError(f"{name}: {refused.total} {noun} refused, nothing was imported.") from refused
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.report(counts)
        self.say_who_runs(options["benchmark"])

    def report(self, counts: Counts) -> None:
        """Print a line for each kind of row, then the warnings."""
        for name, count in counts.items():
            if name not in LISTS:
                parts = ", ".join(f"{number} {what}" for what, number in count.items())
                self.stdout.write(f"{name}: {parts}")
        if self.tables:
            print_preview(counts, self.stdout.write)
        for warning in counts.get("warnings", []):
            self.stderr.write(f"note: {warning}")

    def say_who_runs(self, slug: str) -> None:
        """Say how to get access to a benchmark without staff: one made on the command line is shown on no page yet."""
        if not BenchmarkRole.objects.filter(benchmark__slug=slug, active=True).exists():
            self.stderr.write(
                "note: nobody runs this benchmark yet; to see it in the browser: "
                f"manage.py grant_role --benchmark {slug} --email ADDRESS"
            )
