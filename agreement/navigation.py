"""Navigation entries of ``agreement``; `AgreementConfig.ready` registers them."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from consilium.core import navigation

STAFF = ("admin", "researcher")


def register() -> None:
    """Fill the registry."""
    navigation.register(label=_("Composition"), view="agreement:composition", section="results", roles=STAFF, order=65)
    navigation.register(label=_("Agreement"), view="agreement:reports", section="results", roles=STAFF, order=70)
    navigation.register(label=_("Scores"), view="agreement:scores", section="results", roles=STAFF, order=80)
    navigation.register(label=_("Acuity"), view="agreement:acuity", section="results", roles=STAFF, order=82)
    navigation.register(label=_("Rubric validity"), view="agreement:validity", section="results", roles=STAFF, order=84)
    navigation.register(label=_("Calibration"), view="agreement:calibration", section="results", roles=STAFF, order=85)
    navigation.register(label=_("Planning"), view="agreement:planning", section="results", roles=STAFF, order=86)
