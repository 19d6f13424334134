"""``rubric_set --benchmark SLUG --name N (--track T | --run ID | --file F | --generic)``: makes a rubric set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pghistory
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction
from django.utils import timezone

from consilium.core.errors import DomainError, ImportRefused
from consilium.core.out_folder import OutFolder, OutTable, add_out_arguments


class Command(BaseCommand):
    help = (
        "Make a rubric set: criteria for many cases, copied and frozen. Prints how many cases each condition of its "
        "frame meets alone, and together with those before it."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--name", required=True, help="of the set; a benchmark has it once")
        parser.add_argument("--description", default="")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument("--track", help="copy the published rubrics of this track, such as gold")
        source.add_argument("--run", metavar="ID", help="copy what this run of drafting has drafted")
        source.add_argument("--file", type=Path, help="JSONL, or a table of criteria as CSV or XLSX")
        source.add_argument("--generic", action="store_true", help="six criteria that are the same for every case")
        parser.add_argument("--criteria", default="", metavar="N-M", help="number of criteria of the gold rubric")
        parser.add_argument("--axes", default="", metavar="N-M", help="number of axes among these criteria")
        parser.add_argument("--language", default="", help="of the case, such as en")
        parser.add_argument("--tag", action="append", default=[], help="of the case; may be given several times")
        parser.add_argument("--mend", action="store_true", help="mend points and axes of a file, and list every mend")
        parser.add_argument("--preview", action="store_true", help="make nothing; show what would be made")
        add_out_arguments(parser, required=False, more="; items.csv, and mends.csv where something was mended")

    def handle(self, *args: Any, **options: Any) -> None:
        from rubrics.management.lookups import benchmark_called
        from validation.models import RubricSet

        if options["mend"] and not options["file"]:
            raise CommandError("--mend is for --file: published rubrics and the generic criteria need no mend.")
        benchmark = benchmark_called(options["benchmark"])
        try:
            with transaction.atomic(), pghistory.context(url="command rubric_set"):
                warnings = self._make(benchmark, options)
                row = RubricSet.objects.finished().get(benchmark=benchmark, name=options["name"].strip())
                self._report(row, warnings, options)
                if options["preview"]:
                    transaction.set_rollback(True)
        except ImportRefused as refused:
            for fault in refused.errors:
                self.stderr.write(str(fault))
            if refused.total > len(refused.errors):
                self.stderr.write(f"… and {refused.total - len(refused.errors)} more")
            noun = "fault" if refused.total == 1 else "faults"
            raise CommandError(f"{options['file'].name}: {refused.total} {noun} refused, no set was made.") from refused
        except DomainError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror}") from error

    def _make(self, benchmark: Any, options: dict[str, Any]) -> list[str]:
        """Make the set; what the import of a file warns of."""
        from consilium.core.jobs import no_progress
        from validation.sets import selectors, services
        from validation.sets.frames import frame_of
        from validation.sets.storing import SetName

        at = timezone.now()
        conditions = {name: options[name] for name in ("criteria", "axes", "language")}
        if options["file"]:
            given = {name: options[name] for name in ("name", "description")}
            given |= {"tags": "\n".join(options["tag"]), "mend": "1" if options["mend"] else ""}
            with options["file"].open("rb") as file:
                counts = services.import_rubric_set(
                    benchmark=benchmark,
                    file=file,
                    options={**conditions, **given, "file_name": options["file"].name},
                    by=None,
                    at=at,
                    progress=no_progress,
                )
            if counts["rubric sets"]["unchanged"]:
                return ["This set is there already; nothing was changed."]
            return list(counts["warnings"])
        frame = frame_of(**conditions, tags=options["tag"])
        name = SetName(options["name"], options["description"])
        track = options["track"] or ""
        if not track and not options["generic"] and options["run"] is None:
            raise CommandError("--track is empty.")
        run = None
        if options["run"] is not None:
            run = selectors.drafting_runs(benchmark).filter(public_id=options["run"]).first()
            if run is None:
                raise CommandError(f"There is no run of drafting “{options['run']}” that has ended on this benchmark.")
        services.make_set(benchmark=benchmark, name=name, track=track, frame=frame, run=run, by=None, at=at)
        return []

    def _report(self, row: Any, warnings: list[str], options: dict[str, Any]) -> None:
        """Print the funnel, the size and the digest; write the files."""
        from validation.management.printed_funnel import printed_funnel
        from validation.sets import selectors
        from validation.sets.frames import steps_of

        self.stdout.write(printed_funnel(steps_of(row.frame)))
        self.stdout.write(f"{row.name}: {row.case_count} cases, {row.item_count} criteria, {row.mend_count} mends")
        for words, count in selectors.mend_counts(row):
            self.stdout.write(f"  {count} × {words}")
        self.stdout.write(f"digest {row.digest}")
        for warning in warnings:
            self.stderr.write(f"note: {warning}")
        if options["out"]:
            tables = [
                OutTable("items", selectors.ITEM_COLUMNS, selectors.item_rows(row), ("case", "criterion", "axis"))
            ]
            if row.mend_count:
                mends = selectors.mend_rows(row)
                tables.append(OutTable("mends", selectors.MEND_COLUMNS, mends, selectors.MEND_TEXT))
            written = OutFolder(options["out"], options["overwrite"]).write(tables)
            self.stdout.write(f"Written to {options['out']}: {written}")
        if options["preview"]:
            self.stdout.write("Preview: nothing was made.")
