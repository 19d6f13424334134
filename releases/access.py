"""Releases fetched for a user; forbidden and missing look the same (404)."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.shortcuts import get_object_or_404

from accounts.models import User
from releases.models import Release
from rubrics.access import get_administered_benchmark, get_benchmark


def get_release(user: User | AnonymousUser, slug: str, public_id: str) -> Release:
    """A release of a benchmark that ``user`` runs."""
    releases = Release.objects.filter(benchmark=get_benchmark(user, slug)).select_related("benchmark", "created_by")
    return get_object_or_404(releases, public_id=public_id)


def get_administered_release(user: User | AnonymousUser, slug: str, public_id: str) -> Release:
    """A release of a benchmark that ``user`` administers."""
    releases = Release.objects.filter(benchmark=get_administered_benchmark(user, slug)).select_related("benchmark")
    return get_object_or_404(releases, public_id=public_id)
