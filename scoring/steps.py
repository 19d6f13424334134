"""The onboarding steps of this app: a judge; of acuity, a scale and readings."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from rubrics.models import AcuityScale, Benchmark, Candidate
from rubrics.overview import Step, Way
from scoring.models import AcuityReading, JudgeRun


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """A judge that has graded the same responses, and what acuity begins with."""
    yield from _acuity_steps(benchmark)
    # The list of judges shows runs over responses of derived candidates as well.
    runs = JudgeRun.objects.filter(
        benchmark=benchmark, status=JudgeRun.Status.FINISHED, purpose=JudgeRun.Purpose.GRADE
    ).count()
    yield Step(
        order=70,
        label=_("Run a judge on the same responses"),
        done=JudgeRun.objects.graded().filter(benchmark=benchmark).exists(),
        why=_("A language model, or a judge trained on the physicians’ own decisions, which needs no network."),
        detail=ngettext("%(n)d finished run", "%(n)d finished runs", runs) % {"n": runs},
        view="scoring:judges",
    )


def _acuity_steps(benchmark: Benchmark) -> Iterator[Step]:
    scales = AcuityScale.objects.filter(benchmark=benchmark).values("name").distinct().count()
    yield Step(
        order=10,
        label=_("Choose the levels of urgency"),
        done=scales > 0,
        why=_("Scales with three, four and five levels are provided; you can also write your own."),
        detail=ngettext("%(n)d scale", "%(n)d scales", scales) % {"n": scales},
        view="scoring:acuity-scales",
        way=Way.ACUITY,
    )
    own = AcuityReading.objects.filter(candidate=OuterRef("pk"))
    readings = Candidate.objects.filter(Exists(own), benchmark=benchmark).count()
    yield Step(
        order=50,
        label=_("Collect candidates’ readings"),
        done=readings > 0,
        why=_(
            "A reading is the level given for a case. Ask models for forced choices, have a judge read "
            "their answers to patients, or import a file."
        ),
        detail=ngettext("%(n)d candidate", "%(n)d candidates", readings) % {"n": readings},
        view="scoring:acuity",
        way=Way.ACUITY,
    )
