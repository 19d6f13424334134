"""The onboarding step of this app: a release."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from consilium.core.jobs import JobStatus
from releases.models import Release
from rubrics.models import Benchmark
from rubrics.overview import Step


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """A version that others can cite and check."""
    newest = Release.objects.filter(benchmark=benchmark, status=JobStatus.DONE).only("version").first()
    yield Step(
        order=90,
        label=_("Release a version"),
        done=newest is not None,
        why=_("A frozen version with data card, licence and checksums, which others can cite, check and import."),
        detail=_("version %(version)s") % {"version": newest.version} if newest else "",
        view="releases:releases",
    )
