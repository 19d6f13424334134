"""Makes and resumes runs that make pairs. How they go on is in `scoring.pipelines.runs`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.generation.due_responses import CaseFrame
from scoring.pipelines import runs as pipeline_runs
from validation.making.building import build
from validation.making.kind import KIND
from validation.models import MakingRun
from validation.pairs.services import get_or_make_group


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    group: str,
    judgements_due: int,
    frame: CaseFrame,
    candidate: str = "",
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> MakingRun:
    """Make a run with its steps, and enqueue a task once this is committed; its pairs go to ``group``.

    ``candidate``: whose responses are the references; empty for the cases' reference answers. ``config`` holds the
    endpoint, how the model decodes, the kinds of errors and the number of pairs of each reference.
    """
    built = build(benchmark, frame=frame, candidate=candidate, settings=config)
    if budget is not None and not built.config.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    row = get_or_make_group(benchmark=benchmark, name=group, judgements_due=judgements_due, by=by, at=at)
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=built.config.model_dump(mode="json"),
        terms={
            "group": row.name,
            "group_id": row.public_id,
            "references": candidate,
            "model": built.config.model,
            "endpoint": built.config.endpoint,
            "settings": {name: value for name, value in built.config.parameters(0).items() if name != "model"},
            "kinds": built.config.kinds,
            "each": built.config.each,
        },
        frame=frame.stored(),
        cases=built.case_ids,
        by=by,
        at=at,
        budget=budget,
        currency=built.config.currency if built.config.priced else "",
    )
    return MakingRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: MakingRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)
