"""Creates something of a benchmark exactly once, however often its form is sent at the same moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from django.db.models import Model, QuerySet

from rubrics.models import Benchmark

Row = TypeVar("Row", bound=Model)


def lock_benchmark(benchmark: Benchmark) -> None:
    """Lock this benchmark until the transaction ends; waits while another transaction holds the lock."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)


def unfinished_or_new(
    *, benchmark: Benchmark, unfinished: Callable[[], QuerySet[Row]], create: Callable[[], Row]
) -> tuple[Row, bool]:
    """The oldest of the ``unfinished`` rows and False; where there is none, the row of ``create`` and True.

    Both are called under the lock of the benchmark, inside the caller's transaction.
    """
    lock_benchmark(benchmark)
    row = unfinished().order_by("pk").first()
    return (create(), True) if row is None else (row, False)
