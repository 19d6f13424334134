"""The sign-ins of the made-up benchmark, for the sign-in page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# `demo` names the roles in English, for the console and for this page.
ROLES = {
    "Admin": gettext_lazy("Admin"),
    "Researcher": gettext_lazy("Researcher"),
    "Annotator": gettext_lazy("Annotator"),
    "Checker": gettext_lazy("Checker"),
    "Adjudicator": gettext_lazy("Adjudicator"),
    "Author": gettext_lazy("Author"),
    "Author who reviews": gettext_lazy("Author who reviews"),
    "Senior auditor": gettext_lazy("Senior auditor"),
}


class SignIn(NamedTuple):
    """An account of the demo benchmark, open to everybody."""

    role: str
    email: str
    password: str


def demo_sign_ins(request: HttpRequest) -> dict[str, Any]:
    """``demo_sign_ins``: a callable that the sign-in page asks for the accounts of the made-up benchmark.

    It gives none unless that benchmark is loaded: a site with real work shows no password on a page.
    """
    return {"demo_sign_ins": _sign_ins}


def _sign_ins() -> Sequence[SignIn]:
    from rubrics.models import Benchmark

    if not Benchmark.objects.filter(slug="demo", is_demo=True).exists():
        return ()
    from demo import SIGN_INS

    return [SignIn(_role_in_words(role), email, password) for role, email, password in SIGN_INS]


def _role_in_words(shown: str) -> str:
    """The role in the language of the page; the name of a group stays as it is."""
    role, comma, group = shown.partition(", ")
    words = str(ROLES[role])
    return _("%(role)s, %(group)s") % {"role": words, "group": group} if comma else words
