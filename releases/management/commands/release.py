"""``release --benchmark B --out DIR [--version V] [--with decisions,verdicts,responses] [--reference-answers]``."""

from __future__ import annotations

import re
import shutil
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from consilium.core.errors import DomainError
from consilium.core.jobs import JobStatus
from releases import services
from releases.content import build
from releases.content.optional_content import judges_without, runs_behind
from releases.content.options import PARTS, ReleaseOptions, read_options
from releases.models import Release
from releases.selectors.archive import citation_of
from releases.services import set_licence
from rubrics.management.lookups import benchmark_called
from rubrics.models import Benchmark
from scoring.runs.selectors import coverage_notes


class Command(BaseCommand):
    """A release of a benchmark, kept with it and written to a folder; the same once more is the same bytes."""

    help = (
        "Release a benchmark: cases and rubrics in two forms, splits, schemas, data card, Croissant metadata and sums. "
        "The release is kept; the same version again writes the same bytes."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What is released, and where to."""
        parser.add_argument("--benchmark", required=True, metavar="SLUG")
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="a new or empty folder, or NAME.zip")
        parser.add_argument(
            "--version", dest="release_version", default="", metavar="V",
            help="as it is cited; without it that of the newest release if nothing has changed, else the next",
        )  # fmt: skip
        parser.add_argument("--with", dest="parts", default="", metavar="A,B", help=f"also: {', '.join(PARTS)}")
        parser.add_argument("--reference-answers", action="store_true", help="with the reference answers of the cases")
        parser.add_argument("--reading-texts", action="store_true", help="with the readings of acuity word for word")
        parser.add_argument("--certainty", action="store_true", help="with the certainty of votes on urgency")
        parser.add_argument("--notes", action="store_true", help="with physicians' notes on decisions, codes and votes")
        parser.add_argument(
            "--names", action="store_true", help="with the names of contributors who agreed, and of who signed sets"
        )
        parser.add_argument("--rater", action="append", default=[], metavar="R", help="whose decisions; repeatable")
        parser.add_argument(
            "--judge", action="append", default=[], metavar="J", help="whose verdicts and codes; repeatable"
        )
        parser.add_argument("--candidate", action="append", default=[], metavar="C", help="whose responses; repeatable")
        parser.add_argument("--no-licence", action="store_true", help="it has none, and need not be told so")
        parser.add_argument("--url", default="", help="where it will be found")
        parser.add_argument("--licence", default="", metavar="ID", help="keep this licence with the benchmark first")
        parser.add_argument("--release-notes", default="", metavar="TEXT", help="what this version brings")

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> Any:
        """Django's own ``--version`` gives way to the version of the release."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the release or find it, and write it out."""
        benchmark = benchmark_called(options["benchmark"])
        out: Path = options["out"]
        if out.suffix != ".zip" and out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise CommandError(f"{out} is not an empty folder; nothing was written.")
        if out.suffix == ".zip" and out.exists():
            raise CommandError(f"{out} is there already; nothing was written.")
        try:
            if options["licence"]:
                set_licence(benchmark=benchmark, licence=options["licence"])
            bare = not benchmark.licence.strip()
            release_options = _options(options, no_licence=options["no_licence"] or bare)
            release = self._release(
                benchmark, options["release_version"].strip(), options["release_notes"], release_options
            )
            _write(release, out)
        except DomainError as error:
            raise CommandError(str(error)) from error
        except OSError as error:
            raise CommandError(f"{out}: {error.strerror}") from error
        self._report(release, out)
        if bare and not options["no_licence"]:
            self.stderr.write("note: the benchmark has no licence, so all rights stay with its authors; see --licence")

    def _release(self, benchmark: Benchmark, version: str, notes: str, options: ReleaseOptions) -> Release:
        done = Release.objects.filter(benchmark=benchmark, status=JobStatus.DONE)
        if version:
            existing = done.filter(version=version).first()
            if existing is not None:
                if not _has_options(existing, options, notes):
                    raise DomainError(f"Version {version} was released with other options; name another version.")
                return existing
        else:
            newest = done.first()
            if newest is not None and _has_options(newest, options, notes) and _is_the_same(newest):
                return newest
            version = services.next_version(benchmark)
        release = services.create_release(
            benchmark=benchmark, version=version, notes=notes, options=options, at=timezone.now(), enqueue=False
        )
        services.run(release_id=release.pk, clock=timezone.now)
        release.refresh_from_db()
        if release.status != JobStatus.DONE:
            raise DomainError(release.error or "The release was not made.")
        return release

    def _report(self, release: Release, out: Path) -> None:
        counts = release.facts["counts"]
        self.stdout.write(
            f"{out}: {release.benchmark.title} {release.version}, {counts.get('cases', 0)} cases, "
            f"{counts.get('criteria', 0)} criteria, {len(release.facts['files']) + 1} files"
        )
        for name, count in sorted(release.facts["left_out"].items()):
            self.stderr.write(f"note: {name.replace('_', ' ')}: {count}")
        options = services.release_order(release).options
        for part, names in judges_without(release.benchmark, options).items():
            for name in names:
                self.stderr.write(f"note: the judge {name} has no {part}")
        for note in coverage_notes(runs_behind(release.benchmark, options)):
            self.stderr.write(f"note: {note}")
        self.stdout.write(citation_of(release)[0])


def _options(given: dict[str, Any], *, no_licence: bool) -> ReleaseOptions:
    parts = {part for part in re.split(r"[,\s]+", given["parts"]) if part}
    if unknown := sorted(parts - {*PARTS, "notes", "names", "reference-answers", "reading-texts", "certainty"}):
        raise DomainError(f"--with: there is no {', '.join(unknown)}; there are {', '.join(PARTS)}")
    return ReleaseOptions(
        reference_answers=given["reference_answers"] or "reference-answers" in parts,
        responses="responses" in parts,
        decisions="decisions" in parts,
        verdicts="verdicts" in parts,
        codes="codes" in parts,
        acuity="acuity" in parts,
        reading_texts=given["reading_texts"] or "reading-texts" in parts,
        votes="votes" in parts,
        certainty=given["certainty"] or "certainty" in parts,
        notes=given["notes"] or "notes" in parts,
        names=given["names"] or "names" in parts,
        raters=tuple(dict.fromkeys(given["rater"])),
        judges=tuple(dict.fromkeys(given["judge"])),
        candidates=tuple(dict.fromkeys(given["candidate"])),
        no_licence=no_licence,
        url=given["url"],
    )


def _has_options(release: Release, options: ReleaseOptions, notes: str) -> bool:
    """Whether a release has the requested options; if no notes are given, any notes match."""
    return read_options(release.options) == options and notes.strip() in ("", release.notes)


def _is_the_same(release: Release) -> bool:
    """Whether a release of the benchmark now would equal the earlier one."""
    with tempfile.TemporaryDirectory(prefix="release-") as name:
        return build.build(services.release_order(release), Path(name)).digest == release.digest


def _write(release: Release, out: Path) -> None:
    """Write the stored archive, whole or not at all; its files go under ``out`` unless that is a ZIP."""
    if not release.archive.storage.exists(str(release.archive.name)):
        raise DomainError(f"The archive of version {release.version} is gone from the media folder.")
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(out.name + ".partial")
    try:
        if out.suffix == ".zip":
            with release.archive.open("rb") as source, partial.open("wb") as target:
                shutil.copyfileobj(source, target)
        else:
            _unpack(release, partial)
            if out.exists():
                out.rmdir()  # it is empty
        partial.replace(out)
    finally:
        if partial.is_dir():
            shutil.rmtree(partial)
        partial.unlink(missing_ok=True)


def _unpack(release: Release, root: Path) -> None:
    top = f"{services.archive_name(release)}/"
    with release.archive.open("rb") as source, ZipFile(source) as archive:
        for info in archive.infolist():
            path = root / info.filename.removeprefix(top)  # safe: the names in our own archive are ours
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(info) as packed, path.open("wb") as target:
                shutil.copyfileobj(packed, target)
