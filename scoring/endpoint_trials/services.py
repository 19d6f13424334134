"""Begins a trial."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.http import QueryDict
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.jobs import OPEN
from rubrics.models import Benchmark
from scoring.endpoint_trials.jobs import TRIALS
from scoring.endpoint_trials.time_limit import TIME_LIMIT
from scoring.models import EndpointTrial, Judge

MAX_OPEN_PER_PERSON = 5
NOT_KEPT = ("csrfmiddlewaretoken",)


class TooManyTrials(DomainError):
    """Somebody waits for several trials already."""

    status_code = 429


@transaction.atomic
def start_trial(
    *,
    benchmark: Benchmark,
    kind: EndpointTrial.Kind,
    form: QueryDict,
    by: User,
    at: datetime,
    judge: Judge | None = None,
    judge_kind: str = "",
) -> EndpointTrial:
    """Leave one request to a worker; `TooManyTrials` where the person already waits for several."""
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    waiting = EndpointTrial.objects.filter(created_by=by, status__in=OPEN, created_at__gt=at - TIME_LIMIT)
    if waiting.count() >= MAX_OPEN_PER_PERSON:
        raise TooManyTrials(_("Several of your requests are still waiting for an answer. Wait until one has ended."))
    values = form.copy()
    for name in NOT_KEPT:
        values.pop(name, None)
    trial = EndpointTrial.objects.create(
        benchmark=benchmark,
        kind=kind,
        judge=judge,
        judge_kind=judge_kind,
        form=values.urlencode(),
        created_by=by,
        created_at=at,
    )
    TRIALS.enqueue(trial)
    return trial
