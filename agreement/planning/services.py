"""Imports and signs plans of studies of acuity."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from agreement.models import AcuityPlan
from agreement.planning.acuity_plan import PlanDocument, WrongPlan, content_of, plan_digest
from consilium.core.errors import Conflict
from rubrics.acuity.scales import STARTERS
from rubrics.acuity.services import get_or_make_scale
from rubrics.acuity.stored import scale_of
from rubrics.models import AcuityScale, Benchmark


@transaction.atomic
def import_plan(*, benchmark: Benchmark, plan: PlanDocument, by: User | None, at: datetime) -> tuple[AcuityPlan, bool]:
    """The next plan of a benchmark, or the newest one where it is the same; and whether it is new.

    `WrongPlan` where no scale of the benchmark, nor a starter scale, has its levels in this order.
    """
    # Concurrent requests wait here, so that no two plans get the same number.
    Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    content = content_of(plan)
    digest = plan_digest(content)
    newest = AcuityPlan.objects.filter(benchmark=benchmark).order_by("-number").first()
    if newest is not None and newest.digest == digest:
        return newest, False
    scale = _scale(benchmark, plan.ascending, by, at)
    return AcuityPlan.objects.create(
        benchmark=benchmark,
        number=newest.number + 1 if newest else 1,
        scale=scale,
        content=content,
        digest=digest,
        imported_by=by,
        imported_at=at,
    ), True


def _scale(benchmark: Benchmark, levels: tuple[str, ...], by: User | None, at: datetime) -> AcuityScale:
    stored = AcuityScale.objects.filter(benchmark=benchmark).order_by("-pk")
    for row in stored:
        if scale_of(row).values == levels:
            return row
    for name, scale in STARTERS.items():
        if scale.values == levels and not any(row.name == name for row in stored):
            return get_or_make_scale(benchmark=benchmark, name=name, by=by, at=at)
    raise WrongPlan(
        _("levels: no scale of this benchmark has these levels in this order: %(names)s.")
        % {"names": ", ".join(levels)}
    )


@transaction.atomic
def sign_plan(*, plan: AcuityPlan, by: User | None, at: datetime) -> AcuityPlan:
    """Sign a plan; from then on it never changes. `Conflict` where it is signed, or a newer one is there."""
    Benchmark.objects.select_for_update(no_key=True).get(pk=plan.benchmark_id)
    plan = AcuityPlan.objects.select_for_update().get(pk=plan.pk)
    if plan.signed_at is not None:
        raise Conflict(_("Plan %(number)s has already been signed.") % {"number": plan.number})
    if AcuityPlan.objects.filter(benchmark=plan.benchmark_id, number__gt=plan.number).exists():
        raise Conflict(_("There is a newer plan. Review it, then sign that one."))
    plan.signed_by, plan.signed_as, plan.signed_at = by, str(by) if by else "", at
    plan.save(update_fields=["signed_by", "signed_as", "signed_at"])
    return plan
