"""Navigation entries of ``drafting``; `DraftingConfig.ready` registers them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

STAFF = ("admin", "researcher")


def register() -> None:
    """Fill the registry."""
    navigation.register(label=_("Drafting"), view="drafting:drafting", section="content", roles=STAFF, order=29)
    navigation.register(label=_("Recipes"), view="drafting:recipes", section="content", roles=STAFF, order=29)
