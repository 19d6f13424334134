"""Reads of runs that make pairs."""

from __future__ import annotations

from django.db.models import QuerySet

from rubrics.models import Benchmark
from validation.models import MakingRun


def runs_on(benchmark: Benchmark) -> QuerySet[MakingRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all references."""
    return MakingRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")
