"""Makes and resumes runs of refinement, and begins the run of a judge that grades one.

How a run goes on is in `scoring.pipelines.runs`, with cancelling and replaying.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark, Candidate
from scoring.models import Judge, JudgeRun, PipelineRun
from scoring.pipelines import runs as pipeline_runs
from scoring.runs import services as judge_runs
from validation.models import RefinementRun
from validation.refinement.building import Order, build
from validation.refinement.kind import KIND


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    order: Order,
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> RefinementRun:
    """Make a run with its steps and a derived candidate for each arm, and enqueue a task once this is committed.

    ``config`` holds the endpoint, how the models decode, and the seed of the halves; the texts are copied.
    """
    # Two orders at once must not choose the same names for their candidates.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    built = build(benchmark, order, config)
    settings = built.config
    if budget is not None and not settings.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=settings.model_dump(mode="json"),
        terms={
            "base": order.candidate,
            "arms": [
                {
                    **arm.model_dump(include={"name", "kind", "candidate", "upper_bound", "overlaps"}),
                    "taken_out": built.taken_out.get(arm.name, 0),
                }
                for arm in settings.arms
            ],
            "split": settings.split,
            "model": settings.model,
            "edit_model": settings.edit_model or settings.model,
            "endpoint": settings.endpoint,
            "settings": {name: value for name, value in settings.parameters(0).items() if name != "model"},
            "cases": len(settings.cases),
        },
        frame=order.frame.stored(),
        by=by,
        at=at,
        budget=budget,
        currency=settings.currency if settings.priced else "",
    )
    Candidate.objects.bulk_create(
        Candidate(
            benchmark=benchmark,
            name=arm.candidate,
            kind=Candidate.Kind.DERIVED,
            metadata={"refinement": run.public_id, "arm": arm.name, "base": order.candidate},
        )
        for arm in settings.arms
    )
    only = {pk: built.steps(place) for place, pk in enumerate(built.case_ids)}
    pipeline_runs.make_steps(run, KIND, settings, built.case_ids, only=only)
    return RefinementRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: RefinementRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    if budget is not None:
        if not run.currency:
            raise DomainError(_("To set a budget, enter the prices of the model."))
        RefinementRun.objects.filter(pk=run.pk).exclude(status__in=RefinementRun.LIVE).update(budget=budget)
        run.refresh_from_db()
    pipeline_runs.resume_run(run=run, at=at)


@transaction.atomic
def grade(*, run: RefinementRun, judge: Judge, by: User | None, at: datetime) -> tuple[JudgeRun, bool]:
    """Begin an ordinary run of a judge over base and refined responses, by the gold rubric; it is not shown which is
    which. A run with these terms that has not ended is taken instead, and then the second value is False.
    """
    if run.status in PipelineRun.LIVE:
        raise Conflict(_("The run has not ended."))
    if run.replay or run.imported:
        raise Conflict(_("A replay stores no responses that could be graded."))
    frame = judge_runs.RunFrame(candidates=tuple(run.derived_names), with_bases=True)
    return judge_runs.start_run(benchmark=run.benchmark, judge=judge, frame=frame, by=by, at=at)
