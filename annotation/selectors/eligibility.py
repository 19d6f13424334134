"""Eligibility of an annotator for new work: qualified where the benchmark requires it, and not held back.

Eligibility is about *new* work alone. Drafts and returned work may always be finished.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db.models import F
from django.utils import timezone

from annotation.models import (
    Assignment,
    ExpertGroup,
    KeyedResponse,
    Membership,
    QualificationAttempt,
    QualificationRule,
)

if TYPE_CHECKING:
    from accounts.models import User
    from rubrics.models import Benchmark

QUALIFICATION = "qualification"
WAITING = "waiting"
FAILED = "failed"
WITHHELD = "withheld"
NOT_QUALIFIED_YET = frozenset({QUALIFICATION, WAITING})


@dataclass(frozen=True, slots=True)
class Eligibility:
    """Whether one annotator may get new work in a group.

    ``reason`` is empty where new work may be given, else one of ``qualification`` (not passed yet; may start or
    continue an attempt now), ``waiting`` (may try again from ``again_at``), ``failed`` (no attempt is left),
    ``withheld`` (held back by an admin or because of gold items).
    """

    group: ExpertGroup
    reason: str = ""
    again_at: datetime | None = None
    rule: QualificationRule | None = None
    attempts: tuple[QualificationAttempt, ...] = ()
    nothing_to_qualify_on: bool = False  # set by `annotation.qualification.pool.with_startable_attempts` alone

    @property
    def may_get_work(self) -> bool:
        """Whether new work may be given."""
        return not self.reason

    @property
    def under_way(self) -> QualificationAttempt | None:
        """The attempt that is open."""
        return next((row for row in self.attempts if row.status == QualificationAttempt.Status.OPEN), None)

    @property
    def last(self) -> QualificationAttempt | None:
        """The last finished attempt, which has a feedback page."""
        done = [row for row in self.attempts if row.status != QualificationAttempt.Status.OPEN]
        return done[-1] if done else None

    @property
    def may_try_again(self) -> bool:
        """Whether an attempt is open or may follow, now or later: after a wait, or once a hold is lifted."""
        required = self.rule is not None and self.rule.required
        passed = any(row.status == QualificationAttempt.Status.PASSED for row in self.attempts)
        return required and not passed and (self.under_way is not None or self.attempts_left > 0)

    @property
    def attempts_left(self) -> int:
        """How many more attempts the annotator may begin."""
        return max(0, self.rule.attempts - len(self.attempts)) if self.rule else 0


def eligibility_of(user: User, group: ExpertGroup, *, at: datetime | None = None) -> Eligibility:
    """The eligibility of one user; anybody who is not an annotator of the group is eligible."""
    return eligibilities_of(group, [user.pk], at=at or timezone.now()).get(user.pk, Eligibility(group))


def eligibilities(group: ExpertGroup, *, at: datetime | None = None) -> dict[int, Eligibility]:
    """User id → eligibility, of every active annotator of the group."""
    return eligibilities_of(group, None, at=at or timezone.now())


def own_eligibilities(
    user: User, benchmark: Benchmark | None = None, *, at: datetime | None = None
) -> list[Eligibility]:
    """The user's eligibility in each group that they annotate for, in one benchmark or in all; at most two queries."""
    members = Membership.objects.filter(user=user.pk, active=True, role=Membership.Role.ANNOTATOR)
    if benchmark is not None:
        members = members.filter(group__benchmark=benchmark)
    rows = members.select_related("group__benchmark__qualification_rule").order_by("group__name", "pk")
    groups = [(row.group, getattr(row.group.benchmark, "qualification_rule", None), row.withheld_at) for row in rows]
    required = [group.benchmark_id for group, rule, _withheld in groups if rule is not None and rule.required]
    attempts = _attempts({user.pk}, required) if required else {}
    moment = at or timezone.now()
    return [
        _judged(group, rule, attempts.get((group.benchmark_id, user.pk), []), withheld, moment)
        for group, rule, withheld in groups
    ]


