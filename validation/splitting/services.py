"""Makes runs that split criteria, saves corrected points, and freezes points as a rubric set.

How a run goes on is in `scoring.pipelines.runs`, with cancelling, resuming and replaying.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.i18n import translate
from consilium.core.versioning import is_replay, refuse_stale
from rubrics.models import Benchmark, Case
from scoring.models import PipelineRun
from scoring.pipelines import runs as pipeline_runs
from validation.models import PointsCorrection, RubricSet, RubricSetItem, SplittingRun
from validation.sets.content import SetCriterion
from validation.sets.frames import Frame, funnel_of
from validation.sets.selectors import framed_cases, items_of
from validation.sets.storing import SetName, Source, SplitOf, store_set
from validation.splitting.building import build
from validation.splitting.config import splitting_config
from validation.splitting.content import Statement, UnusablePoints, checked_points, points_as_they_are
from validation.splitting.kind import KIND
from validation.splitting.selectors import CasePoints, points_of_run


@transaction.atomic
def create_run(
    *,
    benchmark: Benchmark,
    gold: RubricSet,
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    budget: Decimal | None = None,
) -> SplittingRun:
    """Make a run with a step for each case of ``gold``, and enqueue a task once this is committed.

    ``config`` holds the endpoint and how the model decodes; the criteria are copied from the set.
    """
    built = build(benchmark, gold, config)
    if budget is not None and not built.config.priced:
        raise DomainError(_("To set a budget, enter the prices of the model."))
    run = pipeline_runs.create_run(
        kind=KIND,
        benchmark=benchmark,
        config=built.config.model_dump(mode="json"),
        terms={
            "gold": gold.name,
            "gold_id": gold.public_id,
            "model": built.config.model,
            "endpoint": built.config.endpoint,
            "settings": {name: value for name, value in built.config.parameters(0).items() if name != "model"},
            "cases": len(built.case_ids),
            "criteria": sum(len(own) for own in built.config.criteria.values()),
            "withheld": built.with_findings,
        },
        cases=built.case_ids,
        by=by,
        at=at,
        budget=budget,
        currency=built.config.currency if built.config.priced else "",
    )
    return SplittingRun.objects.get(pk=run.pk)


@transaction.atomic
def resume_run(*, run: SplittingRun, at: datetime, budget: Decimal | None = None) -> None:
    """Ask for what failed and what was not asked yet; with ``budget``, under another limit."""
    pipeline_runs.resume_run(run=run, at=at, budget=budget)


def check_ended(run: SplittingRun) -> None:
    """`Conflict` unless the points of a run may be corrected and frozen."""
    if run.status in PipelineRun.LIVE:
        raise Conflict(_("The run has not ended."))
    if run.replay:
        raise Conflict(_("Points belong to a run, not to its replay."))


@dataclass(frozen=True, slots=True)
class PointsInput:
    """All points of a case, with the version that their author saw (0: none was saved) and the id of this save."""

    points: list[Statement]
    version: int
    client_id: UUID | None = None


@transaction.atomic
def save_points(*, run: SplittingRun, case: Case, change: PointsInput, by: User, at: datetime) -> PointsCorrection:
    """Save the corrected points of a case; `StaleSave` where another version is stored.

    `DomainError` where a criterion has no point, a point no text, or a number is that of no criterion.
    """
    # Saves of one case wait for each other, also of the first one.
    run.steps.select_for_update(no_key=True).get(case=case)
    check_ended(SplittingRun.objects.get(pk=run.pk))
    row = PointsCorrection.objects.filter(run=run, case=case).first()
    if row is not None and is_replay(change.client_id, stored=row.client_id):
        return row
    message = _("These points were changed elsewhere in the meantime.")
    refuse_stale(change.version, stored=row.version if row else 0, current=row, message=message)
    criteria = splitting_config(run.config, may_call=False).criteria[case.key]
    try:
        points = [point.stored() for point in checked_points(change.points, len(criteria))]
    except UnusablePoints as error:
        raise DomainError(translate(error.phrase)) from None
    if row is None:
        row = PointsCorrection(run=run, case=case, version=0)
    row.points, row.version, row.client_id = points, row.version + 1, change.client_id
    row.saved_by, row.saved_at = by, at
    row.save()
    return row


@transaction.atomic
def freeze(*, run: SplittingRun, name: SetName, by: User | None, at: datetime) -> RubricSet:
    """Make a rubric set of the points as they are now. Each keeps points and axis of its criterion, and names it.

    The set has the cases of its source that count. Criteria of a case that was not split, or not sent, stay as they
    are, and the set says of how many cases.
    """
    check_ended(run)
    gold = splitting_config(run.config, may_call=False).gold
    source = RubricSet.objects.finished().filter(
        benchmark=run.benchmark_id, public_id=gold.id, digest=gold.digest
    ).first()  # fmt: skip
    if source is None:
        raise DomainError(_("The set that this run split is not in this benchmark."))
    points = {own.case.pk: own for own in points_of_run(run) if own.is_split}
    items = {pk: list(rows) for pk, rows in groupby(items_of(source), key=lambda item: item.case_id)}
    in_source = ("set", source.name, lambda case: case.pk in items)
    funnel = funnel_of(Frame(), framed_cases(run.benchmark, Frame()), source=in_source)
    split = [points[case.pk] for case in funnel.cases if case.pk in points]
    if not split:
        raise DomainError(_("No case has been split, so the new set would be identical to the original set."))
    content = [(case, _items_of_points(items[case.pk], points.get(case.pk))) for case in funnel.cases]
    split_of = SplitOf(
        source,
        run,
        unsplit=len(content) - len(split),
        corrected=sum(own.correction is not None for own in split),
    )
    return store_set(
        run.benchmark, name, Source(RubricSet.Origin.SPLIT, split_of=split_of), Frame(), funnel, content, by=by, at=at
    )


def _items_of_points(criteria: list[RubricSetItem], own: CasePoints | None) -> list[SetCriterion]:
    """The items of a case: its points, or its criteria as they are."""
    points = own.points if own else points_as_they_are(item.text for item in criteria)
    sources = [(point.text, criteria[point.criterion - 1]) for point in points]
    return [SetCriterion(text, item.points, item.axis, item.criterion_id, item.pk) for text, item in sources]
