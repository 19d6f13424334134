"""Navigation entries of ``scoring``; `ScoringConfig.ready` registers them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

STAFF = ("admin", "researcher")


def register() -> None:
    """Fill the registry."""
    navigation.register(label=_("Acuity data"), view="scoring:acuity", section="content", roles=STAFF, order=26)
    navigation.register(label=_("Screening"), view="scoring:screenings", section="content", roles=STAFF, order=27)
    navigation.register(label=_("Judges"), view="scoring:judges", section="results", roles=STAFF, order=60)
