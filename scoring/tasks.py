"""Celery's tasks for judge runs, responses and trainings. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from scoring.generation.runs import GENERATIONS
from scoring.generation.working import work_on_run
from scoring.judges.services import TRAININGS
from scoring.runs.services import SLICES
from scoring.trained.fitting import fit
from scoring.work.slice import work_on_slice


@shared_task(ignore_result=True)
def judge_slice(run_id: int, number: int) -> None:
    """Work on a slice of a judge run; where the time was up, enqueue it again."""
    if work_on_slice(run_id, number, clock=timezone.now):
        judge_slice.delay(run_id, number)


@shared_task(ignore_result=True)
def generate_responses(run_id: int) -> None:
    """Work on a run that asks for responses; where the time was up, enqueue it again."""
    if work_on_run(run_id, clock=timezone.now):
        generate_responses.delay(run_id)


@shared_task(ignore_result=True)
def train_judge(trained_model_id: int) -> None:
    """Fit a trained judge."""
    fit(trained_model_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_runs() -> None:
    """Enqueue again what a lost worker or an emptied broker left behind."""
    for kind in (SLICES, TRAININGS, GENERATIONS):
        kind.sweep(at=timezone.now())
