"""Who needs a second step to sign in (an authenticator app, a security key or a passkey), and who has one.

The server demands it by ``REQUIRE_SECOND_FACTOR``. A benchmark demands it from a moment that its admin sets; the app of
benchmarks registers what tells it, because it is a layer above this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.conf import settings
from django.utils import timezone

from accounts.models import User
from consilium.core.compiled_queries import CompiledQuery

# Recovery codes are none: they only help where another step was lost.
STEPS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


@dataclass(frozen=True, slots=True)
class Demand:
    """Who demands a second step of somebody: a benchmark, or the server, which has no slug and began long ago."""

    slug: str = ""
    title: str = ""
    since: datetime | None = None

    def is_in_force(self, at: datetime) -> bool:
        """Whether it applies now; before that there is only a notice on the pages."""
        return self.since is None or self.since <= at


DemandsOf = Callable[[User], Sequence[Demand]]
_registered: list[DemandsOf] = []
_steps = CompiledQuery(
    lambda user: Authenticator.objects.filter(user=user, type__in=STEPS).order_by().values_list("pk")
)


def register(demands_of: DemandsOf) -> None:
    """Add a function that gives the demands on a user of an app above this one, also those that begin later."""
    if demands_of not in _registered:
        _registered.append(demands_of)


def server_demands(user: User) -> bool:
    """Whether the server demands a second step of ``user``."""
    rule = settings.REQUIRE_SECOND_FACTOR
    return rule == "all" or (rule == "operators" and user.is_operator)


def demands_on(user: User) -> list[Demand]:
    """Every demand on ``user``, also those that begin later."""
    own = [Demand()] if server_demands(user) else []
    return own + [demand for demands_of in _registered for demand in demands_of(user)]


def has_factor(user: User) -> bool:
    """Whether ``user`` has an authenticator app, a security key or a passkey."""
    return _steps.exists(user=user.pk)


def is_required(user: User) -> bool:
    """Whether the server or any benchmark of ``user`` demands a second step now."""
    return bool(in_force(user))


def in_force(user: User, *, benchmark: Any = None) -> list[Demand]:
    """The demands that apply now; with ``benchmark`` (or its slug) those of other benchmarks are left out."""
    at = timezone.now()
    slug = getattr(benchmark, "slug", benchmark)
    return [
        demand for demand in demands_on(user) if demand.is_in_force(at) and (slug is None or demand.slug in ("", slug))
    ]


def missing(user: User, benchmark: Any = None) -> bool:
    """Whether ``user`` needs a second step now and has none; ``benchmark`` as for `in_force`."""
    return bool(in_force(user, benchmark=benchmark)) and not has_factor(user)


def may_remove(authenticator: Authenticator) -> bool:
    """Whether its owner has another step, or needs none. Recovery codes may always go."""
    if authenticator.type not in STEPS:
        return True
    others = Authenticator.objects.filter(user=authenticator.user_id, type__in=STEPS).exclude(pk=authenticator.pk)
    return others.exists() or not is_required(User.objects.get(pk=authenticator.user_id))
