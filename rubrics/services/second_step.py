"""Demands a second step of a benchmark's people, or no longer demands it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.models import User
from accounts.services import security_log
from consilium.core.errors import DomainError
from rubrics.models import Benchmark

USUAL_DAYS = 7  # from setting the rule until it applies, so that nobody has to stop in the middle of work
MAX_DAYS = 366


@transaction.atomic
def require_second_step(
    *, benchmark: Benchmark, since: datetime, by: User, at: datetime, request: HttpRequest | None = None
) -> None:
    """From ``since`` on everybody with a role or a membership in the benchmark needs a second step to reach it.

    ``request`` is for the security log. A moment that has passed means now.
    """
    if since > at + timedelta(days=MAX_DAYS):
        raise DomainError(_("Choose a day within the next year."), field="since")
    since = max(since, at)
    row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if row.second_step_from is not None and row.second_step_from <= at == since:
        return  # it applies already
    row.second_step_from = benchmark.second_step_from = since
    row.save(update_fields=["second_step_from"])
    scope = benchmark.slug
    security_log.record("second_step_required", at=at, by=by, scope=scope, request=request, since=since.isoformat())


@transaction.atomic
def stop_requiring_second_step(
    *, benchmark: Benchmark, by: User, at: datetime, request: HttpRequest | None = None
) -> None:
    """The benchmark demands no second step any more; ``request`` is for the security log."""
    row = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    if row.second_step_from is None:
        return
    row.second_step_from = benchmark.second_step_from = None
    row.save(update_fields=["second_step_from"])
    security_log.record("second_step_not_required", at=at, by=by, scope=benchmark.slug, request=request)
