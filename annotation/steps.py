"""The onboarding steps of this app: two groups, a batch for each, decisions; of acuity, votes and a reference set."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from annotation.dashboard.counts import count_work
from annotation.models import Batch, LabelAnswer, LabelQuestion, LabelTask, Membership, ReferenceSet
from rubrics.models import Benchmark, HowMapped, SourceLabel
from rubrics.overview import Step, Way

WANTED_GROUPS = 2


def steps(benchmark: Benchmark) -> Iterator[Step]:
    """What the physicians' part takes."""
    yield from _acuity_steps(benchmark)
    members = Membership.objects.filter(group__benchmark=benchmark, active=True)
    staffed = members.values("group").distinct().count()
    yield Step(
        order=40,
        label=_("Create two expert groups"),
        done=staffed >= WANTED_GROUPS,
        why=_("The two groups work independently. Their agreement shows how far the rubrics can be trusted."),
        detail=ngettext("%(n)d group with members", "%(n)d groups with members", staffed) % {"n": staffed},
        view="annotation:groups",
    )
    batches = Batch.objects.filter(group__benchmark=benchmark, kind=Batch.Kind.GRADE)
    groups, number = batches.values("group").distinct().count(), batches.count()
    yield Step(
        order=50,
        label=_("Assign a batch of responses to each group"),
        done=groups >= WANTED_GROUPS,
        why=_("A batch defines who grades which responses, and how many of them a second physician checks."),
        detail=ngettext("%(n)d batch", "%(n)d batches", number) % {"n": number},
        view="annotation:batches",
    )
    work = count_work(batches, at=timezone.now()).total()
    accepted, total = work.accepted, work.counted
    yield Step(
        order=60,
        label=_("Physicians grade, checkers check"),
        done=0 < total == accepted,
        why=_(
            "Each physician grades on their own page. The bar shows accepted assignments of all assignments to grade, "
            "including those in the pool and imported decisions, without those that closed batches left undone."
        )
        if batches.filter(imported=True).exists()
        else _(
            "Each physician grades on their own page. The bar shows accepted assignments of all assignments to grade, "
            "including those in the pool, without those that closed batches left undone."
        ),
        view="annotation:batches",
        finished=accepted,
        total=total,
    )


def _acuity_steps(benchmark: Benchmark) -> Iterator[Step]:
    given = LabelAnswer.objects.filter(question__benchmark=benchmark, question__kind=LabelQuestion.Kind.LEVELS)
    votes = given.filter(task__status=LabelTask.Status.SUBMITTED).count()
    labels = SourceLabel.objects.filter(scheme__scale__benchmark=benchmark)
    labelled = labels.values("case").distinct().count()
    # Labels that lead to a level need no panel.
    suffices = labelled > 0 and not labels.filter(how=HowMapped.PANEL).exists()
    yield Step(
        order=20,
        label=_("Import the urgency of the cases"),
        done=labelled + votes > 0,
        why=_(
            "Labels from elsewhere, with or without the cases. A preview shows the level of each label. "
            "If there are no labels, ask physicians to vote under “Case labels”."
        ),
        detail=ngettext("%(n)s labelled case", "%(n)s labelled cases", labelled) % {"n": f"{labelled:,}"}
        if labelled
        else ngettext("%(n)s vote", "%(n)s votes", votes) % {"n": f"{votes:,}"},
        view="scoring:acuity-import",
        way=Way.ACUITY,
    )
    yield Step(
        order=30,
        label=_("Ask a panel of physicians"),
        done=votes > 0 or suffices,
        why=_(
            "Cases whose label is missing or too coarse get their level from a question on a scale. "
            "Votes that physicians gave elsewhere can be imported under “Imports”."
        ),
        detail=ngettext("%(n)s vote", "%(n)s votes", votes) % {"n": f"{votes:,}"} if votes else _("not needed"),
        view="annotation:labels",
        way=Way.ACUITY,
    )
    sets = ReferenceSet.objects.filter(benchmark=benchmark).count()
    yield Step(
        order=40,
        label=_("Sign a reference set"),
        done=sets > 0,
        why=_("It freezes the level of each case. Every report on acuity refers to one reference set."),
        detail=ngettext("%(n)d set", "%(n)d sets", sets) % {"n": sets},
        view="annotation:reference-sets",
        admin_only=True,
        way=Way.ACUITY,
    )
