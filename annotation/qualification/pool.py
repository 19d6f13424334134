"""Which responses an attempt to qualify has, and whether their agreed decisions may be shown after it.

A rule may set how many responses an attempt has. Then each attempt draws from those that the physician has not had, and
the agreed decisions of an attempt are shown as soon as it ends, because its responses do not come again. Without a
number, each attempt has the whole set, and its agreed decisions stay hidden as long as another attempt may follow.

A rule may change after agreed decisions were shown. Responses of such an attempt do not come again for its physician.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction

from annotation.allocation.allocate import keyed
from annotation.models import (
    Assignment,
    Batch,
    ExpertGroup,
    KeyedDecision,
    KeyedResponse,
    Outcome,
    QualificationAttempt,
)
from annotation.selectors.eligibility import QUALIFICATION, Eligibility, seen_by

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User
    from rubrics.models import Benchmark

AGREED_SHOWN = "agreed_shown_at"  # in the frame of an attempt's batch


def qualification_set(benchmark: Benchmark, user: User) -> list[KeyedResponse]:
    """Keys of responses that this person can qualify on: those that they did not write or know from other work."""
    keys = list(
        KeyedResponse.objects.filter(
            benchmark=benchmark,
            active=True,
            use=KeyedResponse.Use.QUALIFICATION,
            response__case__excluded_at=None,
        ).select_related("response__case", "response__candidate")
    )
    seen = seen_by([user.pk], [key.response_id for key in keys])
    known = seen | agreed_decisions_shown(benchmark, [user.pk])
    return [key for key in keys if (user.pk, key.response_id) not in known]


def agreed_decisions_shown(benchmark: Benchmark, users: Iterable[int]) -> set[tuple[int, int]]:
    """Pairs of a user and a response (ids) whose agreed decisions that person has seen after an attempt."""
    attempts = QualificationAttempt.objects.filter(
        user__in=users, group__benchmark=benchmark, batch__frame__has_key=AGREED_SHOWN
    )
    work = Assignment.objects.filter(batch__in=attempts.values("batch"))
    return set(work.values_list("annotator", "response"))


def record_shown(attempt: QualificationAttempt, *, at: datetime) -> None:
    """The agreed decisions of ``attempt`` are shown to its physician now; the first time is kept."""
    with transaction.atomic():
        batch = Batch.objects.select_for_update(no_key=True).get(pk=attempt.batch_id)
        if AGREED_SHOWN not in batch.frame:
            batch.frame = {**batch.frame, AGREED_SHOWN: at.isoformat()}
            batch.save(update_fields=["frame"])


def can_be_marked(keys: Iterable[KeyedResponse]) -> bool:
    """Whether a decision on ``keys`` can be compared: at least one agreed decision is met or not met."""
    return KeyedDecision.objects.filter(keyed__in=list(keys)).exclude(outcome=Outcome.CANNOT_ASSESS).exists()


def with_startable_attempts(user: User, rows: Iterable[Eligibility]) -> list[Eligibility]:
    """The eligibilities, with `nothing_to_qualify_on` set where an attempt may be started and no response is left.

    Queries only for groups in which the user may start an attempt now.
    """
    checked = []
    for row in rows:
        if row.reason == QUALIFICATION and row.under_way is None:
            startable = can_be_marked(qualification_set(row.group.benchmark, user))
            checked.append(replace(row, nothing_to_qualify_on=not startable))
        else:
            checked.append(row)
    return checked


def given_to(user: User, group: ExpertGroup) -> dict[int, int]:
    """Response (id) → number of the last attempt in which the user had it, in any group of the benchmark."""
    attempts = QualificationAttempt.objects.filter(user=user, group__benchmark=group.benchmark_id).order_by(
        "started_at"
    )
    order = {batch: number for number, batch in enumerate(attempts.values_list("batch", flat=True), start=1)}
    rows = Assignment.objects.filter(batch__in=order).values_list("response", "batch")
    numbers: dict[int, int] = {}
    for response, batch in rows:
        numbers[response] = max(order[batch], numbers.get(response, 0))
    return numbers


def draw(
    keys: Iterable[KeyedResponse], *, size: int | None, earlier: Mapping[int, int], seed: int
) -> list[KeyedResponse]:
    """The keys of an attempt in their order; cases stay together, and ``seed`` shuffles them.

    Args:
        keys: All that the physician can qualify on.
        size: How many; None for all.
        earlier: Response → number of the last attempt that had it. Responses that no attempt had come first, then
            those of the earliest attempt.
        seed: Decides order and draw.
    """
    queue = sorted(keys, key=lambda key: _place(seed, key))
    if size is not None:
        unseen_first = sorted(queue, key=lambda key: earlier.get(key.response_id, 0))
        chosen = {key.pk for key in unseen_first[:size]}
        queue = [key for key in queue if key.pk in chosen]
    return queue


def may_show_agreed_decisions(attempt: QualificationAttempt, eligibility: Eligibility) -> bool:
    """Whether no attempt that may still follow can have a response of ``attempt``.

    Needs ``attempt.batch``. What was shown once does not come again (`qualification_set`), unless an attempt that is
    under way has it.
    """
    if not eligibility.may_try_again:
        return True
    if AGREED_SHOWN in attempt.batch.frame:
        return not _shares_responses(attempt, eligibility.under_way)
    size = eligibility.rule.attempt_size if eligibility.rule else None
    if size is None:
        return False
    earlier = given_to(attempt.user, attempt.group)
    unseen = sum(key.response_id not in earlier for key in qualification_set(attempt.group.benchmark, attempt.user))
    return unseen >= size * eligibility.attempts_left and not _shares_responses(attempt, eligibility.under_way)


def _shares_responses(attempt: QualificationAttempt, other: QualificationAttempt | None) -> bool:
    if other is None:
        return False
    rows = Assignment.objects.filter(batch=other.batch_id)
    return rows.filter(response__in=Assignment.objects.filter(batch=attempt.batch_id).values("response")).exists()


def _place(seed: int, key: KeyedResponse) -> tuple[int, str, int, str, str, int]:
    """Sort key that keeps cases together; the seed shuffles the cases, and the responses of each case."""
    response = key.response
    case, rest = response.case.key, (response.candidate.name, response.setting, response.sample)
    return (keyed(seed, "case", case), case, keyed(seed, "response", case, *rest), *rest)
