"""Makes and resumes runs of drafting. How they go on is in `scoring.pipelines.runs`, with cancelling and replaying."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from drafting.models import DraftingRecipe, DraftingRun
from drafting.runs.building import build, currency_of
from drafting.runs.kind import KIND
from rubrics.models import Benchmark
from scoring.generation.due_responses import CaseFrame
from scoring.pipelines import runs as pipeline_runs


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    recipe: DraftingRecipe,
    frame: CaseFrame | None = None,
    cases: Collection[int] = (),
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> DraftingRun:
    """Make a run with its steps, and enqueue a task once this is committed.

    It drafts for the cases of ``frame``, or for ``cases`` alone, by their ids.
    """
    frame = frame or CaseFrame()
    built = build(benchmark, recipe, frame=frame, cases=cases)
    content = built.config.content
    currency = currency_of(content)
    if budget is not None and not all(model.priced for model in content.models.values()):
        raise DomainError(_("To set a budget, enter the prices of the models."))
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=built.config.model_dump(mode="json"),
        terms={
            "recipe": recipe.name,
            "version": recipe.version,
            "recipe_id": recipe.public_id,
            "form": content.form,
            "models": sorted({model.model for model in content.models.values()}),
            "cases": len(built.case_ids),
        },
        frame=frame.stored() if not cases else {},
        cases=built.case_ids,
        by=by,
        at=at,
        budget=budget,
        currency=currency,
    )
    return DraftingRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: DraftingRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)
