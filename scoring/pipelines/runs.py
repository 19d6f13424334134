"""Creates, cancels, resumes and replays runs of steps. The steps hold what is due; tasks only carry ids.

States: pending → running → finished | incomplete | failed; running → paused → running while an endpoint is down;
pending, running or paused → cancelled, after which answers to requests in flight are still written; and from cancelled,
incomplete, failed and paused back to pending by `resume_run`.
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
from consilium.core.jobs import register
from consilium.core.locked_jobs import LockedKind
from consilium.core.locks import WorkerLock
from consilium.core.transitions import transition
from rubrics.models import Benchmark, Candidate
from scoring.keys.grants import require_keys
from scoring.models import PipelineRun, PipelineStep
from scoring.pipelines.kind import KINDS, AnyKind, StepName
from scoring.pipelines.settling import make_ready, name_of, new_step

State, Status = PipelineStep.State, PipelineRun.Status
RESUMABLE = (Status.CANCELLED, Status.INCOMPLETE, Status.FAILED, Status.PAUSED)


@transaction.atomic
def create_run(
    *,
    kind: AnyKind,
    benchmark: Benchmark,
    config: Mapping[str, Any],
    by: User | None,
    at: datetime,
    candidate: Candidate | None = None,
    terms: Mapping[str, Any] | None = None,
    frame: Mapping[str, Any] | None = None,
    cases: Sequence[int] | None = None,
    budget: Decimal | None = None,
    currency: str = "",
) -> PipelineRun:
    """Make a run with the steps that its kind plans for each of ``cases``, and enqueue a task once this is committed.

    The first steps of all cases come before the second ones, so that a run that is cut short has as many cases as it
    can. ``cases`` None: the kind adds the steps itself, in this transaction (`make_steps`).
    """
    run = PipelineRun(
        kind=kind.name,
        benchmark=benchmark,
        candidate=candidate,
        config=dict(config),
        terms=dict(terms or {}),
        frame=dict(frame or {}),
        budget=budget,
        currency=currency,
        created_by=by,
        created_at=at,
    )
    settings = kind.settings_of(run, may_call=True)
    _require_keys(run, kind, settings)
    run.asks = sorted({f"{use.endpoint.url} {use.endpoint.model}" for use in kind.endpoints(settings).values()})
    run.save()
    if cases is not None:
        if not cases:
            raise DomainError(_("No cases match these filters."))
        make_steps(run, kind, settings, cases)
    PIPELINES.enqueue([run], at=at)
    return run


def _require_keys(run: PipelineRun, kind: AnyKind, settings: Any) -> None:
    """`InvalidConfig` where the benchmark may not use a key of the run."""
    for use in kind.endpoints(settings).values():
        require_keys(run.benchmark, {"": use.endpoint})


def make_steps(
    run: PipelineRun,
    kind: AnyKind,
    settings: Any,
    cases: Sequence[int],
    *,
    only: Mapping[int, set[StepName]] | None = None,
) -> None:
    """Store the steps that ``cases`` need before there is any output; ``only`` leaves out others."""
    planned = kind.plan(settings, {})
    PipelineStep.objects.bulk_create(
        new_step(run, case, step.name, State.WAITING if step.needs else State.READY)
        for step in planned
        for case in cases
        if only is None or step.name in only[case]
    )


@transaction.atomic
def cancel_run(*, run: PipelineRun, at: datetime) -> None:
    """Send no more requests; answers to those in flight are written. `Conflict` if the run has ended."""
    transition(run, source=PipelineRun.LIVE, target=Status.CANCELLED, finished_at=at, resume_at=None, error="")


def may_resume(run: PipelineRun) -> bool:
    """Whether the state of a run allows `resume_run`; whether something is left to ask for is not looked at."""
    return run.status in RESUMABLE and not run.imported


@transaction.atomic
def resume_run(*, run: PipelineRun, at: datetime, budget: Decimal | None = None) -> None:
    """Resume a run: request again what failed, and what was not requested yet; with ``budget``, under another limit."""
    if budget is not None:
        if not run.currency:
            raise DomainError(_("To set a budget, enter the prices of the model."))
        PipelineRun.objects.filter(pk=run.pk).exclude(status__in=PipelineRun.LIVE).update(budget=budget)
        run.refresh_from_db()
    if run.imported:
        raise Conflict(_("This run was made elsewhere. It can be viewed and replayed, but not continued."))
    kind = KINDS[run.kind]
    settings = kind.settings_of(run, may_call=not run.replay)  # the operator's list may have changed since
    if not run.replay:
        _require_keys(run, kind, settings)
    failed = run.steps.filter(state=State.FAILED)
    kinds = set(failed.order_by().values_list("error_kind", flat=True).distinct())
    make_ready(run, failed.filter(error_kind__in=[name for name in kinds if kind.may_ask_again(name)]))
    if not run.steps.filter(state=State.READY).exists():
        raise DomainError(_("There is nothing left to request."))
    transition(run, source=RESUMABLE, target=Status.PENDING, error="", finished_at=None, resume_at=None, attempts=0)
    PIPELINES.enqueue([run], at=at)


@transaction.atomic
def replay_run(*, run: PipelineRun, by: User | None, at: datetime) -> PipelineRun:
    """Do a run that has ended again from stored answers alone; nothing is asked, and nothing but its steps is written.

    It fails, naming the step, where an answer is missing.
    """
    if run.status in PipelineRun.LIVE:
        raise Conflict(_("The run has not ended."))
    if run.origin:
        raise Conflict(_("This run was imported with a release, which contains no answers to replay."))
    kind = KINDS[run.kind]
    settings = kind.settings_of(run, may_call=False)
    replay = PipelineRun.objects.create(
        kind=run.kind,
        benchmark=run.benchmark,
        candidate=run.candidate,
        config=run.config,
        terms=run.terms,
        frame=run.frame,
        replay=True,
        replay_of=run,
        endpoint_kind=run.endpoint_kind,
        created_by=by,
        created_at=at,
    )
    names: dict[int, set[StepName]] = {}
    for step in run.steps.order_by("pk").only("case_id", "stage", "key", "round"):
        names.setdefault(step.case_id, set()).add(name_of(step))
    make_steps(replay, kind, settings, list(names), only=names)
    PIPELINES.enqueue([replay], at=at)
    return replay


class PipelineJobs(LockedKind[PipelineRun]):
    """Runs of steps, of every kind."""

    model = PipelineRun
    task = "scoring.tasks.work_on_pipeline"
    sweep_task = "scoring.tasks.sweep_runs"
    lock = WorkerLock.PIPELINE
    waiting = (Status.PENDING, Status.PAUSED)
    running = (Status.RUNNING,)
    may_pause = True


PIPELINES = register(PipelineJobs())
