"""Words of the scopes of API tokens, and the benchmarks that a token can be limited to.

`config.api_scopes` says which scope each endpoint needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken, User
from consilium.core import navigation

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise
    from rest_framework.request import Request

Scope = ApiToken.Scope
# How the form explains each scope.
ABOUT: dict[str, _StrPromise] = {
    Scope.READ: _("See what you can see: cases, work, runs, reports, and files to download."),
    Scope.GRADE: _("Save decisions, checks, rulings and labels, and write responses, cases and rubrics."),
    Scope.RUN: _("Import files, and start judges, runs, reports and releases."),
    Scope.ADMIN: _("Create benchmarks, and change people, groups, batches and settings."),
}


def benchmarks_of(user: User) -> list[tuple[str, str]]:
    """(slug, title) of the benchmarks in which ``user`` has a part."""
    return [(card.key, str(card.title)) for card in navigation.home_cards(user)]


def bound_benchmark(request: Request) -> str:
    """The slug of the only benchmark that the token of the request opens; empty for sessions and other tokens."""
    return request.auth.benchmark if isinstance(request.auth, ApiToken) else ""
