"""Where a stored run comes from that was made elsewhere and came with a release."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.limits import MAX_RELEASE_NAME_LENGTH


class EndpointKind(models.TextChoices):
    """What answered the requests of a run."""

    MODEL = "model", _("Language model")
    RULES = "rules", _("Rules, no language model")


# Whoever asked rules cannot say later that a model answered.
RULES_STAY = pgtrigger.Protect(
    name="rules_stay",
    operation=pgtrigger.Update,
    condition=pgtrigger.Q(old__endpoint_kind="rules", new__endpoint_kind="model"),
)


class ReleasedRun(models.Model):
    """A run that a release may hold. One that came with a release keeps the id that it had, and says which release.

    Both are empty for a run that was made here. Such a run has ended; its answers serve no other run.
    """

    origin = models.CharField(max_length=16, blank=True, default="", db_default="", editable=False)
    # Short name and version of the release.
    imported_from = models.CharField(
        max_length=MAX_RELEASE_NAME_LENGTH, blank=True, default="", db_default="", editable=False
    )

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(
                fields=["benchmark", "origin"], condition=~Q(origin=""), name="%(app_label)s_%(class)s_origin_once"
            ),
            models.CheckConstraint(
                condition=Q(origin="", imported_from="") | (~Q(origin="") & ~Q(imported_from="") & Q(imported=True)),
                name="%(app_label)s_%(class)s_origin",
            ),
        ]

    public_id: models.CharField[str, str]

    @property
    def lasting_id(self) -> str:
        """The id by which files and reports know it, the same wherever a release takes it."""
        return str(self.origin or self.public_id)
