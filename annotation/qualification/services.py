"""Qualification attempts: an attempt is a batch over the qualification set, graded on the ordinary page."""

from __future__ import annotations

import secrets
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.models import User
from annotation.models import (
    Assignment,
    Batch,
    Decision,
    ExpertGroup,
    KeyedDecision,
    Membership,
    Outcome,
    QualificationAttempt,
    QualificationRule,
)
from annotation.qualification.gold import notify_admins
from annotation.qualification.marking import mark
from annotation.qualification.pool import can_be_marked, draw, given_to, qualification_set
from annotation.selectors.eligibility import QUALIFICATION, Eligibility, eligibility_of, refuses_new_work
from annotation.services.rules import readable_constraint_errors
from consilium.core.errors import Conflict, DomainError
from consilium.core.transitions import transition
from consilium.statistics.estimate import Estimate


def why_no_new_work(eligibility: Eligibility) -> str:
    """The message for a physician who may not begin new work. Why they were held back is shown to admins only."""
    return {
        "qualification": _("Pass the qualification first. You can find it under “My work”."),
        "waiting": _("Pass the qualification first. “My work” shows when you can try again."),
        "failed": _(
            "You did not pass the qualification and have no attempts left. Your study coordinator has been notified."
        ),
        "withheld": _(
            "Assignments to you are paused. Finish the work you have begun, or contact your study coordinator."
        ),
    }.get(eligibility.reason, "")


def refuse_new_work(*, assignment: Assignment, at: datetime) -> None:
    """Raise `Conflict` where ``assignment`` would be new work and its annotator may not begin any."""
    row = Assignment.objects.select_related("batch__group").get(pk=assignment.pk)
    eligibility = refuses_new_work(row, at=at)
    if eligibility is not None:
        raise Conflict(why_no_new_work(eligibility))


def may_be_undone(assignment: Assignment) -> bool:
    """Whether the submission of ``assignment`` may be undone: not once it ended its qualification attempt."""
    if assignment.purpose != Assignment.Purpose.QUALIFICATION:
        return True
    return not QualificationAttempt.objects.filter(batch=assignment.batch_id).exclude(status="open").exists()


def where_it_ends(assignment: Assignment) -> str:
    """The page after the last response: feedback if a qualification has ended with it, otherwise "My work"."""
    if assignment.purpose == Assignment.Purpose.QUALIFICATION:
        attempt = QualificationAttempt.objects.filter(batch=assignment.batch_id).exclude(status="open").first()
        if attempt is not None:
            return reverse("annotation:qualification-feedback", args=[attempt.public_id])
    return reverse("annotation:work")


@transaction.atomic
def start_attempt(*, user: User, group: ExpertGroup, at: datetime, seed: int | None = None) -> QualificationAttempt:
    """Begin an attempt, or return the attempt under way; `draw` says which responses it has."""
    member = Membership.objects.select_for_update().filter(
        group=group, user=user, role=Membership.Role.ANNOTATOR, active=True
    )
    if member.first() is None:
        raise DomainError(_("Only annotators of the group can take the qualification."))
    eligibility = eligibility_of(user, group, at=at)
    if eligibility.under_way is not None:
        return eligibility.under_way
    if eligibility.reason != QUALIFICATION:
        raise Conflict(why_no_new_work(eligibility) or _("You are already qualified."))
    rule = QualificationRule.objects.get(benchmark=group.benchmark_id)
    seed = secrets.randbelow(2**53) if seed is None else seed
    keys = draw(
        qualification_set(group.benchmark, user), size=rule.attempt_size, earlier=given_to(user, group), seed=seed
    )
    if not can_be_marked(keys):
        raise DomainError(_("There is no response left for you to qualify on. Ask your study coordinator to add some."))
    number = len(eligibility.attempts) + 1
    batch = Batch.objects.create(
        group=group,
        title=_("Qualification, attempt %(n)d") % {"n": number},
        kind=Batch.Kind.QUALIFY,
        check_policy=Batch.CheckPolicy.NONE,
        check_fraction=0.0,
        seed=seed,
        created_by=user,
        created_at=at,
    )
    with readable_constraint_errors():
        Assignment.objects.bulk_create(
            Assignment(
                batch=batch,
                case_id=key.response.case_id,
                response_id=key.response_id,
                rubric_id=key.rubric_id,
                annotator=user,
                purpose=Assignment.Purpose.QUALIFICATION,
                position=position,
            )
            for position, key in enumerate(keys, start=1)
        )
    return QualificationAttempt.objects.create(
        group=group, user=user, number=number, batch=batch, pass_mark=rule.pass_mark, started_at=at
    )


