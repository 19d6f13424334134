"""Writes to juries: judges whose verdicts are combined. A jury makes no calls; it uses its members' runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from rubrics.models import Benchmark
from scoring.judges.config import InvalidConfig, jury_config
from scoring.judges.juries import judge_names
from scoring.judges.kinds.kind import juries
from scoring.judges.services import new_version
from scoring.models import Judge, JudgeRun


@transaction.atomic
def create_jury(*, benchmark: Benchmark, name: str, config: Mapping[str, Any], by: User | None) -> Judge:
    """Create a jury of judges of the benchmark; `InvalidConfig` if a judge cannot be a member.

    ``config``: ``members`` (names) and ``rule``. A name that exists already gets a new version.
    """
    checked = jury_config(dict(config))
    known = judge_names(benchmark)
    unknown = [member for member in checked.members if member not in known]
    if unknown:
        known_juries = Judge.objects.filter(benchmark=benchmark, kind__in=juries(), name__in=unknown)
        if known_juries.exists():
            message = _("“%(name)s” is a jury. A jury cannot be a member of another jury.") % {
                "name": known_juries[0].name
            }
        else:
            message = _("There is no judge “%(name)s” on this benchmark.") % {"name": unknown[0]}
        raise InvalidConfig({"members": message})
    if JudgeRun.objects.filter(benchmark=benchmark, judge__name=name).exists():
        # The name belongs to a judge of another benchmark that has run here; the jury would hide it in reports.
        raise DomainError(
            _("“%(name)s” is the name of a judge that has run here. Choose another name.") % {"name": name}
        )
    # The order of the members has no meaning.
    settings = {**checked.model_dump(mode="json"), "members": sorted(checked.members)}
    return new_version(benchmark=benchmark, name=name, kind=Judge.Kind.JURY, config=settings, by=by)