def eligibilities_of(group: ExpertGroup, users: Collection[int] | None, *, at: datetime) -> dict[int, Eligibility]:
    """`eligibilities` of ``users``, or of all annotators where ``users`` is None."""
    members = Membership.objects.filter(group=group, role=Membership.Role.ANNOTATOR, active=True)
    if users is not None:
        members = members.filter(user__in=users)
    held = dict(members.values_list("user_id", "withheld_at"))
    rule = QualificationRule.objects.filter(benchmark=group.benchmark_id).first()
    is_required = rule is not None and rule.required
    attempts = _attempts(held, [group.benchmark_id]) if is_required else {}
    return {
        user: _judged(group, rule, attempts.get((group.benchmark_id, user), []), since, at)
        for user, since in held.items()
    }


def _attempts(users: Iterable[int], benchmarks: Collection[int]) -> dict[tuple[int, int], list[QualificationAttempt]]:
    """(benchmark, user) → attempts, the first one first.

    Passing in one group counts for the whole benchmark, since all groups share its qualification set.
    """
    attempts: dict[tuple[int, int], list[QualificationAttempt]] = {}
    rows = QualificationAttempt.objects.filter(group__benchmark__in=benchmarks, user__in=users)
    for row in rows.annotate(benchmark=F("group__benchmark")).order_by("started_at", "pk"):
        attempts.setdefault((row.benchmark, row.user_id), []).append(row)
    return attempts


def _judged(
    group: ExpertGroup,
    rule: QualificationRule | None,
    attempts: Iterable[QualificationAttempt],
    withheld_at: datetime | None,
    at: datetime,
) -> Eligibility:
    if rule is None or not rule.required:
        return Eligibility(group, WITHHELD if withheld_at else "", rule=rule)
    rows = tuple(attempts)
    status = {row.status for row in rows}
    reason, again_at = "", None
    if QualificationAttempt.Status.PASSED not in status:
        finished = [row.finished_at for row in rows if row.finished_at is not None]
        reason = QUALIFICATION
        if QualificationAttempt.Status.OPEN not in status and finished:
            again_at = max(finished) + timedelta(hours=rule.wait_hours)
            if len(rows) >= rule.attempts:
                reason, again_at = FAILED, None
            elif again_at > at:
                reason = WAITING
            else:
                again_at = None
    if withheld_at is not None:
        reason, again_at = WITHHELD, None
    return Eligibility(group, reason, again_at, rule, rows)


def refuses_new_work(assignment: Assignment, *, at: datetime) -> Eligibility | None:
    """The eligibility that forbids beginning ``assignment``; None if its annotator may begin it, or has begun it."""
    if assignment.status != Assignment.Status.NOT_STARTED or assignment.purpose == Assignment.Purpose.QUALIFICATION:
        return None
    eligibility = eligibilities_of(assignment.batch.group, [assignment.annotator_id], at=at).get(
        assignment.annotator_id
    )
    return eligibility if eligibility is not None and not eligibility.may_get_work else None


def seen_by(users: Collection[int], responses: Iterable[int]) -> set[tuple[int, int]]:
    """(user, response) pairs in which the user wrote the response or had a part in it other than qualifying on it."""
    from annotation.models import Involvement

    responses = list(responses)
    parts = set(
        Involvement.objects.filter(user__in=users, response__in=responses).values_list("user_id", "response_id")
    )
    qualified_on = set(
        Assignment.objects.filter(
            annotator__in=users, response__in=responses, purpose=Assignment.Purpose.QUALIFICATION
        ).values_list("annotator_id", "response_id")
    )
    authors = set(
        KeyedResponse.objects.filter(response__in=responses, response__author__in=users).values_list(
            "response__author_id", "response_id"
        )
    )
    return (parts - qualified_on) | {(int(user or 0), response) for user, response in authors}
