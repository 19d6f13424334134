"""The onboarding step of this app: a report."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agreement.models import Report
from consilium.core.jobs import JobStatus
from rubrics.models import Benchmark
from rubrics.overview import Step


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """A report on how far raters agree."""
    reports = Report.objects.filter(benchmark=benchmark, status=JobStatus.DONE).count()
    yield Step(
        order=80,
        label=_("Read how far they agree"),
        done=reports > 0,
        why=_("Group against group, judge against physicians: tables, figures and CSV."),
        detail=ngettext("%(n)d report", "%(n)d reports", reports) % {"n": reports},
        view="agreement:reports",
    )
