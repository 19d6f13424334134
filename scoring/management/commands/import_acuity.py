"""``import_acuity FILE… --benchmark SLUG --dataset D [--scheme NAME] [--scale NAME] [--preview]``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.db import transaction

from rubrics.imports import Counts
from rubrics.management.import_command import ImportCommand
from rubrics.models import Benchmark
from rubrics.parsing.acuity_files import FORMATS, SHAPES


class Command(ImportCommand):
    """Labels of cases and readings of candidates."""

    help = (
        "Import how urgent cases are, and what candidates say of it: labels from elsewhere, mapped by a scheme, and "
        "readings. All files or none. Cases without a text become stubs, which count in reports on acuity alone."
    )
    kind = "acuity"
    several_files = True
    own_options = ("dataset", "scheme", "scale", "reading_format", "may_redistribute", "preview")

    def add_options(self, parser: ArgumentParser) -> None:
        """Where the cases come from, and how the files are read."""
        parser.add_argument("--dataset", required=True, metavar="D", help="where the cases come from; names new cases")
        parser.add_argument("--scheme", metavar="NAME", help="what source labels become (default: direct)")
        parser.add_argument("--scale", metavar="NAME", help="three, four, five or a scale of the benchmark")
        parser.add_argument(
            "--format", choices=("auto", *SHAPES), help="shape of the files (default: by how each begins)"
        )
        parser.add_argument(
            "--candidate", metavar="NAME", help="candidate of all files, which are then its samples in their order"
        )
        parser.add_argument("--reading-format", choices=FORMATS, help="format of readings that name none (default: qa)")
        parser.add_argument("--licence", metavar="ID", help="licence of the dataset, an SPDX id or its terms")
        parser.add_argument(
            "--may-redistribute",
            choices=("yes", "no"),
            help="whether its licence allows releases to hold its texts (default: no, until somebody says yes)",
        )
        parser.add_argument(
            "--preview", action="store_const", const="1", help="write nothing; show what each source label becomes"
        )

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """Import every file or none; a preview leaves nothing, not even a benchmark that was not there."""
        with transaction.atomic():
            counts = super().import_files(paths, chosen, options)
            if options["preview"]:
                transaction.set_rollback(True)
        return counts

    def report(self, counts: Counts) -> None:
        """Print what was imported, or what would be."""
        if "previews" not in counts:
            super().report(counts)
        for preview in counts.get("previews", []):
            self._show(preview)

    def say_who_runs(self, slug: str) -> None:
        """After a preview there is no new benchmark to name."""
        if Benchmark.objects.filter(slug=slug).exists():
            super().say_who_runs(slug)

    def _show(self, preview: dict[str, Any]) -> None:
        self.stdout.write(f"{preview['file']}: scale {preview['scale']}, scheme {preview['scheme']}")
        for row in preview["labels"]:
            becomes = row["levels"] or row["how"] or "NO RULE"
            examples = ", ".join(example["case"] for example in row["examples"])
            rows = f"{row['cases']} {'case' if row['cases'] == 1 else 'cases'}"
            self.stdout.write(f"  {row['label']} → {becomes}: {rows}{f' ({examples})' if examples else ''}")
        for row in preview["series"]:
            states = {name: row[name] for name in ("refused", "no_level", "several", "invalid", "missing") if row[name]}
            others = "".join(f", {n} {name.replace('_', ' ')}" for name, n in states.items())
            counted = f"{row['cases']} cases, {row['level']} readings of one level{others}"
            self.stdout.write(f"  {row['candidate']} ({row['format']}): {counted}")
        for fault in preview["faults"]:
            self.stderr.write(f"  line {fault['line']}, {fault['field']}: {fault['message']}")
