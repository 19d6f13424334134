"""What ``annotation`` offers in the top bar and on the home page; `AnnotationConfig.ready` registers it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from consilium.lib import navigation

if TYPE_CHECKING:
    from accounts.models import User
    from rubrics.models import Benchmark


def roles(user: User, benchmark: Benchmark) -> Iterable[str]:
    """``annotator``, ``checker``, ``adjudicator``: the parts that ``user`` has in a group of ``benchmark``."""
    from annotation.models import Membership

    return Membership.objects.filter(user=user.pk, active=True, group__benchmark=benchmark).values_list(
        "role", flat=True
    )


def register() -> None:
    """Fill the registry."""
    navigation.register_roles(roles)
