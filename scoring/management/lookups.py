"""Looks up the names that are passed to commands."""

from __future__ import annotations

from django.core.management.base import CommandError

from scoring.models import PipelineRun


def pipeline_run_called(public_id: str) -> PipelineRun:
    """The run of steps with that id; `CommandError` where there is none."""
    run = PipelineRun.objects.filter(public_id=public_id).select_related("benchmark", "candidate").first()
    if run is None:
        raise CommandError(f"There is no run “{public_id}”.")
    return run
