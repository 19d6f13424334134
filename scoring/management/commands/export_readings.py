"""``export_readings --benchmark SLUG --out FILE.csv [--scale NAME | --run ID]``."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from consilium.core.csvfile import write_csv
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.acuity import selectors
from scoring.models import JudgeRun


class Command(BaseCommand):
    """What candidates say of how urgent cases are, as ``import_acuity`` reads it."""

    help = (
        "Write the readings on a scale as CSV (case, candidate, format, sample, level, confidence), as import_acuity "
        "reads them with the scheme direct. A reading that says no one level has its state in the column level; a "
        "missing one has nothing there."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Whose readings, on which scale, and where to."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE")
        parser.add_argument(
            "--scale", metavar="NAME", help="only needed if there are readings on several; “NAME 2” is its version 2"
        )

        parser.add_argument("--run", metavar="ID", help="the readings of this run of a judge, with its quotes")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the file and say how many readings it has."""
        benchmark = benchmark_called(options["benchmark"])
        if options["run"]:
            self._write_run(benchmark, options["run"].removeprefix("run:"), options["out"])
            return
        scales = selectors.scales_with_readings(benchmark)
        names = ", ".join(sorted(map(str, scales)))
        if options["scale"]:
            scales = [scale for scale in scales if str(scale) == options["scale"]]
        if not scales:
            raise CommandError(f"there are no readings{f' on that scale, only on: {names}' if names else ''}")
        if len(scales) > 1:
            raise CommandError(f"there are readings on several scales; choose one by --scale: {names}")
        rows = _Counted(selectors.readings_csv(scales[0]))
        self._write(options["out"], selectors.READING_COLUMNS, rows, selectors.TEXT_COLUMNS)
        self.stdout.write(f"{options['out']}: {rows.number} readings on the scale {scales[0]}")

    def _write_run(self, benchmark: Benchmark, public_id: str, out: Path) -> None:
        runs = JudgeRun.objects.filter(benchmark=benchmark, purpose__in=JudgeRun.READS_LEVELS)
        run = runs.filter(public_id=public_id).select_related("judge").first()
        if run is None:
            raise CommandError(f"there is no run {public_id} of a judge that reads levels on this benchmark")
        rows = _Counted(selectors.judged_csv(selectors.judged_readings(run)))
        self._write(out, selectors.JUDGED_COLUMNS, rows, selectors.JUDGED_TEXT)
        self.stdout.write(f"{out}: {rows.number} readings by {run.judge}")

    def _write(self, out: Path, columns: Sequence[str], rows: Iterable[Any], text_columns: Sequence[str]) -> None:
        try:
            write_csv(out, columns, rows, text_columns=text_columns)
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror}") from error


class _Counted(Iterable[Any]):
    """Rows that are counted while they are written."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self.number = 0
        self._rows = rows

    def __iter__(self) -> Iterator[Any]:
        for row in self._rows:
            self.number += 1
            yield row
