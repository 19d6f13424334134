"""What a measurement of how far texts move the levels that a judge reads would take, before it begins."""

from __future__ import annotations

from rubrics.models import Benchmark
from scoring.models import Judge
from scoring.runs.services import FrameSize, RunFrame
from scoring.runs.spending import Estimate, estimate
from scoring.susceptibility.level_services import plan_level_measurement
from scoring.susceptibility.level_texts import LEVEL_REPLICATES


def level_measurement_estimate(
    *, benchmark: Benchmark, judge: Judge, responses: int, seed: int
) -> tuple[FrameSize, Estimate | None]:
    """Responses and readings, and what they take; `DomainError` where the judge cannot be measured."""
    drawn = plan_level_measurement(benchmark=benchmark, judge=judge, responses=responses, seed=seed)
    size = FrameSize(len(drawn), len(drawn) * LEVEL_REPLICATES)
    return size, estimate(benchmark=benchmark, judge=judge, frame=RunFrame(), size=size, edited=drawn)
