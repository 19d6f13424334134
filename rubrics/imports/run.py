"""Import a file from the command line: the benchmark is made if it is not there."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import BinaryIO

import pghistory
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from consilium.lib.errors import DomainError
from rubrics.imports.bulk import refresh_statistics
from rubrics.imports.registry import Counts, Progress, find
from rubrics.models import Benchmark


def _nobody_watches(_bytes_read: int) -> None:
    """Progress that nobody asked for."""


@transaction.atomic
def run_file(
    *,
    kind: str,
    slug: str,
    file: BinaryIO,
    options: Mapping[str, str],
    at: datetime,
    by: User | None = None,
    progress: Progress = _nobody_watches,
) -> Counts:
    """Import ``file`` into the benchmark called ``slug``; a refused file makes no benchmark either."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        benchmark = Benchmark(slug=slug, title=slug)
        try:
            benchmark.full_clean()
        except ValidationError as error:
            raise DomainError(f"--benchmark {slug}: {' '.join(error.messages)}") from error
        benchmark.save()
    with pghistory.context(url=f"command import {kind}"):
        counts = find(kind).handler(benchmark=benchmark, file=file, options=options, by=by, at=at, progress=progress)
        refresh_statistics()
        return counts
