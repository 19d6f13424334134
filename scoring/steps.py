"""The onboarding step of this app: a judge."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from rubrics.models import Benchmark
from rubrics.overview import Step
from scoring.models import JudgeRun


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """A judge that has graded the same responses."""
    runs = JudgeRun.objects.graded().filter(benchmark=benchmark).count()
    yield Step(
        order=70,
        label=_("Run a judge over the same responses"),
        done=runs > 0,
        why=_("A language model, or a judge trained on the physicians’ own decisions, which needs no network."),
        detail=ngettext("%(n)d finished run", "%(n)d finished runs", runs) % {"n": runs},
        view="scoring:judges",
    )
