"""Looks up the names that are passed to commands."""

from __future__ import annotations

from django.core.management.base import CommandError

from rubrics.models import Benchmark


def benchmark_called(slug: str) -> Benchmark:
    """The benchmark of that short name; `CommandError` where there is none."""
    benchmark = Benchmark.objects.filter(slug=slug).first()
    if benchmark is None:
        raise CommandError(f"There is no benchmark “{slug}”.")
    return benchmark
