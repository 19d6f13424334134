"""Handing over cases: the part that is common to label questions and writing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import Batch
from annotation.selectors.case_work import Task
from annotation.services.rules import lock_batch_exclusive
from consilium.core.errors import Conflict, DomainError


def lock_exclusive(batch: Batch) -> None:
    """Keep others from moving cases of the batch, so that two holders' cases cannot go to one person simultaneously."""
    lock_batch_exclusive(batch.pk)
    batch.refresh_from_db(fields=["status"])


def refuse_nothing_open(tasks: Collection[Task]) -> None:
    """`Conflict` if the holder no longer has open tasks."""
    if not tasks:
        raise Conflict(_("These cases have already been submitted or reassigned, so they were not moved."))


def fitting_tasks(
    tasks: Sequence[Task], people: Collection[int], excluded: Collection[tuple[int, int]]
) -> dict[int, list[Task]]:
    """Person → the tasks that they may take over, except for the (case, person) pairs ``excluded``.

    People who may take none are left out.
    """
    tasks_by_user = {user: [task for task in tasks if (task.case_id, user) not in excluded] for user in people}
    return {user: fitting for user, fitting in tasks_by_user.items() if fitting}


def spread(
    tasks: Sequence[Task], takers: Mapping[int, Collection[Task]], loads: Mapping[int, int], *, to: User | None
) -> dict[int, int]:
    """Task → who takes it: ``to``, or the person with the least open work who may; `DomainError` if nobody may.

    Tasks that few people may take are given out first, so that the rest can even out the loads.
    """
    may: dict[int, list[int]] = {task.pk: [] for task in tasks}
    for user, fitting in takers.items():
        for task in fitting:
            if to is None or user == to.pk:
                may[task.pk].append(user)
    load = Counter(loads)
    moves = {}
    for task in sorted(tasks, key=lambda task: len(may[task.pk])):
        if may[task.pk]:
            taker = min(may[task.pk], key=lambda user: (load[user], user))
            load[taker] += 1
            moves[task.pk] = taker
    if not moves:
        raise DomainError(_("None of the chosen members of the group can take over these cases."))
    return moves
