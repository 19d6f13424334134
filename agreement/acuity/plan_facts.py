"""Whether a report on acuity keeps to the signed plan of its benchmark, and was signed before its runs began."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Min, QuerySet

from agreement.acuity.level_judges import run_on
from agreement.acuity.readings import AcuityData
from agreement.planning.selectors import plan_in_force
from annotation.models import ReferenceSet
from rubrics.models import AcuityScale
from rubrics.parsing.acuity_files import FORMATS
from scoring.models import AcuityReading, GeneratedResponse, JudgeRun, JudgeRunItem


def plan_facts(
    reference_set: ReferenceSet, given: Mapping[str, Any], *, formats: Collection[str] | None = None
) -> dict[str, Any]:
    """The fact ``plan`` of a report with parameters ``given``, whose readings are in ``formats``; none without a plan.

    ``differs`` has what the plan says and the report does; ``before_runs`` is None where no run is behind it.
    """
    candidates = given.get("candidates", ())
    readings = AcuityReading.objects.filter(scale=reference_set.scale, candidate__name__in=candidates)
    begun = [readings.aggregate(first=Min("pipeline_run__created_at"))["first"]]
    judge = str(given.get("judge", ""))
    run = run_on(reference_set, judge)
    if run is not None:
        begun += _begun(run, JudgeRunItem.objects.filter(run=run, response__candidate__name__in=candidates))
    does: dict[str, Any] = {"ambiguous": reference_set.ambiguous.in_words}
    if formats is not None:
        does["formats"] = ", ".join(formats)
    if formats is None or AcuityReading.Format.CHAT in formats:
        does["judge"] = judge
    return _facts(reference_set.scale, {**_price(given), **does}, begun)


def formats_of(data: AcuityData) -> list[str]:
    """The formats that readings are in, the forced choice first."""
    own = {format_ for _candidate, format_ in data.series_names}
    return [format_ for format_ in FORMATS if format_ in own]


def judge_plan_facts(run: JudgeRun, reference_set: ReferenceSet | None, given: Mapping[str, Any]) -> dict[str, Any]:
    """The same of a report on a run of a judge."""
    assert run.judge.scale is not None
    does = {**_price(given), "judge": run.judge.name}
    if reference_set is not None:
        does["ambiguous"] = reference_set.ambiguous.in_words
    return _facts(run.judge.scale, does, _begun(run, JudgeRunItem.objects.filter(run=run)))


def _begun(run: JudgeRun, items: QuerySet[JudgeRunItem]) -> list[datetime | None]:
    """When a judge's run began, and the first of the runs that generated the responses of ``items`` of it."""
    generated = GeneratedResponse.objects.filter(response__in=items.values("response"))
    return [run.created_at, generated.aggregate(first=Min("step__run__created_at"))["first"]]


def _price(given: Mapping[str, Any]) -> dict[str, Any]:
    names = {"ratio": "penalties.r", "gamma": "penalties.gamma"}
    return {field: f"{given[name]:g}" for name, field in names.items() if name in given}


def _facts(scale: AcuityScale, does: Mapping[str, str], begun: Collection[datetime | None]) -> dict[str, Any]:
    plan = plan_in_force(scale)
    if plan is None or plan.signed_at is None:
        return {}
    says = plan.says
    first = min((at for at in begun if at is not None), default=None)
    return {
        "plan": {
            "number": plan.number,
            "digest": plan.digest,
            "signed_at": f"{plan.signed_at:%Y-%m-%d}",
            "before_runs": None if first is None else plan.signed_at <= first,
            "differs": [
                {"field": field, "plan": says[field], "report": value}
                for field, value in does.items()
                if says[field] != value
            ],
        }
    }


def plan_methods(facts: Mapping[str, Any]) -> list[str]:
    """What the methods say of it; nothing without a plan."""
    plan = facts.get("plan")
    if plan is None:
        return []
    when = {True: ", before the first of these runs began", False: ", after these runs had begun", None: ""}
    signed = f"Plan {plan['number']} of the study was signed on {plan['signed_at']}{when[plan['before_runs']]}"
    if not plan["differs"]:
        return [f"{signed}; this report keeps to it."]
    differs = "; ".join(
        f"{row['field']}: {row['plan'] or 'none'}, here {row['report'] or 'none'}" for row in plan["differs"]
    )
    return [f"{signed}; this report departs from it ({differs})."]
