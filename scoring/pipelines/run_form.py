"""What the forms of runs have in common that ask one endpoint: settings, prices and a budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from scoring.endpoint_forms import EndpointForm
from scoring.pipelines.forms import BudgetForm, PriceForm


class RunForm(EndpointForm):
    """Endpoint, settings, prices and budget; the same fields serve to count and to begin.

    ``not_settings`` names the fields that the settings of a run do not hold.
    """

    not_settings: ClassVar[tuple[str, ...]] = ("budget",)

    max_tokens = forms.IntegerField(label=_("Maximum tokens per answer"), help_text=_("A truncated answer is invalid."))
    seed = forms.IntegerField(
        label=_("Model seed"), required=False, help_text=_("Each trial has its own seed. Leave empty to send no seed.")
    )
    concurrency = forms.IntegerField(label=_("Concurrent requests"))
    attempts = forms.IntegerField(label=_("Attempts per request"), help_text=_("If the endpoint fails."))
    price_in = PriceForm.base_fields["price_in"]
    price_out = PriceForm.base_fields["price_out"]
    currency = PriceForm.base_fields["currency"]
    budget = BudgetForm.base_fields["budget"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("max_tokens", "concurrency", "attempts", "temperature"):
            self.fields[name].initial = self.settings_of.model_fields[name].default

    def clean(self) -> dict[str, Any]:
        """Refuse a budget without prices."""
        values = self.cleaned_data
        if values.get("budget") is not None and not (values.get("price_in") or values.get("price_out")):
            self.add_error("budget", _("To set a budget, enter the prices of the model."))
        return values

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them; an empty price counts as 0."""
        values = {name: value for name, value in self.cleaned_data.items() if name not in self.not_settings}
        return values | {name: values.get(name) or 0.0 for name in ("price_in", "price_out")}

    @property
    def chosen_budget(self) -> Decimal | None:
        """The budget, where there is one."""
        budget: Decimal | None = self.cleaned_data.get("budget")
        return budget
