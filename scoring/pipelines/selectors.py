"""Progress and spending of runs of steps; the number of queries does not grow with the rows."""

from __future__ import annotations

from django.db.models import Count

from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import KINDS
from scoring.runs.spending import Spending

State = PipelineStep.State


def counts_by_stage(run: PipelineRun) -> dict[str, dict[State, int]]:
    """The number of steps by stage, in the order of the kind, and by state; one query."""
    counts: dict[str, dict[State, int]] = {stage: {} for stage in KINDS[run.kind].stages}
    rows = run.steps.order_by().values_list("stage", "state").annotate(n=Count("pk"))
    for stage, state, number in rows:
        counts.setdefault(stage, {})[State(state)] = number
    return counts


def spending_of(run: PipelineRun) -> Spending:
    """The use of endpoints so far; no query. ``money`` is None where the run has no currency.

    With a budget it includes what requests may have cost whose answers a killed worker never wrote.
    """
    return Spending(
        calls=run.calls,
        tokens_in=run.tokens_in,
        tokens_out=run.tokens_out,
        estimated_calls=run.estimated_calls,
        money=run.spent if run.currency else None,
        currency=run.currency,
        budget=None if run.budget is None else float(run.budget),
    )
