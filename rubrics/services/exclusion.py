"""Excludes a case and includes it again. It stays on record with the reason, as do its decisions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import pghistory
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from consilium.core.errors import Conflict, DomainError
from consilium.core.limits import MAX_EXCLUSION_REASON_LENGTH
from rubrics.models import Case


@transaction.atomic
def exclude_case(*, case: Case, kind: str, reason: str, by: User | None, at: datetime) -> None:
    """Leave ``case`` out of all new batches, runs, scores, agreement and releases.

    ``kind`` is one of `Case.Exclusion`. `Conflict` where it is excluded already: the first reason stands.
    """
    reason = checked_reason(reason)
    changes = {"excluded_at": at, "excluded_by": by, "exclusion": kind, "exclusion_reason": reason}
    with pghistory.context(exclusion=kind, reason=reason, person=by.pk if by else None):
        if not Case.objects.included().filter(pk=case.pk).update(**changes):
            raise Conflict(_("The case “%(case)s” is already excluded.") % {"case": case.key})
    _tell(case, changes)


@transaction.atomic
def restore_case(*, case: Case, reason: str, by: User | None, at: datetime) -> None:
    """Let an excluded case count again. The record keeps both reasons, with who gave them and when."""
    reason = checked_reason(reason)
    changes = {"excluded_at": None, "excluded_by": None, "exclusion": "", "exclusion_reason": ""}
    with pghistory.context(exclusion="", reason=reason, person=by.pk if by else None):
        if not Case.objects.filter(pk=case.pk, excluded_at__isnull=False).update(**changes):
            raise Conflict(_("The case “%(case)s” is not excluded.") % {"case": case.key})
    _tell(case, changes)


def checked_reason(reason: str) -> str:
    """``reason`` without blanks around it; `DomainError` where it is empty or too long."""
    reason = reason.strip()
    if not reason:
        raise DomainError(_("Give the reason: it stays on record with the case."))
    if len(reason) > MAX_EXCLUSION_REASON_LENGTH:
        raise DomainError(_("At most %(n)s characters.") % {"n": f"{MAX_EXCLUSION_REASON_LENGTH:,}"})
    return reason


def _tell(case: Case, changes: Mapping[str, object]) -> None:
    for name, value in changes.items():
        setattr(case, name, value)
