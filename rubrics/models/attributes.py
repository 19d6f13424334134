"""What is known of a candidate beside its name: family, release date, size, effort, prices."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from consilium.core.audit import audited
from consilium.core.limits import MAX_KEY_LENGTH, MAX_SETTING_LENGTH
from rubrics.models.responses import Candidate

# Decimal places of sizes in billions of parameters and of prices of a million tokens.
SIZE_PLACES, PRICE_PLACES = 3, 6
MAX_DIGITS = 12
MAX_CURRENCY_LENGTH = 3


@audited
class CandidateAttributes(models.Model):
    """The attributes of one candidate; each may be unknown (empty).

    Candidates with the same ``base_model`` are one model with other settings, which ``effort`` names. Sizes are in
    billions of parameters, prices of a million tokens. No blinded page shows any of them: they name the candidate.
    """

    candidate = models.OneToOneField(
        Candidate, on_delete=models.PROTECT, primary_key=True, related_name="attributes", verbose_name=_("candidate")
    )
    family = models.CharField(_("family"), max_length=MAX_KEY_LENGTH, blank=True)
    developer = models.CharField(_("developer"), max_length=MAX_KEY_LENGTH, blank=True)
    base_model = models.CharField(_("base model"), max_length=MAX_KEY_LENGTH, blank=True)
    effort = models.CharField(_("effort"), max_length=MAX_SETTING_LENGTH, blank=True)
    release_date = models.DateField(_("release date"), null=True, blank=True)
    size_total = models.DecimalField(
        _("total size"), max_digits=MAX_DIGITS, decimal_places=SIZE_PLACES, null=True, blank=True
    )
    size_active = models.DecimalField(
        _("active size"), max_digits=MAX_DIGITS, decimal_places=SIZE_PLACES, null=True, blank=True
    )
    open_weights = models.BooleanField(_("open weights"), null=True, blank=True)
    price_in = models.DecimalField(
        _("input price"), max_digits=MAX_DIGITS, decimal_places=PRICE_PLACES, null=True, blank=True
    )
    price_out = models.DecimalField(
        _("output price"), max_digits=MAX_DIGITS, decimal_places=PRICE_PLACES, null=True, blank=True
    )
    currency = models.CharField(_("currency"), max_length=MAX_CURRENCY_LENGTH, blank=True)
    price_date = models.DateField(_("date of the prices"), null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(size_total__isnull=True) | Q(size_total__gt=0), name="rubrics_size_total_positive"
            ),
            models.CheckConstraint(
                condition=Q(size_active__isnull=True) | Q(size_active__gt=0), name="rubrics_size_active_positive"
            ),
            models.CheckConstraint(
                condition=Q(size_active__isnull=True)
                | Q(size_total__isnull=True)
                | Q(size_active__lte=models.F("size_total")),
                name="rubrics_size_active_within_total",
            ),
            models.CheckConstraint(
                condition=(Q(price_in__isnull=True) | Q(price_in__gte=0))
                & (Q(price_out__isnull=True) | Q(price_out__gte=0)),
                name="rubrics_price_not_negative",
            ),
            # A price says nothing without its currency and its date, and these nothing without a price.
            models.CheckConstraint(
                condition=(
                    (Q(price_in__isnull=False) | Q(price_out__isnull=False))
                    & Q(currency__regex=r"^[A-Z]{3}$", price_date__isnull=False)
                )
                | Q(price_in__isnull=True, price_out__isnull=True, currency="", price_date__isnull=True),
                name="rubrics_price_complete",
            ),
        ]

    def __str__(self) -> str:
        return self.candidate.name
