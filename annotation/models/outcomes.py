"""What is said of a (response, criterion) pair."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Outcome(models.TextChoices):
    """What a physician says of a (response, criterion) pair."""

    MET = "met", _("Met")
    NOT_MET = "not_met", _("Not met")
    CANNOT_ASSESS = "cannot_assess", _("Cannot assess")


class RulingOutcome(models.TextChoices):
    """What an adjudicator says of a conflict."""

    MET = "met", _("Met")
    NOT_MET = "not_met", _("Not met")
    CANNOT_ASSESS = "cannot_assess", _("Cannot assess")
    FAULTY = "faulty", _("The criterion is faulty")
