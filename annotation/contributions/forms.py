"""Forms of the contributions page: a period, and rates."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.contributions.counted_work import ITEMS, ROLES, Period
from annotation.contributions.payment import Rates


def _day(label: Any) -> forms.DateField:
    return forms.DateField(
        label=label, required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )


def _money(label: Any, help_text: Any = "") -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=Decimal(0),
        max_digits=10,
        decimal_places=4,
        help_text=help_text,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )


class PeriodForm(forms.Form):
    """Two days in UTC; both are within the period."""

    since = _day(_("From"))
    until = _day(_("Until"))

    def clean(self) -> dict[str, Any]:
        """Refuses a first day after the last."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and since > until:
            self.add_error("until", _("This date is before the first day."))
        return self.cleaned_data

    def period(self) -> Period:
        """The period, once the form is valid."""
        return Period(self.cleaned_data["since"], self.cleaned_data["until"])


class RatesForm(PeriodForm):
    """Rates, for the period of the page."""

    currency = forms.CharField(label=_("Currency"), max_length=12, required=False, help_text=_("For example, EUR."))
    hour = _money(_("Per hour"), _("In any role, at the usual pace."))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("since", "until"):
            self.fields[name].widget = forms.HiddenInput()
        for role, label in ROLES.items():
            self.fields[f"item_{role}"] = _money(label, ITEMS[role])

    @property
    def item_fields(self) -> list[forms.BoundField]:
        """The rates for pieces."""
        return [self[f"item_{role}"] for role in ROLES]

    def rates(self) -> Rates:
        """The rates, once the form is valid."""
        data = self.cleaned_data
        items = {role: data[f"item_{role}"] for role in ROLES if data[f"item_{role}"]}
        return Rates(data["currency"].strip(), data["hour"] or Decimal(0), items)
