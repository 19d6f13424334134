"""Reads of runs of trials: lists, and those that a report may be about."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from rubrics.models import Benchmark
from scoring.models import PipelineRun, PipelineStep
from validation.models import TrialRun


def runs_on(benchmark: Benchmark) -> QuerySet[TrialRun]:
    """The runs of a benchmark, the newest first, without their settings, which hold all texts."""
    return TrialRun.objects.filter(benchmark=benchmark).select_related("created_by").defer("config")


def reported_runs(benchmark: Benchmark, *, with_settings: bool = False, replays: bool = False) -> QuerySet[TrialRun]:
    """The runs that a report may be about: those that have ended and brought an answer, and are no replay.

    With ``replays`` they are there as well: a command may write their files, to compare them with those of their run.
    """
    runs = TrialRun.objects.filter(benchmark=benchmark).exclude(status__in=PipelineRun.LIVE)
    if not replays:
        runs = runs.filter(replay=False)
    # A join with the steps would read the settings, which hold all texts, once for each of thousands.
    answered = PipelineStep.objects.filter(run=OuterRef("pk"), state=PipelineStep.State.DONE)
    runs = runs.filter(Exists(answered)).order_by("-created_at", "-pk")
    return runs if with_settings else runs.defer("config")
