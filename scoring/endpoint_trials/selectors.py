"""What a page shows of a trial."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.heartbeat import workers_seen
from consilium.core.jobs import OPEN, JobStatus
from rubrics.models import Benchmark
from rubrics.services.worker_outages import newest_heartbeat
from scoring.endpoint_trials.time_limit import TIME_LIMIT, seconds_left
from scoring.models import EndpointTrial

# A free worker takes a trial sooner.
LOOK_FOR_WORKERS_AFTER = timedelta(seconds=5)
NO_WORKER_IS_FREE_AFTER = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class TrialState:
    """Whether a trial is still waited for, and why it failed. ``no_worker``: nothing will take it."""

    waiting: bool = False
    running: bool = False
    problem: str = ""
    no_worker: bool = False
    worker_seen_at: datetime | None = None  # where ``no_worker``: the last time


def state_of(trial: EndpointTrial, *, at: datetime) -> TrialState:
    """The state of a trial at ``at``. After the time limit it is given up, whatever its worker does."""
    if trial.status not in OPEN:
        return TrialState(problem=trial.error)
    running = trial.status == JobStatus.RUNNING
    if seconds_left(trial, at=at) <= 0:
        return TrialState(
            problem=_("No answer within a minute.")
            if running
            else _("No worker was free within a minute. No request was sent. Try again later.")
        )
    no_worker = (
        not running
        and at - trial.created_at > LOOK_FOR_WORKERS_AFTER
        and not workers_seen(within_s=settings.WORKER_STALL_LIMIT_S).exists()
    )
    return TrialState(True, running, "", no_worker, newest_heartbeat() if no_worker else None)


def waiting_trials(*, at: datetime, limit: int) -> list[int]:
    """The ids of trials that no free worker has taken, those first that have waited longest."""
    rows = EndpointTrial.objects.filter(status=JobStatus.PENDING, created_at__lte=at - NO_WORKER_IS_FREE_AFTER)
    # Nobody waits for older ones: their own task, or the sweep, gives them up.
    rows = rows.filter(created_at__gt=at - TIME_LIMIT).order_by("created_at", "pk")
    return list(rows.values_list("pk", flat=True)[:limit])


def failed_check(
    by: User, benchmark: Benchmark, judge_kind: str, public_id: str, *, at: datetime
) -> tuple[EndpointTrial, str] | None:
    """A check that somebody began and that failed, with the reason; None where there is no such check."""
    rows = EndpointTrial.objects.filter(benchmark=benchmark, created_by=by, kind=EndpointTrial.Kind.NEW_JUDGE)
    trial = rows.filter(judge_kind=judge_kind, public_id=public_id).first()
    if trial is None:
        return None
    problem = state_of(trial, at=at).problem
    return (trial, problem) if problem else None
