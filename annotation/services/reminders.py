"""Reminders that an admin sends of open work in a batch, at most one a day for each person, role and batch."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.models import Notification, User
from accounts.services.notifications import notify
from annotation.models import Assignment, Batch, LabelTask, Membership, WritingTask
from annotation.selectors.able_reviewers import waiting_for_checkers
from annotation.selectors.case_work import of_excluded_cases
from consilium.core.errors import Conflict

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class OpenWork:
    """What one person has to do in one role in a batch: ``part`` is annotator or checker, ``what`` "" or cases."""

    user: int
    part: str
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class Reminded:
    """Who was reminded, who had been today already, and who cannot be because they have never signed in; each once."""

    now: list[User]
    already: list[User]
    never_signed_in: list[User]


def open_work_in(batch: Batch) -> list[OpenWork]:
    """The people with open work in the batch, and how much; checkers count what they hold and what they may claim.

    Somebody who grades and checks is in it twice, once for each ``part``.
    """
    tasks = (
        # Gold items are counted, too: the number is that of *My work*.
        (Assignment.objects.exclude(purpose=Assignment.Purpose.QUALIFICATION), "annotator", Assignment.OPEN, ""),
        (LabelTask.objects.exclude(of_excluded_cases()), "annotator", LabelTask.OPEN, "cases"),
        (WritingTask.objects.exclude(of_excluded_cases()), "writer", WritingTask.OPEN, "writing"),
    )
    members = Membership.objects.filter(group=batch.group_id, active=True, user__is_active=True)
    active = {role: set(members.filter(role=role).values_list("user_id", flat=True)) for role in Membership.Role.values}
    open_work: dict[tuple[int, str], OpenWork] = {}
    for rows, column, statuses, what in tasks:
        counts = rows.filter(batch=batch, status__in=statuses).order_by().values_list(column).annotate(Count("pk"))
        for user, number in counts:
            if user in active["annotator"]:
                open_work[user, "annotator"] = OpenWork(user, "annotator", what, number)
    checks: dict[int, int] = dict(
        Assignment.objects.filter(batch=batch, status=Assignment.Status.IN_CHECK, checker__isnull=False)
        .order_by()
        .values_list("checker")
        .annotate(Count("pk"))
    )
    for piece in waiting_for_checkers([batch.pk]):
        for user in piece.able:
            checks[user] = checks.get(user, 0) + 1
    for user, number in checks.items():
        if user in active["checker"]:
            open_work[user, "checker"] = OpenWork(user, "checker", "", number)
    return list(open_work.values())


@transaction.atomic
def send_reminders(
    *, batch: Batch, by: User, at: datetime, only: Collection[int] | None = None, part: str = ""
) -> Reminded:
    """Notify everybody with open work in the batch, or those of them in ``only``, of all work or that of ``part``.

    Who was reminded of the same part today is not reminded again.

    `Conflict` if the batch takes no work. The notifications stay on record with who sent them, and so does the log.
    """
    if batch.status != Batch.Status.OPEN:
        raise Conflict(_("This batch is not open, so no one can continue in it now."))
    Batch.objects.select_for_update(no_key=True).get(pk=batch.pk)  # two admins at once send one reminder
    work = [row for row in open_work_in(batch) if (only is None or row.user in only) and (not part or row.part == part)]
    keys = {row.part: f"remind:{row.part}:{batch.public_id}:{at.date().isoformat()}" for row in work}
    reminded_today = set(Notification.objects.filter(key__in=keys.values()).values_list("user_id", "key"))
    people = User.objects.in_bulk([row.user for row in work])
    invited = set(User.objects.filter(User.INVITED, pk__in=people).values_list("pk", flat=True))
    benchmark = batch.group.benchmark
    reminded = Reminded([], [], [])
    for row in work:
        user = people[row.user]
        if row.user in invited:
            reminded.never_signed_in.append(user)
        elif (row.user, keys[row.part]) in reminded_today:
            reminded.already.append(user)
        else:
            reminded.now.append(user)
            page = "annotation:work-in" if row.part == "annotator" else "annotation:checks-in"
            notify(
                user=user,
                kind=Notification.Kind.DUE,
                benchmark_title=benchmark.title,
                url=reverse(page, args=[benchmark.slug]),
                at=at,
                key=keys[row.part],
                batch=batch.title,
                due=batch.due_date.isoformat() if batch.due_date else "",
                stage="reminder",
                count=row.count,
                part=row.part,
                what=row.what,
                by=by.pk,
            )
    # Somebody with two parts is named once, as reminded if they were reminded of either.
    reminded.now[:] = dict.fromkeys(reminded.now)
    reminded.already[:] = [user for user in dict.fromkeys(reminded.already) if user not in reminded.now]
    reminded.never_signed_in[:] = dict.fromkeys(reminded.never_signed_in)
    if reminded.now:
        logger.info(
            "Reminders were sent",
            extra={"batch": batch.public_id, "by": by.pk, "users": [user.pk for user in reminded.now]},
        )
    return reminded
