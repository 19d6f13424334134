"""``import_acuity FILE… --benchmark SLUG --dataset D [--scheme NAME] [--scale NAME] [--preview]``.

With ``--stored`` and no file the labels of the dataset are mapped again.
"""

from __future__ import annotations

import hashlib
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction
from django.utils import timezone

from consilium.core.errors import DomainError
from rubrics.imports import Counts
from rubrics.management.import_command import ImportCommand
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from rubrics.parsing.acuity_files import FORMATS, SHAPES
from scoring.acuity.mapping import map_again, plan_mapping


class Command(ImportCommand):
    """Labels of cases and readings of candidates."""

    help = (
        "Import how urgent cases are, and what candidates say of it: labels from elsewhere, mapped by a scheme, and "
        "readings. All files or none. Cases without a text become stubs, which count in reports on acuity alone."
    )
    kind = "acuity"
    several_files = True
    needs_files = False
    own_options = ("dataset", "scheme", "scale", "reading_format", "may_redistribute", "preview")

    def add_options(self, parser: ArgumentParser) -> None:
        """Where the cases come from, and how the files are read."""
        parser.add_argument("--dataset", required=True, metavar="D", help="where the cases come from; names new cases")
        parser.add_argument(
            "--scheme",
            metavar="NAME",
            help="what source labels become (default: direct); auto takes the scheme that fits the labels of a file",
        )
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
            "--stored", action="store_true", help="no files: map the stored labels of the dataset again, by the scheme"
        )
        parser.add_argument(
            "--preview", action="store_const", const="1", help="write nothing; show what each source label becomes"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import files, or map stored labels again."""
        if options["stored"] == bool(options["file"]):
            raise CommandError("name the files to import, or map stored labels again with --stored and no file")
        if not options["stored"]:
            super().handle(*args, **options)
            return
        if not options["scheme"]:
            raise CommandError("--stored needs --scheme")
        terms = {"dataset": options["dataset"], "scheme": options["scheme"], "scale": options["scale"] or "four"}
        benchmark = benchmark_called(options["benchmark"])
        try:
            if options["preview"]:
                plan = plan_mapping(benchmark=benchmark, **terms)
            else:
                plan = map_again(benchmark=benchmark, **terms, by=None, at=timezone.now())
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"scale {plan.scale_name}, scheme {plan.scheme_name}")
        for change in plan.changes:
            self.stdout.write(f"  {change.label} → {change.becomes or 'NO RULE'}: {change.cases}, was {change.before}")
        done = "would be mapped" if options["preview"] else "created"
        self.stdout.write(f"labels: {plan.n_labels} {done}, {plan.n_mapped} unchanged")

    def import_files(self, paths: list[Path], chosen: dict[str, str], options: dict[str, Any]) -> Counts:
        """Import every file or none; a preview leaves nothing, not even a benchmark that was not there."""
        if chosen.get("candidate"):
            _refuse_copies(paths)
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
            if row.get("lines"):
                self.stdout.write(f"    lines {_lines(row['lines'], row['cases'])}")
        for row in preview["series"]:
            states = {name: row[name] for name in ("refused", "no_level", "several", "invalid", "missing") if row[name]}
            others = "".join(f", {n} {name.replace('_', ' ')}" for name, n in states.items())
            counted = f"{row['cases']} cases, {row['level']} readings of one level{others}"
            self.stdout.write(f"  {row['candidate']} ({row['format']}): {counted}")
        if preview["missing_lines"]:
            lines = _lines(preview["missing_lines"], preview["n_missing"])
            self.stdout.write(f"  missing answers in lines {lines}")
        for note in preview["notes"]:
            self.stderr.write(f"  note: {note}")
        for fault in preview["faults"]:
            self.stderr.write(f"  line {fault['line']}, {fault['field']}: {fault['message']}")


def _lines(first: list[int], total: int) -> str:
    more = f" and {total - len(first)} more" if total > len(first) else ""
    return ", ".join(map(str, first)) + more


def _refuse_copies(paths: list[Path]) -> None:
    """Refuse the same bytes twice as two samples of one candidate: most likely a file was copied by mistake."""
    known: dict[str, Path] = {}
    for path in paths:
        try:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise CommandError(f"{path}: {error.strerror}") from error
        if known.setdefault(digest, path) != path:
            raise CommandError(
                f"{path} is byte for byte {known[digest]}; as two samples of one candidate they would count its "
                "answers twice. Leave one out, or give each row its run_id or sample."
            )
