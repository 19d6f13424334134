"""The conversation of a case for display: each turn with the name of its speaker."""

from __future__ import annotations

from django.utils.translation import gettext as _

from rubrics.models import Case


def turns_of(case: Case) -> list[dict[str, str]]:
    """``role``, ``content`` and ``speaker`` of each turn; the register of the case names its user."""
    return [{"speaker": _speaker(case, turn.get("role", "")), **turn} for turn in case.conversation]


def _speaker(case: Case, role: str) -> str:
    if role == "user":
        return {"lay": _("Patient"), "professional": _("Professional")}.get(case.register, _("User"))
    return {"assistant": _("Assistant"), "system": _("System")}.get(role, role)
