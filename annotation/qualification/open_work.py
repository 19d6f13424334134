"""Work that annotators could not begin if their benchmark required qualification from now on."""

from __future__ import annotations

from django.utils.translation import ngettext

from annotation.models import Assignment, Batch, Membership, QualificationAttempt
from rubrics.models import Benchmark


def work_that_waits(benchmark: Benchmark) -> str:
    """A warning of the annotators with assignments not begun who have passed no attempt; empty where there are none.

    Work that they have begun or that was returned is not counted, because it may be finished all the same.
    """
    members = Membership.objects.filter(
        group__benchmark=benchmark, role=Membership.Role.ANNOTATOR, active=True, user__is_active=True
    )
    passed = QualificationAttempt.objects.filter(group__benchmark=benchmark, status=QualificationAttempt.Status.PASSED)
    work = (
        Assignment.objects.filter(
            batch__group__benchmark=benchmark,
            batch__status__in=[Batch.Status.OPEN, Batch.Status.PAUSED],
            status=Assignment.Status.NOT_STARTED,
            annotator__in=members.values("user"),
        )
        .exclude(purpose=Assignment.Purpose.QUALIFICATION)
        .exclude(annotator__in=passed.values("user"))
    )
    people = work.order_by().values("annotator").distinct().count()
    if not people:
        return ""
    text = ngettext(
        "%(n)d annotator with open work is not qualified. They can finish what they have begun, and begin the other "
        "assignments (%(work)d) only after they pass.",
        "%(n)d annotators with open work are not qualified. They can finish what they have begun, and begin the other "
        "assignments (%(work)d) only after they pass.",
        people,
    )
    return text % {"n": people, "work": work.count()}
