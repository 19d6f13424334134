"""Reports fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import get_object_or_404

from accounts.models import User
from agreement.models import NamedSlice, Report
from rubrics.access import get_benchmark


def get_report(user: User | AnonymousUser, slug: str, public_id: str) -> Report:
    """A report on a benchmark that ``user`` runs."""
    reports = Report.objects.filter(benchmark=get_benchmark(user, slug)).select_related("benchmark", "created_by")
    return get_object_or_404(reports, public_id=public_id)


def get_slice(user: User | AnonymousUser, slug: str, name: str) -> NamedSlice:
    """A named slice, a retired one too, on a benchmark that ``user`` runs."""
    return get_object_or_404(NamedSlice, benchmark=get_benchmark(user, slug), slug=name)
