"""Rows of the cohort, fetched for whoever may see them, else 404."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import get_object_or_404

from accounts.models import User
from annotation.models import Application, ApplicationCall, RotationPlan
from rubrics.access import get_administered_benchmark


def get_call(token: str) -> ApplicationCall:
    """The call at an address, for anybody who has it."""
    return get_object_or_404(ApplicationCall.objects.select_related("benchmark"), token=token)


def get_open_call(token: str) -> ApplicationCall:
    """The same while people can apply."""
    return get_object_or_404(ApplicationCall.objects.select_related("benchmark"), token=token, is_open=True)


def get_application(user: User | AnonymousUser, slug: str, public_id: str) -> Application:
    """An application to a benchmark that ``user`` administers."""
    benchmark = get_administered_benchmark(user, slug)
    rows = Application.objects.select_related("benchmark", "user")
    return get_object_or_404(rows, benchmark=benchmark, public_id=public_id)


def get_rotation_plan(user: User | AnonymousUser, slug: str, public_id: str) -> RotationPlan:
    """A plan of a benchmark that ``user`` administers."""
    benchmark = get_administered_benchmark(user, slug)
    return get_object_or_404(RotationPlan, benchmark=benchmark, public_id=public_id)
