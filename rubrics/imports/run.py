"""Imports a file from the command line; creates the benchmark if it does not exist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import pghistory
from django.core.exceptions import ValidationError
from django.db import transaction

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import Progress, no_progress
from consilium.core.locks import RowLock, lock_exclusive
from rubrics.imports.bulk import refresh_statistics
from rubrics.imports.registry import Counts, find
from rubrics.models import Benchmark


@transaction.atomic
def run_import(*, kind: str, slug: str, work: Callable[[Benchmark], Counts]) -> Counts:
    """Import into the benchmark called ``slug`` by ``work``; where that refuses, no benchmark is made either."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        benchmark = Benchmark(slug=slug, title=slug)
        try:
            benchmark.full_clean()
        except ValidationError as error:
            raise DomainError(f"--benchmark {slug}: {' '.join(error.messages)}") from error
        benchmark.save()
    with pghistory.context(url=f"command import {kind}"):
        lock_exclusive(RowLock.IMPORT, benchmark.pk)
        counts = work(benchmark)
        refresh_statistics()
        return counts


def run_file(
    *,
    kind: str,
    slug: str,
    file: BinaryIO,
    options: Mapping[str, str],
    at: datetime,
    by: User | None = None,
    progress: Progress = no_progress,
) -> Counts:
    """Import ``file`` into the benchmark called ``slug``."""

    def work(benchmark: Benchmark) -> Counts:
        given = {**options, "file_name": Path(getattr(file, "name", "")).name}
        return find(kind).handler(benchmark=benchmark, file=file, options=given, by=by, at=at, progress=progress)

    return run_import(kind=kind, slug=slug, work=work)
