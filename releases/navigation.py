"""Navigation entries of ``releases``; `ReleasesConfig.ready` registers them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

STAFF = ("admin", "researcher")


def register() -> None:
    """Fill the registry."""
    navigation.register(label=_("Releases"), view="releases:releases", section="results", roles=STAFF, order=89)
