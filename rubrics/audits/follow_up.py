"""What auditors' findings lead to: criteria to reword, and an admin's answers to proposals to remove a case."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from rubrics.models import AuditItem, Case, CaseAudit, Criterion, RevisionRequest
from rubrics.services.exclusion import checked_reason, exclude_case
from rubrics.services.revisions import request_revision


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
