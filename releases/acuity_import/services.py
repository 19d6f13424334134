"""Takes acuity of a release into a benchmark, after the checks of `verify_release`, in one transaction."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError, ImportRefused, LineError
from consilium.core.jobs import Progress, no_progress
from consilium.core.limits import MAX_RELEASE_NAME_LENGTH
from releases.acuity_import.advice import write_advice
from releases.acuity_import.cases_and_readings import write_cases_and_readings
from releases.acuity_import.importing import MAX_LISTED, AcuityImporting, refuse
from releases.acuity_import.votes_and_sets import write_votes_and_sets
from releases.verification.acuity import check_content
from releases.verification.acuity_content import AcuityFaults, read_content, with_acuity
from releases.verification.check import SUMS, verify_source
from releases.verification.sources import Source, Unreadable, ZipSource, open_source
from rubrics.imports.bulk import check_references_at_once
from rubrics.imports.registry import Counts
from rubrics.models import Benchmark

_MAX_BYTES = 64 << 20  # of release.json


def import_release_acuity(
    *,
    benchmark: Benchmark,
    file: BinaryIO,
    options: Mapping[str, str],
    by: User | None,
    at: datetime,
    progress: Progress,
) -> Counts:
    """Import acuity from the ZIP of a release, or of its folder ``acuity``. `ImportRefused` names every fault."""
    with _opened(lambda: ZipSource(file)) as source:
        return _import(source, benchmark=benchmark, by=by, at=at, progress=progress)


def import_acuity_at(path: Path, *, benchmark: Benchmark, by: User | None, at: datetime) -> Counts:
    """As `import_release_acuity`, from a folder or a ZIP."""
    with _opened(lambda: open_source(path)) as source:
        return _import(source, benchmark=benchmark, by=by, at=at, progress=no_progress)


@contextmanager
def _opened(opening: Callable[[], Source]) -> Iterator[Source]:
    """The release; `DomainError` where it cannot be read."""
    try:
        source = opening()
    except Unreadable as error:
        raise DomainError(_("This release cannot be read: %(why)s") % {"why": str(error)[:200]}) from error
    try:
        yield source
    finally:
        if isinstance(source, ZipSource):
            source.close()


@transaction.atomic
def _import(source: Source, *, benchmark: Benchmark, by: User | None, at: datetime, progress: Progress) -> Counts:
    check_references_at_once()
    # One import at a time: each compares its rows with those that are stored.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    own = with_acuity(source)
    if own is None:
        raise DomainError(_("This release contains no acuity data."))
    if SUMS in source.names():
        _refuse_changed(source)
    elif source.problems:
        raise ImportRefused([LineError(0, "", problem) for problem in source.problems[:MAX_LISTED]])
    progress(0)
    faults = AcuityFaults()
    content = read_content(own, faults)
    refuse(faults)
    check_content(content, faults)
    refuse(faults)
    importing = AcuityImporting(benchmark, content, _name_of(source), by, at)
    write_cases_and_readings(importing)
    users = write_votes_and_sets(importing)
    write_advice(importing, users)
    importing.refuse_if_any()
    counts: Counts = {name: dict(count) for name, count in importing.counts.items() if count.total()}
    return counts | ({"warnings": importing.warnings} if importing.warnings else {})


def _refuse_changed(source: Source) -> None:
    """Refuse a release that is not as it was made."""
    report = verify_source(source)
    if report.total:
        errors = [LineError(0, "", problem) for problem in report.problems[:MAX_LISTED]]
        raise ImportRefused(errors, report.total)


def _name_of(source: Source) -> str:
    """Short name and version of the release; ``release`` where there is the folder of acuity alone."""
    if "release.json" not in source.names():
        return "release"
    with source.open("release.json") as file:
        release = json.loads(file.read(_MAX_BYTES))
    return f"{release.get('benchmark', '')} {release.get('version', '')}"[:MAX_RELEASE_NAME_LENGTH].strip() or "release"
