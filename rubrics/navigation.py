"""What ``rubrics`` offers in the top bar and on the home page; `RubricsConfig.ready` registers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from consilium.lib import navigation

if TYPE_CHECKING:
    from accounts.models import User
    from rubrics.models import Benchmark


def roles(user: User, benchmark: Benchmark) -> Iterable[str]:
    """``admin`` or ``researcher``, where ``user`` runs ``benchmark``."""
    from rubrics.models import BenchmarkRole

    return BenchmarkRole.objects.filter(user=user.pk, benchmark=benchmark).values_list("role", flat=True)


def register() -> None:
    """Fill the registry."""
    navigation.register_roles(roles)