@transaction.atomic
def after_handing_in(*, assignment: Assignment, at: datetime) -> None:
    """Finish the attempt if ``assignment`` was its last response; nothing for other work, gold items included."""
    if assignment.purpose == Assignment.Purpose.QUALIFICATION:
        _finish(assignment.batch, at)


def _finish(batch: Batch, at: datetime) -> None:
    """Mark the attempt once its last response is handed in. Simultaneous hand-ins wait for the lock on its row."""
    attempt = (
        QualificationAttempt.objects.select_for_update(of=("self",))
        .select_related("group__benchmark", "user")
        .get(batch=batch)
    )
    left = Assignment.objects.filter(batch=batch, status__in=Assignment.OPEN)
    if attempt.status != QualificationAttempt.Status.OPEN or left.exists():
        return
    score = mark((row.outcome, row.key) for row in marked_rows(attempt))
    passed = isinstance(score, Estimate) and score.value >= attempt.pass_mark
    transition(
        attempt,
        source=[QualificationAttempt.Status.OPEN],
        target=QualificationAttempt.Status.PASSED if passed else QualificationAttempt.Status.FAILED,
        mf1=score.value,
        pairs=score.n,
        finished_at=at,
    )
    transition(batch, source=[Batch.Status.OPEN, Batch.Status.PAUSED], target=Batch.Status.CLOSED, closed_at=at)
    if passed:
        return
    eligibility = eligibility_of(attempt.user, attempt.group, at=at)
    if eligibility.reason == "failed":
        member = Membership.objects.select_related("user").get(
            group=attempt.group, user=attempt.user, role=Membership.Role.ANNOTATOR
        )
        with translation.override(settings.LANGUAGE_CODE):  # handed in by a physician, read by admins of any language
            reason = _("Qualification not passed in %(n)d attempts.") % {"n": len(eligibility.attempts)}
        notify_admins(benchmark=attempt.group.benchmark, about=member, reason=reason, at=at)


class MarkedRow:
    """One criterion of an attempt: what was decided, the key, and its explanation."""

    __slots__ = ("criterion", "explanation", "key", "note", "outcome", "response")

    def __init__(self, response: int, criterion: int, outcome: str, key: str, explanation: str, note: str) -> None:
        self.response, self.criterion = response, criterion
        self.outcome, self.key, self.explanation, self.note = outcome, key, explanation, note

    @property
    def counted(self) -> bool:
        """Whether the pair is compared; the key must be met or not met."""
        return self.key != Outcome.CANNOT_ASSESS

    @property
    def agrees(self) -> bool:
        """Whether decision and key are the same."""
        return self.outcome == self.key


def marked_rows(attempt: QualificationAttempt) -> list[MarkedRow]:
    """Every decided criterion of an attempt beside its key."""
    assignments = Assignment.objects.filter(batch=attempt.batch_id)
    keys = {
        (row.keyed.response_id, row.criterion_id): row
        for row in KeyedDecision.objects.filter(keyed__response__in=assignments.values("response")).select_related(
            "keyed"
        )
    }
    decisions = Decision.objects.filter(assignment__in=assignments, round=1, outcome__isnull=False)
    rows = []
    for response, criterion, outcome, note in decisions.values_list(
        "assignment__response_id", "criterion_id", "outcome", "note"
    ):
        key = keys.get((response, criterion))
        if key is not None:
            rows.append(MarkedRow(response, criterion, outcome or "", key.outcome, key.explanation, note))
    return rows
