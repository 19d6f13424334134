"""`report --benchmark B --kind KIND --param NAME=VALUE … --out DIR|FILE.zip`: any report, with all its files."""

from __future__ import annotations

import json
import shutil
from argparse import RawDescriptionHelpFormatter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone, translation

from agreement import services
from agreement.kinds import KINDS, kind_of
from agreement.models import Report
from agreement.reports import files
from agreement.reports.freshness import Freshness, freshness_of
from agreement.reports.interval_facts import rule_of_report
from agreement.selectors.rater_choices import names_in
from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from consilium.management.interval_options import add_interval_arguments
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark


class Command(BaseCommand):
    help = (
        "Compute a report of any kind and write its files: tables, figures, methods and what it takes\n"
        "to get them again, as the page's ZIP has them. The report is kept, and stands on the page.\n"
        "With --id the files of one that is there already, and whether its inputs have changed since.\n\n"
        "Kinds and their parameters:\n"
    ) + "\n".join(f"  {kind.value}: {', '.join(sorted(kind.parameters))}" for kind in KINDS.values())

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Keep the lines of the help as they stand."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.formatter_class = RawDescriptionHelpFormatter
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, help="short name of the benchmark")
        which = parser.add_mutually_exclusive_group(required=True)
        which.add_argument("--kind", choices=[str(kind) for kind in KINDS], help="the kind of a new report")
        which.add_argument("--id", help="a report that is there, by the id in its address")
        parser.add_argument(
            "--param",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help='a parameter of the kind; numbers, true, false and ["lists"] as JSON, anything else as text',
        )
        add_interval_arguments(parser, drawn="everything that is drawn at random")
        parser.add_argument("--out", type=Path, help="folder for the files, made if missing; or a FILE.zip")
        parser.add_argument(
            "--overwrite", action="store_true", help="replace the files of another report in the folder"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        benchmark = benchmark_called(options["benchmark"])
        if options["id"]:
            report = self._existing(benchmark, options["id"])
            self._say_whether_fresh(freshness_of(report))
        else:
            report = self._computed(benchmark, options["kind"], options["param"], options)
        with translation.override("en"):
            self.stdout.write(f"{report.public_id}: {kind_of(report).title(report.parameters, names_in([report]))}")
        if rule := rule_of_report(report):
            self.stdout.write(f"Intervals: {rule.in_words}.")
        if options["out"]:
            if not options["overwrite"]:
                _refuse_other_files(report, options["out"])
            try:
                n = _write(report, options["out"])
            except OSError as error:
                raise CommandError(f"{options['out']} cannot be written: {error.strerror}") from None
            self.stdout.write(f"Written to {options['out']}: {n} files, inputs {report.input_digest[:12]}")

    def _existing(self, benchmark: Benchmark, public_id: str) -> Report:
        report = Report.objects.select_related("benchmark").filter(benchmark=benchmark, public_id=public_id).first()
        if report is None:
            raise CommandError(f"There is no report “{public_id}” on this benchmark.")
        if report.status != JobStatus.DONE:
            raise CommandError(f"The report “{public_id}” is not done: {report.error or report.status}")
        return report

    def _computed(self, benchmark: Benchmark, kind: str, given: list[str], options: Mapping[str, Any]) -> Report:
        try:
            report = services.create_report(
                benchmark=benchmark,
                kind=kind,
                parameters=dict(map(read_parameter, given)),
                seed=options["seed"],
                interval=options["interval"],
                at=timezone.now(),
            )
        except DomainError as error:
            raise CommandError(str(error)) from None
        report = services.computed(report=report, clock=timezone.now)
        if report.status != JobStatus.DONE:
            raise CommandError(report.error)
        return report

    def _say_whether_fresh(self, freshness: Freshness) -> None:
        if freshness.fresh:
            self.stdout.write("Up to date: its inputs are as they were.")
            return
        reasons = [change.in_words for change in freshness.changes] or [
            freshness.reason or "something the record does not name"
        ]
        self.stdout.write(f"{'May be stale' if freshness.fresh is None else 'Stale'}: {', '.join(reasons)}.")


def read_parameter(given: str) -> tuple[str, Any]:
    """``NAME=VALUE``; a value is JSON if it can be read as JSON, else text."""
    name, equals, value = given.partition("=")
    if not name or not equals:
        raise CommandError(f"“{given}” must have the form NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _refuse_other_files(report: Report, out: Path) -> None:
    """`CommandError` where the folder has files of a report of another kind, or of other parameters."""
    path = out / "report.json"
    if out.suffix == ".zip" or not path.exists():
        return
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        same = (description["kind"], description["parameters"]) == (report.kind, report.parameters)
    except (OSError, ValueError, LookupError, TypeError):
        same = False
    if not same:
        raise CommandError(
            f"The report {report.public_id} is done, and its files are not written: {out} has those of another report. "
            "Name another folder with --id and --out, or replace them with --overwrite."
        )


def _write(report: Report, out: Path) -> int:
    """Write all files of a report, in a folder or as one ZIP (written whole or not at all); return their number."""
    with files.archive(report) as packed:
        if out.suffix != ".zip":
            out.mkdir(parents=True, exist_ok=True)
            with ZipFile(packed) as archive:
                archive.extractall(out)
                return len(archive.namelist())
        partial = out.with_name(out.name + ".partial")
        try:
            with partial.open("wb") as file:
                shutil.copyfileobj(packed, file)
            partial.replace(out)
        finally:
            partial.unlink(missing_ok=True)
        return len(ZipFile(out).namelist())
