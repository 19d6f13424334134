"""The form of runs that classify; `scoring.classification.config` alone validates settings."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from rubrics.models import Benchmark
from scoring.acuity.selectors import scale_called, scale_names
from scoring.classification.config import ClassificationConfig, classification_config, levels_of
from scoring.classification.runs import MAX_SAMPLES, SAMPLES
from scoring.generation.forms import NOT_SETTINGS, CandidateForm
from scoring.generation.forms import initial_of as initial_of_decoding
from scoring.pipelines.forms import BudgetForm, PriceForm

ASKS = {
    "letter": _("One letter"),
    "schema": _("JSON object by schema"),
    "reasons": _("Reasons first, level on the last line"),
}


def _default(name: str) -> Any:
    return ClassificationConfig.model_fields[name].default


class ClassificationForm(CandidateForm[ClassificationConfig]):
    """Candidate, cases, scale, way of asking, endpoint and settings; the same fields serve to count and to begin."""

    settings_of = ClassificationConfig
    not_settings = (*NOT_SETTINGS, "scale", "budget")

    scale = forms.ChoiceField(
        label=_("Scale"), help_text=_("Each level is listed with its letter, label and definition.")
    )
    ask = forms.ChoiceField(label=_("Form of the answer"), choices=list(ASKS.items()), initial="letter")
    confidence = forms.BooleanField(
        label=_("Also ask for certainty"), required=False, help_text=_("A whole number from 0 to 100")
    )
    logprobs = forms.BooleanField(
        label=_("Ask for log probabilities"),
        required=False,
        help_text=_("Only for one-letter answers. If an endpoint refuses them, the request is repeated without them."),
    )
    order_seed = forms.IntegerField(
        label=_("Seed for the order"),
        min_value=0,
        max_value=2**31 - 1,
        initial=_default("order_seed"),
        help_text=_(
            "For each case and sample, it is decided at random whether the most urgent level is listed first or last."
        ),
    )
    price_in = PriceForm.base_fields["price_in"]
    price_out = PriceForm.base_fields["price_out"]
    currency = PriceForm.base_fields["currency"]
    budget = BudgetForm.base_fields["budget"]

    def __init__(self, *args: Any, benchmark: Benchmark, **kwargs: Any) -> None:
        super().__init__(*args, benchmark=benchmark, **kwargs)
        scale = self.fields["scale"]
        assert isinstance(scale, forms.ChoiceField)
        scale.choices = [(name, name) for name in scale_names(benchmark)]
        scale.initial = "four"
        self.fields["candidate"].help_text = _(
            "The name that its readings are stored under. An existing name receives additional readings."
        )
        samples = self.fields["samples"]
        samples.initial, samples.widget.attrs["max"] = SAMPLES, MAX_SAMPLES
        for name in ("max_tokens", "temperature"):
            self.fields[name].initial = _default(name)
        self.fields["max_tokens"].help_text = _("An answer that is cut off before its level is invalid.")

    def config(self) -> dict[str, Any]:
        """The settings for the service, which checks them; an empty price counts as 0."""
        values = super().config()
        return values | {name: values.get(name) or 0.0 for name in ("price_in", "price_out")}

    def checked_settings(self) -> ClassificationConfig:
        """The settings with the levels of the scale; `InvalidConfig` names each field that is wrong."""
        values = self.config()
        if self.cleaned_data.get("logprobs") and self.cleaned_data.get("ask") != "letter":
            self.add_error("logprobs", _("Log probabilities require an answer of one letter."))
            values["logprobs"] = False
        if self.cleaned_data.get("budget") is not None and not (values["price_in"] or values["price_out"]):
            self.add_error("budget", _("To set a budget, enter the prices of the model."))
        name = self.cleaned_data.get("scale", "")
        scale = scale_called(self.benchmark, name)
        return classification_config({**values, "scale": name, "levels": levels_of(scale) if scale else []})

    @property
    def rarely_changed(self) -> list[forms.BoundField]:
        """Fields that few people touch."""
        return [self[name] for name in ("top_p", "seed", "stop", "extra", "order_seed")]


def initial_of(values: dict[str, Any]) -> dict[str, Any]:
    """A run's settings as the form shows them."""
    return {**initial_of_decoding(values), "scale": str(values.get("scale", "")).split(" ")[0]}
