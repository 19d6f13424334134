"""Rubric sets, fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import get_object_or_404

from accounts.models import User
from rubrics.access import get_benchmark
from validation.models import RubricSet


def get_rubric_set(user: User | AnonymousUser, slug: str, public_id: str) -> RubricSet:
    """A set of a benchmark that ``user`` runs."""
    sets = RubricSet.objects.finished().filter(benchmark=get_benchmark(user, slug))
    return get_object_or_404(sets.select_related("benchmark", "created_by"), public_id=public_id)
