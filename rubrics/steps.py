"""The onboarding steps of this app: cases, the rule sheet, responses."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from rubrics.models import Benchmark, Case, Response
from rubrics.overview import Step


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """What must be there before anybody can grade."""
    cases = Case.objects.filter(benchmark=benchmark).count()
    yield Step(
        order=10,
        label=_("Import cases with their rubrics"),
        done=cases > 0,
        why=_(
            "HealthBench examples, ClinConsensus cases, or your own table (CSV or XLSX); everything else is based on "
            "them."
        ),
        detail=ngettext("%(n)s case", "%(n)s cases", cases) % {"n": f"{cases:,}"},
        view="rubrics:imports",
        query="?kind=cases",
    )
    yield Step(
        order=20,
        label=_("Write the rule sheet"),
        done=bool(benchmark.rule_sheet.strip()),
        why=_("What “met” means: physicians read it next to the response, and judges receive it in their prompt."),
        view="rubrics:settings",
        admin_only=True,
    )
    responses = Response.objects.filter(case__benchmark=benchmark).count()
    yield Step(
        order=30,
        label=_("Add the responses to be graded"),
        done=responses > 0,
        why=_("One file for each candidate, or one for all of them."),
        detail=ngettext("%(n)s response", "%(n)s responses", responses) % {"n": f"{responses:,}"},
        view="rubrics:imports",
        query="?kind=responses",
    )
