"""Makes and resumes runs of trials. How they go on is in `scoring.pipelines.runs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.pipelines import runs as pipeline_runs
from validation.coverage.building import names_its_judge
from validation.models import PairGroup, RubricSet, TrialRun
from validation.trials.building import build
from validation.trials.kind import KIND


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    groups: Sequence[PairGroup],
    which: str,
    sets: Sequence[RubricSet],
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> TrialRun:
    """Make a run with all its steps, and enqueue a task once this is committed.

    ``config`` holds the endpoint, how the model decodes, the number of trials, and whether there is a series without a
    rubric; texts are copied from pairs and sets.
    """
    built = build(benchmark, groups=groups, which=which, sets=sets, settings=config)
    if budget is not None and not built.config.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=built.config.model_dump(mode="json"),
        terms={
            "sets": [own.name for own in sets],
            "no_rubric": built.config.no_rubric,
            "trials": built.config.trials,
            "pairs": built.n_pairs,
            "model": built.config.model,
            "endpoint": built.config.endpoint,
            "names_its_judge": names_its_judge(built.config.model, sets),
            "settings": {name: value for name, value in built.config.parameters(0).items() if name != "model"},
        },
        frame={"groups": [group.name for group in groups], "which": str(which)},
        by=by,
        at=at,
        budget=budget,
        currency=built.config.currency if built.config.priced else "",
    )
    content = built.config.content
    only = {pk: content.steps(place) for place, pk in enumerate(built.case_ids)}
    pipeline_runs.make_steps(run, KIND, built.config, built.case_ids, only=only)
    return TrialRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: TrialRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)
