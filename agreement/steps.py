"""The onboarding step of this app: a report."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agreement.models import Report
from consilium.core.jobs import JobStatus
from rubrics.models import Benchmark
from rubrics.overview import Step, Way

ACUITY_KINDS = "acuity"  # what the names of all kinds of report on acuity begin with


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """A report on how far raters agree."""
    done = Report.objects.filter(benchmark=benchmark, status=JobStatus.DONE)
    acuity = done.filter(kind__startswith=ACUITY_KINDS).count()
    reports = done.exclude(kind__startswith=ACUITY_KINDS).exclude(kind=Report.Kind.SCORES).count()
    yield Step(
        order=80,
        label=_("View agreement"),
        done=reports > 0,
        why=_("Groups compared with each other, and judges with physicians: tables, figures and CSV."),
        detail=ngettext("%(n)d report", "%(n)d reports", reports) % {"n": reports},
        view="agreement:reports",
    )
    yield Step(
        order=60,
        label=_("View over- and under-triage"),
        done=acuity > 0,
        why=_("Candidates compared with the reference: direction and cost of their errors."),
        detail=ngettext("%(n)d report", "%(n)d reports", acuity) % {"n": acuity},
        view="agreement:acuity",
        way=Way.ACUITY,
    )
