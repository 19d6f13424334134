"""Celery's tasks for judge runs, runs of steps and trainings. A task carries ids and decides nothing."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from scoring.endpoint_trials.beside import TrialsBeside
from scoring.endpoint_trials.jobs import TRIALS
from scoring.judges.services import TRAININGS
from scoring.pipelines.runs import PIPELINES
from scoring.pipelines.working import work_on_run
from scoring.runs.services import SLICES
from scoring.trained.fitting import fit
from scoring.work.slice import work_on_slice

TrialsBeside().connect()


@shared_task(ignore_result=True)
def judge_slice(run_id: int, number: int) -> None:
    """Work on a slice of a judge run; where the time was up, enqueue it again."""
    if work_on_slice(run_id, number, clock=timezone.now):
        judge_slice.delay(run_id, number)


@shared_task(ignore_result=True)
def work_on_pipeline(run_id: int) -> None:
    """Work on a run of steps; where the time was up, enqueue it again."""
    if work_on_run(run_id, clock=timezone.now):
        work_on_pipeline.delay(run_id)


@shared_task(ignore_result=True)
def train_judge(trained_model_id: int) -> None:
    """Fit a trained judge."""
    fit(trained_model_id, clock=timezone.now)


@shared_task(ignore_result=True)
def ask_on_trial(trial_id: int) -> None:
    """Send the one request of a trial."""
    TRIALS.run(job_id=trial_id, clock=timezone.now)


@shared_task(ignore_result=True)
def sweep_runs() -> None:
    """Enqueue again what a lost worker or an emptied broker left behind."""
    for kind in (SLICES, TRAININGS, PIPELINES, TRIALS):
        kind.sweep(at=timezone.now())
