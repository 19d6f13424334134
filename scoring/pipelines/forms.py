"""Prices and budget of a run, on forms."""

from __future__ import annotations

from decimal import Decimal

from django import forms
from django.utils.translation import gettext_lazy as _

MIN_BUDGET = Decimal("0.0001")


class PriceForm(forms.Form):
    """Prices of a model, by which the cost of a run is known."""

    price_in = forms.FloatField(
        label=_("Price per million input tokens"),
        required=False,
        min_value=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    price_out = forms.FloatField(
        label=_("Price per million output tokens"),
        required=False,
        min_value=0,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    currency = forms.CharField(label=_("Currency"), max_length=3, initial="USD")


class BudgetForm(forms.Form):
    """The budget of a run. Where a run is resumed, an empty one leaves it as it is."""

    budget = forms.DecimalField(
        label=_("Budget"),
        required=False,
        min_value=MIN_BUDGET,
        max_digits=12,
        decimal_places=4,
        help_text=_(
            "No request is sent that could exceed the budget. Prices must be entered. Leave empty for no limit."
        ),
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
