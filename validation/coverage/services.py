"""Makes runs of coverage and the questions to physicians, and stores what physicians decide.

How a run goes on is in `scoring.pipelines.runs`, with cancelling, resuming and replaying.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.models import Benchmark
from scoring.models import PipelineRun
from scoring.pipelines import runs as pipeline_runs
from validation.coverage.building import build, names_its_judge
from validation.coverage.config import coverage_config
from validation.coverage.drawing import due_questions
from validation.coverage.kind import KIND
from validation.models import CoverageDecision, CoverageRun, RubricSet, SkippedQuestion


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    gold: RubricSet,
    sets: Sequence[RubricSet],
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> CoverageRun:
    """Make a run with all its steps, and enqueue a task once this is committed.

    ``config`` holds the endpoint and how the model decodes; the texts are copied from the sets.
    """
    built = build(benchmark, gold, sets, config)
    if budget is not None and not built.config.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=built.config.model_dump(mode="json"),
        terms={
            "gold": gold.name,
            "split": built.config.gold.split.model_dump() if built.config.gold.split else None,
            "sets": [own.name for own in sets],
            "model": built.config.model,
            "endpoint": built.config.endpoint,
            "settings": {name: value for name, value in built.config.parameters(0).items() if name != "model"},
            "share": built.config.share,
            "names_its_judge": names_its_judge(built.config.model, sets),
        },
        by=by,
        at=at,
        budget=budget,
        currency=built.config.currency if built.config.priced else "",
    )
    content = built.config.content
    only = {pk: set(content.steps(place)) for place, pk in enumerate(built.case_ids)}
    pipeline_runs.make_steps(run, KIND, built.config, built.case_ids, only=only)
    return CoverageRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: CoverageRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)


@transaction.atomic
def ask_physicians(*, run: CoverageRun, at: datetime) -> int:
    """Add the questions to physicians that are due and not there yet; returns their number.

    All points that are partly covered or have an invalid answer, a keyed share of the others, and every criterion that
    no gold point covers in full.
    """
    # Two requests at once draw one after the other.
    run = CoverageRun.objects.select_for_update(of=("self",)).get(pk=run.pk)
    if run.status in PipelineRun.LIVE:
        raise Conflict(_("The run has not ended."))
    if run.replay:
        raise Conflict(_("Physicians decide on the answers of a run, not on those of its replay."))
    due = due_questions(run, coverage_config(run.config, may_call=False))
    questioned = set(CoverageDecision.objects.filter(run=run).values_list("step", flat=True))
    new = [
        CoverageDecision(run=run, step_id=pk, stage=stage, created_at=at) for pk, stage in due if pk not in questioned
    ]
    CoverageDecision.objects.bulk_create(new, batch_size=1000)
    return len(new)


@transaction.atomic
def decide(*, decision: CoverageDecision, answer: str, by: User, at: datetime) -> CoverageDecision:
    """Store a physician's answer. `Conflict` where another physician has given one; one's own may be changed."""
    row = CoverageDecision.objects.select_for_update(of=("self",)).get(pk=decision.pk)
    allowed = row.OF_CRITERIA if row.stage == "coverage_back" else row.OF_POINTS
    if answer not in allowed:
        raise DomainError(_("Choose one of the answers."))
    if row.decided_by_id not in (None, by.pk):
        raise Conflict(_("Someone else has decided this in the meantime."))
    SkippedQuestion.objects.filter(decision=row, physician=by).delete()
    if row.answer != answer:
        row.answer, row.decided_by, row.decided_at = answer, by, at
        row.save(update_fields=["answer", "decided_by", "decided_at"])
    return row
