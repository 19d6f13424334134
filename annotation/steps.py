"""The onboarding steps of this app: two groups, a batch for each, decisions."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.models import Batch, ExpertGroup, Membership
from annotation.selectors.progress import progress_of
from rubrics.models import Benchmark
from rubrics.overview import Step

WANTED_GROUPS = 2


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """What the physicians' part takes."""
    members = Membership.objects.filter(group__benchmark=benchmark, active=True)
    staffed = members.values("group").distinct().count()
    yield Step(
        order=40,
        label=_("Make two expert groups"),
        done=staffed >= WANTED_GROUPS,
        why=_(
            "Two groups that know nothing of each other; how far they agree says how far the rubrics can be trusted."
        ),
        detail=ngettext("%(n)d group with members", "%(n)d groups with members", staffed) % {"n": staffed},
        view="annotation:groups",
    )
    groups = ExpertGroup.objects.filter(benchmark=benchmark, batches__isnull=False).distinct().count()
    batches = Batch.objects.filter(group__benchmark=benchmark).exclude(kind=Batch.Kind.QUALIFY)
    number = batches.count()
    yield Step(
        order=50,
        label=_("Give each group a batch of responses"),
        done=groups >= WANTED_GROUPS,
        why=_("A batch says who grades which responses, and how many of them a second physician checks."),
        detail=ngettext("%(n)d batch", "%(n)d batches", number) % {"n": number},
        view="annotation:batches",
    )
    progress = progress_of(batches).values()
    total, accepted = (
        sum(batch_progress.total for batch_progress in progress),
        sum(batch_progress.accepted for batch_progress in progress),
    )
    yield Step(
        order=60,
        label=_("Physicians grade, checkers check"),
        done=0 < total == accepted,
        why=_("Each physician grades on a page of their own; this bar counts what is accepted."),
        view="annotation:batches",
        finished=accepted,
        total=total,
    )
