"""Hands cases with label questions to other physicians. Drafted answers stay on record and do not count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max

from accounts.models import User
from annotation.codes.batches import not_to_code
from annotation.labels.batches import not_to_ask
from annotation.models import FIRST_ROUND, Batch, LabelQuestion, LabelTask
from annotation.selectors.able import able_annotators
from annotation.selectors.languages_read import unreadable_pairs
from annotation.services.case_handover import fitting_tasks, lock_exclusive, refuse_nothing_open, spread
from annotation.services.notices import notify_of_passed_cases
from consilium.core.transitions import transition


def is_coding(batch: Batch) -> bool:
    """Whether responses are coded in the batch."""
    return bool(batch.frame.get("about") == "codes")


def movable_tasks(*, batch: Batch, holder: int) -> list[LabelTask]:
    """What ``holder`` has not handed in, in the order of their queue; nothing in a closed batch.

    In a second round nobody votes for somebody else, so nothing of it can move.
    """
    rows = LabelTask.objects.filter(batch=batch, annotator=holder, status__in=LabelTask.OPEN, round=FIRST_ROUND)
    if not is_coding(batch):
        # Nor does a response to be read: another sample is soon drawn.
        rows = rows.filter(response=None)
    return list(rows.exclude(batch__status=Batch.Status.CLOSED))


def takers_of(*, batch: Batch, tasks: Sequence[LabelTask]) -> dict[int, list[LabelTask]]:
    """Active annotators who may get new work → the tasks that they may take over; annotators without any are left out.

    Nobody is asked the same question about the same case or response twice, neither here nor in another batch.
    """
    people = able_annotators(batch.group).users
    questions = LabelQuestion.objects.filter(public_id__in=batch.frame.get("questions", []))
    if is_coding(batch):
        barred = not_to_code(questions.get(), {task.response_id for task in tasks if task.response_id}, people)
        fitting = {user: [task for task in tasks if (task.response_id, user) not in barred] for user in people}
        return {user: own for user, own in fitting.items() if own}
    cases = [task.case_id for task in tasks]
    excluded = not_to_ask(list(questions), cases, people)
    if batch.match_languages:
        excluded |= unreadable_pairs(cases, people)
    return fitting_tasks(tasks, people, excluded)


def open_in(batch: Batch) -> dict[int, int]:
    """Annotator → cases of the batch that they have open."""
    rows = LabelTask.objects.filter(batch=batch, status__in=LabelTask.OPEN).order_by()
    return dict(rows.values_list("annotator").annotate(Count("pk")))


@transaction.atomic
def hand_over_labels(*, batch: Batch, holder: User, to: User | None, at: datetime) -> int:
    """Give what ``holder`` has open to one physician, or with ``to`` empty spread it; returns how many cases moved.

    When spread, each case goes to the physician with the least open in the batch among those who may take it. A case
    that nobody may take stays. `Conflict` where the batch is closed or nothing is open; `DomainError` where nobody may
    take any of it. The audit trail records who did it.
    """
    lock_exclusive(batch)
    tasks = movable_tasks(batch=batch, holder=holder.pk)
    refuse_nothing_open(tasks)
    moves = spread(tasks, takers_of(batch=batch, tasks=tasks), open_in(batch), to=to)
    rows = LabelTask.objects.filter(batch=batch, annotator__in=moves.values()).order_by()
    last = Counter(dict(rows.values_list("annotator").annotate(Max("position"))))
    for task in tasks:
        taker = moves.get(task.pk)
        if taker is None:
            continue
        transition(task, source=LabelTask.OPEN, target=LabelTask.Status.RELEASED, released_at=at)
        last[taker] += 1
        LabelTask.objects.create(
            batch=batch,
            case_id=task.case_id,
            response_id=task.response_id,
            annotator_id=taker,
            position=last[taker],
        )
    notify_of_passed_cases(batch=batch, counts=Counter(moves.values()), at=at)
    return len(moves)
