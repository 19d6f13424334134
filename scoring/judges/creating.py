"""Creates a judge from its form: at once, or after a worker has checked its endpoint."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.http import QueryDict

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.forms import JudgeForm
from scoring.judges.kinds.kind import KINDS, JudgeKind
from scoring.models import EndpointTrial, Judge


def create_judge(kind: JudgeKind, benchmark: Benchmark, form: JudgeForm, *, by: User | None, at: datetime) -> Judge:
    """The judge of a valid form; `DomainError` where its settings cannot be used."""
    return kind.create(benchmark=benchmark, name=form.cleaned_data["name"], config=form.config(), by=by, at=at)


def create_after_check(
    trial: EndpointTrial, values: QueryDict, seconds: float, *, finish: Callable[..., None], at: datetime
) -> None:
    """Check the endpoint of the form, and create the judge with the result of the trial: its public id."""
    kind = KINDS[trial.judge_kind]
    form = kind.make_form(trial.benchmark, values)
    if not form.is_valid():
        raise DomainError(" ".join(str(error) for errors in form.errors.values() for error in errors))
    kind.check_endpoint(trial.benchmark, form.config(), seconds=seconds)
    with transaction.atomic():
        judge = create_judge(kind, trial.benchmark, form, by=trial.created_by, at=at)
        finish(result=judge.public_id, progress=1.0)
