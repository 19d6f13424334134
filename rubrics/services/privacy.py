"""Waives a privacy finding, with a reason."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import DomainError
from consilium.core.limits import MAX_REASON_LENGTH
from rubrics.editor.draft_content import DraftItem, items_of
from rubrics.editor.privacy import all_findings
from rubrics.models import Case, PrivacyWaiver, Rubric

OPEN = (Rubric.Status.DRAFT, Rubric.Status.IN_REVIEW)


@transaction.atomic
def waive_finding(*, case: Case, kind: str, quote: str, reason: str, by: User, at: datetime) -> PrivacyWaiver:
    """Waive a finding wherever exactly these words occur in the case. A reason given before is kept."""
    reason = reason.strip()
    if not reason:
        raise DomainError(_("Explain why it can stay, for example: a public hotline, or a fictional name."))
    if len(reason) > MAX_REASON_LENGTH:
        raise DomainError(_("This is longer than %(n)d characters.") % {"n": MAX_REASON_LENGTH})
    if not any((finding.kind, finding.quote) == (kind, quote) for finding in all_findings(case, draft_items(case))):
        raise DomainError(_("These words are no longer in the case."))
    row, _created = PrivacyWaiver.objects.get_or_create(
        case=case, kind=kind, quote=quote, defaults={"reason": reason, "waived_by": by, "waived_at": at}
    )
    return row


@transaction.atomic
def take_back_waiver(*, waiver: PrivacyWaiver) -> None:
    """Remove a waiver, so that its finding is open again."""
    waiver.delete()


def draft_items(case: Case) -> list[DraftItem]:
    """The criteria of the version of the case's rubric that is being written or reviewed; none without one."""
    for rubric in case.rubrics.all():
        if rubric.track == "gold" and rubric.status in OPEN and hasattr(rubric, "draft"):
            return items_of(rubric.draft.content)
    return []
