"""Plans of studies of acuity of a benchmark, and the one in force."""

from __future__ import annotations

from django.db.models import QuerySet

from agreement.models import AcuityPlan
from rubrics.models import AcuityScale, Benchmark


def plans_of(benchmark: Benchmark) -> QuerySet[AcuityPlan]:
    """The plans of a benchmark, the newest first."""
    return AcuityPlan.objects.filter(benchmark=benchmark).select_related("scale", "benchmark").order_by("-number")


def plan_in_force(scale: AcuityScale) -> AcuityPlan | None:
    """The newest signed plan on a scale; None where nobody has signed one."""
    return AcuityPlan.objects.filter(scale=scale, signed_at__isnull=False).order_by("-number").first()
