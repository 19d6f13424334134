"""The navigation entry of ``validation``; `ValidationConfig.ready` registers it."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

STAFF = ("admin", "researcher")


def register() -> None:
    """Fill the registry."""
    navigation.register(label=_("Rubric sets"), view="validation:rubric-sets", section="results", roles=STAFF, order=65)
