"""What auditors' findings lead to: criteria to reword, and an admin's answers to proposals to remove a case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.models import AuditItem, Case, CaseAudit, Criterion, RevisionRequest, Rubric, RubricItem
from rubrics.services.exclusion import checked_reason, exclude_case
from rubrics.services.revisions import request_revision


@dataclass(frozen=True, slots=True)
class Consequence:
    """What followed from a finding, in words for its auditor, and the reason that was given, where there is one."""

    words: str
    reason: str = ""


def consequences_of(rows: Sequence[AuditItem]) -> list[tuple[AuditItem, list[Consequence]]]:
    """Submitted findings with what became of them: of the case, and of each criterion that was marked.

    A reason for which a case is excluded may tell of candidates, which auditors do not see; it is left out.
    """
    rubrics = {row.rubric_id for row in rows if row.outcome != AuditItem.Outcome.SOUND}
    requests = RevisionRequest.objects.filter(rubric__in=rubrics, response=None).select_related("taken_up_in")
    by_rubric: dict[int, list[RevisionRequest]] = {}
    for request in requests.order_by("created_at", "pk"):
        by_rubric.setdefault(request.rubric_id, []).append(request)
    places = RubricItem.objects.filter(rubric__in=rubrics).values_list("rubric", "criterion", "position")
    number: dict[tuple[int, int | None], int] = {(rubric, criterion): place for rubric, criterion, place in places}
    return [(row, list(_consequences(row, by_rubric.get(row.rubric_id, []), number))) for row in rows]


def _consequences(
    row: AuditItem, requests: Sequence[RevisionRequest], number: Mapping[tuple[int, int | None], int]
) -> Iterator[Consequence]:
    if row.outcome == AuditItem.Outcome.SOUND:
        return
    if row.case.excluded_at is not None:
        yield Consequence(_("The case was excluded."))
        return
    if row.kept_at is not None:
        yield Consequence(_("The case was kept."), row.kept_reason)
    elif row.outcome == AuditItem.Outcome.REMOVE:
        yield Consequence(_("Your study coordinator has not decided yet."))
    for request in requests:
        # The request of a later finding has the reasons of the earlier ones as well.
        is_own = request.criterion_id in row.criteria if row.criteria else request.criterion_id is None
        if is_own and row.comment in request.reason:
            words, place = _state_in_words(request), number.get((row.rubric_id, request.criterion_id))
            if place is not None:
                words = _("Criterion %(number)s: %(words)s") % {"number": place, "words": words}
            yield Consequence(words, request.answer)


def _state_in_words(request: RevisionRequest) -> str:
    version = request.taken_up_in
    match request.status:
        case RevisionRequest.Status.DISMISSED:
            return _("left unchanged")
        case RevisionRequest.Status.DONE if version is not None:
            return _("reworded or removed in version %(n)s of the rubric") % {"n": version.version}
        case RevisionRequest.Status.DONE:
            return _("reworded or removed")
    if version is not None and version.status in (Rubric.Status.DRAFT, Rubric.Status.IN_REVIEW):
        return _("a new version of the rubric is being written")
    return _("waiting for the authors")


def ask_for_revision(row: AuditItem, criterion: Criterion | None, *, kept: str = "", at: datetime) -> None:
    """Ask for one revision of each criterion: a second auditor's reason is added below the first one's.

    ``kept`` is why an admin keeps the case although the auditor would remove it.
    """
    reason = _("Senior audit: %(comment)s") % {"comment": row.comment}
    if kept:
        reason = f"{reason}\n\n{_('The case is kept: %(reason)s') % {'reason': kept}}"
    open_requests = RevisionRequest.objects.filter(
        rubric=row.rubric_id, criterion=criterion, response=None, status="open"
    )
    if earlier := open_requests.first():
        reason = f"{earlier.reason}\n\n{reason}"
    request_revision(rubric=row.rubric, criterion=criterion, response=None, reason=reason, by=row.auditor, at=at)


def _proposals(audit: CaseAudit, case: Case) -> list[AuditItem]:
    rows = audit.items.filter(case=case, outcome=AuditItem.Outcome.REMOVE, done_at__isnull=False)
    proposals = list(rows.select_related("rubric", "auditor").order_by("number"))
    if not proposals:
        raise DomainError(_("No auditor has proposed to remove this case."))
    return proposals


@transaction.atomic
def confirm_removal(*, audit: CaseAudit, case: Case, reason: str, by: User, at: datetime) -> None:
    """Exclude a case that an auditor proposed to remove, also where an admin has kept it before."""
    _proposals(audit, case)
    exclude_case(case=case, kind=Case.Exclusion.AUDIT, reason=reason, by=by, at=at)


@transaction.atomic
def keep_case(*, audit: CaseAudit, case: Case, reason: str, by: User, at: datetime) -> None:
    """Decline to remove a case that an auditor proposed to remove. The auditor's finding stays in the figures.

    The criteria that the auditor marked are requested to be reworded, as after the outcome *revise*. A finding without
    marked criteria is about the case, and ``reason`` answers it. `Conflict` where the case is excluded already.
    """
    reason = checked_reason(reason)
    # An admin who excludes or keeps the case at this moment is waited for.
    if Case.objects.select_for_update(no_key=True).get(pk=case.pk).excluded_at is not None:
        raise Conflict(_("The case “%(case)s” is already excluded.") % {"case": case.key})
    for row in _proposals(audit, case):
        if row.kept_at is None:
            for criterion in _still_used(row):
                ask_for_revision(row, criterion, kept=reason, at=at)
        row.kept_reason, row.kept_by, row.kept_at = reason, by, at
        row.save(update_fields=["kept_reason", "kept_by", "kept_at"])


def _still_used(row: AuditItem) -> list[Criterion]:
    """The marked criteria that a later version of the rubric has not dropped meanwhile."""
    in_use = Criterion.objects.filter(items__rubric__case=row.case_id, items__rubric__status="published")
    return list(in_use.filter(pk__in=row.criteria).order_by("pk").distinct())
