"""Notifies those who run a benchmark of the end of judge runs, of runs of steps and of trainings.

Each function is called in the transaction that writes the end.
"""

from __future__ import annotations

from datetime import datetime

from django.urls import reverse

from consilium.core.i18n import english
from rubrics.services.job_notices import notify_of_end
from scoring.models import JudgeRun, PipelineRun, TrainedModel
from scoring.pipelines.kind import KINDS

# The statuses of both kinds of runs that are notified. A run is cancelled by somebody on its page.
ENDS: dict[str, str] = {
    JudgeRun.Status.FINISHED: "done",
    JudgeRun.Status.INCOMPLETE: "incomplete",
    JudgeRun.Status.FAILED: "failed",
}


def notify_of_judge_run(run: JudgeRun, *, status: str, budget_spent: bool, at: datetime) -> None:
    """Notify of a judge run that finished, failed or ended incomplete."""
    if status not in ENDS:
        return
    notify_of_end(
        benchmark=run.benchmark,
        by=run.created_by_id,
        begun_at=run.created_at,
        what="judge_run",
        end="budget" if budget_spent else ENDS[status],
        url=reverse("scoring:run", args=[run.benchmark.slug, run.public_id]),
        at=at,
        name=run.judge.name,
    )


def notify_of_pipeline(run: PipelineRun, *, status: str, budget_spent: bool = False, at: datetime) -> None:
    """Notify of a run of steps that finished, failed or ended incomplete."""
    kind = KINDS[run.kind]
    if status not in ENDS or not kind.route:
        return
    notify_of_end(
        benchmark=run.benchmark,
        by=run.created_by_id,
        begun_at=run.created_at,
        what="run",
        end="budget" if budget_spent else ENDS[status],
        url=reverse(kind.route, args=[run.benchmark.slug, run.public_id]),
        at=at,
        hidden_from=kind.hidden_from(run),
        label=english(kind.label),
    )


def notify_of_training(model: TrainedModel, *, end: str, at: datetime) -> None:
    """Notify of a judge that was trained (``done``), or whose training ``failed``."""
    judge = model.judge
    notify_of_end(
        benchmark=judge.benchmark,
        by=judge.created_by_id,
        begun_at=judge.created_at,
        what="training",
        end=end,
        url=reverse("scoring:judge", args=[judge.benchmark.slug, judge.public_id]),
        at=at,
        name=judge.name,
    )
